import type { Field, FieldType } from '../model/rest.ts'

type More = Partial<Omit<Field, 'type' | 'about'>>

/** Short forms of fields: `text('The restarts', { api: 'max_restart' })`. */
const of =
  (type: FieldType) =>
  (about: string, more: More = {}): Field => ({ type, about, ...more })

export const text = of('text')
export const prose = of('prose')
export const number = of('number')
export const flag = of('flag')
export const list = of('list')
export const repeated = of('repeated')
export const properties = of('properties')
export const blocks = of('blocks')
export const seconds = of('seconds')
export const numbered = of('numbered')
export const lines = of('lines')
export const hostsFile = of('hosts')
export const pem = of('pem')
export const rules = of('rules')
export const entries = of('entries')
export const secret = of('secret')

export function choice(about: string, choices: readonly string[], more: More = {}): Field {
  return { type: 'text', about, choices, ...more }
}

export const comment = (more: More = {}) => prose('For people.', { absent: '', ...more })

/** An API name from a field's own: `maxRestart` → `max_restart` or `max-restart`. */
export function named(mark: '-' | '_', fields: Readonly<Record<string, Field>>): Record<string, Field> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const api = field.api ?? name.replaceAll(/[A-Z]/g, (letter) => `${mark}${letter.toLowerCase()}`)
      const parts = field.parts === undefined ? {} : { parts: named('-', field.parts) }
      return [name, { ...field, ...(api === name ? {} : { api }), ...parts }]
    }),
  )
}

/** Fields that only things of these types have. */
export function ofType(types: readonly string[], fields: Readonly<Record<string, Field>>): Record<string, Field> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, types }]))
}

/** The usual three calls: POST to the list, PUT and DELETE on the item. */
export function usual(path: string, id: string, more: { readonly digest?: true; readonly whole?: true } = {}) {
  return {
    create: { method: 'POST', path, id },
    update: { method: 'PUT', path: `${path}/{id}`, ...more },
    remove: { method: 'DELETE', path: `${path}/{id}` },
  } as const
}
