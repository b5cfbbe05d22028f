import { defined } from '../../../src/lib/defined.ts'
import type { WrittenShape } from '../facts/form.ts'

/** What a value must look like, ready for use: the tables' short form with its references followed. */
export interface Shape {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array'
  readonly format?: string
  readonly keys?: Keys
  readonly choices?: readonly string[]
  readonly pattern?: RegExp
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: Shape
  readonly requires?: string
  readonly when?: {
    readonly by: string
    readonly cases: readonly { readonly values: readonly string[]; readonly shape?: Shape }[]
    /** Stands in a branch for each value: unknown without one, and errors name the branch. */
    readonly branch: boolean
  }
}

export interface Field {
  readonly name: string
  readonly optional: boolean
  readonly shape: Shape
}

export interface Fields {
  readonly fields: ReadonlyMap<string, Field>
  /** Those of them that must be given, so that a check need not look at hundreds that may be missing. */
  readonly required: readonly Field[]
}

/** The keys of a property string (`virtio,bridge=vmbr0`). */
export interface Keys extends Fields {
  /** Other names for a key; `model` is set to the name itself where it says so (`virtio=BC:…` gives model and MAC). */
  readonly aliases: ReadonlyMap<string, { readonly of: string; readonly sets?: string }>
  /** The key that a value without a key belongs to. */
  readonly unnamed?: string
}

/** A shape written in place, as formats that the schema only names are kept in the code. */
export type InlineShape = Omit<WrittenShape, 'keys' | 'of' | 'when'>
export type InlineKeys = Readonly<Record<string, InlineShape | string>>

/** Follows references into a table of shapes. Each shape is unpacked once. */
export function shapeReader(written: readonly WrittenShape[]): (number: number) => Shape {
  const known = new Map<number, Shape>()
  const read = (number: number): Shape => {
    const found = known.get(number)
    if (found) return found
    const shape = unpackShape(written[number] ?? {}, read)
    known.set(number, shape)
    return shape
  }
  return read
}

export function inlineKeys(written: InlineKeys): Keys {
  return unpackKeys(written, (shape) => unpackShape(shape, () => ({ type: 'string' })))
}

export function requiredOf(fields: ReadonlyMap<string, Field>): Field[] {
  return [...fields.values()].filter((field) => !field.optional)
}

function unpackShape(written: WrittenShape, read: (number: number) => Shape): Shape {
  const { when } = written
  return {
    type: written.is ?? 'string',
    ...defined({ format: written.as }),
    ...(written.keys ? { keys: unpackKeys(written.keys, read) } : {}),
    ...(written.in ? { choices: written.in } : {}),
    ...(written.like === undefined ? {} : { pattern: perlPattern(written.like) }),
    ...defined({ minimum: written.from, maximum: written.to, minLength: written.short, maxLength: written.long }),
    ...(written.of === undefined ? {} : { items: read(written.of) }),
    ...defined({ requires: written.needs }),
    ...(when
      ? {
          when: {
            by: when.by,
            branch: when.branch === 1,
            cases: when.cases.map(([values, shape]) => ({
              values,
              ...(shape === undefined ? {} : { shape: read(shape) }),
            })),
          },
        }
      : {}),
  }
}

function unpackKeys<T>(written: Readonly<Record<string, T | string>>, read: (shape: T) => Shape): Keys {
  const fields = new Map<string, Field>()
  const aliases = new Map<string, { of: string; sets?: string }>()
  let unnamed: string | undefined
  for (const [text, value] of Object.entries(written)) {
    if (typeof value === 'string') {
      const [of = value, sets] = value.split('<')
      aliases.set(text, sets === undefined ? { of } : { of, sets })
      continue
    }
    const name = text.replace(/[?=]+$/, '')
    if (text.endsWith('=')) unnamed = name
    fields.set(name, { name, optional: text.slice(name.length).includes('?'), shape: read(value) })
  }
  return { fields, required: requiredOf(fields), aliases, ...defined({ unnamed }) }
}

/**
 * The daemon matches `^pattern$` without brackets around it, so an alternative is only held at one end
 * (`/dev/parport0|/dev/usb/lp0` lets `/dev/parport0xyz` pass), and its `$` lets one newline follow.
 */
function perlPattern(pattern: string): RegExp {
  return new RegExp(`^${pattern}(?=\\n?$)`)
}
