import { UsageError } from '../exit.ts'
import { cleanLines } from './clean.ts'

/**
 * The part of kubectl's JSONPath templates that people use: text around `{.a.b}`, `{.items[0]}`, `{.items[*].name}` and
 * keys in quotes. Several values come with a space between them, as there.
 */
export function jsonPath(template: string, data: unknown): string {
  const shown = template.replaceAll(/\{([^}]*)\}/g, (_, path: string) =>
    path === '"\\n"' || path === "'\\n'" ? '\n' : valuesAt(path.trim(), data).map(text).join(' '),
  )
  return cleanLines(template.includes('{') ? shown : valuesAt(template, data).map(text).join(' '))
}

function valuesAt(path: string, data: unknown): readonly unknown[] {
  const parts = path.replace(/^\$/, '').match(PART) ?? []
  if (parts.join('') !== path.replace(/^\$/, '') || parts.length === 0)
    throw new UsageError(`${path} is no JSONPath that croft knows. Write it like {.items[*].metadata.name}.`)
  return parts.reduce<readonly unknown[]>(
    (values, part) => values.flatMap((value) => within(value, part)).filter((value) => value !== undefined),
    [JSON.parse(JSON.stringify(data))],
  )
}

const PART = /\.[\w-]+|\[\*\]|\[\d{1,9}\]|\['[^']*'\]|^\.$/g

function within(value: unknown, part: string): readonly unknown[] {
  if (part === '.') return [value]
  if (part === '[*]') return Array.isArray(value) ? value : Object.values(Object(value) as object)
  const key = part.startsWith('.') ? part.slice(1) : part.slice(1, -1).replaceAll("'", '')
  const holder = Object(value) as Record<string, unknown>
  return Object.hasOwn(holder, key) ? [holder[key]] : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
