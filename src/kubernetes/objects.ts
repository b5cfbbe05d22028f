import { cleanText } from '../lib/clean-text.ts'
import { isRecord } from '../lib/is-record.ts'
import { LIMITS } from '../lib/limits.ts'

export { isRecord }

/** An untrusted answer of an API: all fields may be missing or of another type. */
export type Foreign = Readonly<Record<string, unknown>>

export function recordOf(value: unknown): Foreign {
  return isRecord(value) ? value : {}
}

export function recordsOf(value: unknown): readonly Foreign[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** Returns the value at a path of keys, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here: unknown = value
  for (const key of path) {
    if (!isRecord(here) || !Object.hasOwn(here, key)) return undefined
    here = here[key]
  }
  return here
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? cleanText(value) : undefined
}

/** Returns a name, uncut; undefined if it is too long, because a cut name is another one. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= LIMITS.foreignNameLength
    ? cleanText(value)
    : undefined
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.flatMap((item) => textOf(item) ?? []) : []
}

/** Names with their texts, as in labels and annotations. Values are as they came: they are read, not shown. */
export function stringMapOf(value: unknown): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  if (!isRecord(value)) return map
  for (const [key, text] of Object.entries(value)) if (typeof text === 'string') map.set(key, text)
  return map
}

/** A time like `2026-11-15T01:33:45Z` in milliseconds. */
export function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(ms) ? ms : undefined
}

export function objectName(object: Foreign): string | undefined {
  return nameOf(at(object, 'metadata', 'name'))
}

export function annotationsOf(object: Foreign): ReadonlyMap<string, string> {
  return stringMapOf(at(object, 'metadata', 'annotations'))
}

export function labelsOf(object: Foreign): ReadonlyMap<string, string> {
  return stringMapOf(at(object, 'metadata', 'labels'))
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
