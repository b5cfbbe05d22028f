import { cleanLines, type Style, styleFor } from './render/text.ts'
import type { Runtime, Terminal } from './runtime.ts'
import { UsageError } from './verb.ts'

export function styleOf(runtime: Runtime, terminal: Terminal): Style {
  return styleFor(runtime.env, terminal.isTty)
}

export function writeJson(terminal: Terminal, value: unknown): void {
  // JSON escapes C0 itself; C1 and DEL pass through it and some terminals obey them.
  const text = JSON.stringify(value, undefined, 2).replace(/[\u007f-\u009f\u2028\u2029]/g, unicodeEscape)
  terminal.write(`${text}\n`)
}

export async function writeYaml(terminal: Terminal, value: unknown): Promise<void> {
  const { stringify } = (await import('../lib/yaml-library.ts')).yamlLibrary()
  // Prints through JSON first, which masks secrets as `***` and drops undefined fields. Quotes texts that YAML 1.1
  // readers such as kubectl would misread: a field called `on`.
  terminal.write(
    cleanLines(stringify(JSON.parse(JSON.stringify(value)), { compat: 'yaml-1.1' }), Number.POSITIVE_INFINITY),
  )
}

/** Prints data for programs where `-o` asks for it: json, yaml or jsonpath=TEMPLATE. False: it is for people. */
export async function writeData(runtime: Runtime, output: unknown, data: unknown): Promise<boolean> {
  const template = /^jsonpath=(.*)$/s.exec(String(output))?.[1]
  if (template !== undefined) runtime.out.write(`${jsonPath(template, data)}\n`)
  else if (output === 'json') writeJson(runtime.out, data)
  else if (output === 'yaml') await writeYaml(runtime.out, data)
  else return false
  return true
}

/** Prints a note for people to stderr, which scripts do not read. */
export function note(runtime: Runtime, text: string): void {
  runtime.err.write(`${text}\n`)
}

export function wholeNumber(name: string, low: number, high: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= low && value <= high)) {
      throw new UsageError(`${name} ${text} is not a whole number from ${low} to ${high}. Correct it.`)
    }
    return value
  }
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

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
    throw new UsageError(`${path} is not a JSONPath that croft knows. Write it like {.items[*].metadata.name}.`)
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
