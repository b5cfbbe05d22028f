import { isDeepStrictEqual } from 'node:util'
import type { Field, SettingValue } from '../../../model/rest.ts'
import { valueText } from '../../../proxmox/value-text.ts'
import { parseHosts } from './hosts-file.ts'

type Plain = SettingValue | undefined

/** The API's name of a field. */
export function apiName(name: string, field: Field): string {
  return field.api ?? name
}

/**
 * Normalises a declared or answered value, so that both can be compared: unordered lists are sorted, numeric texts are
 * numbers, 0 and 1 are booleans, property strings are objects. Undefined: not set.
 */
export function plain(field: Field, value: unknown): Plain {
  if (value === undefined || value === null) return undefined
  switch (field.type) {
    case 'flag':
      return value === true || value === 1 || /^(?:1|on|yes|true)$/i.test(valueText(value))
    case 'number':
      return typeof value === 'object' ? undefined : numberOf(value)
    case 'seconds':
      return typeof value === 'number' || /^\d*$/.test(valueText(value))
        ? Number(value)
        : Date.parse(valueText(value)) / 1000
    case 'list':
    case 'repeated':
      return [...textsOf(field, value)].sort()
    case 'numbered':
      return textsOf(field, value)
    case 'properties':
      return propertiesOf(field, value)
    case 'blocks':
      return rowsOf(value)
        .map((row) => propertiesOf(field, row))
        .sort(byText)
    case 'lines':
      return sorted(typeof value === 'string' ? pairsOf(value, '\n') : (value as Record<string, SettingValue>))
    case 'hosts':
      return (typeof value === 'string' ? parseHosts(value) : (value as readonly SettingValue[])).toSorted(byText)
    case 'pem':
      return (
        /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/.exec(valueText(value))?.[0].replaceAll(/\s/g, '') ??
        ''
      )
    case 'rules':
      return rowsOf(value).map((row) => rowOf(field, row))
    case 'entries':
      return rowsOf(value)
        .map((row) => rowOf(field, row))
        .sort(byText)
    case 'prose':
      return scalar(value).replace(/\s+$/, '')
    case 'text':
      return withoutFullPrefix(scalar(value))
    case 'secret':
      return undefined
  }
}

/** Absent equals an empty text, list or block. */
export function isEmpty(value: Plain): boolean {
  if (value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

export function same(one: Plain, other: Plain): boolean {
  return (isEmpty(one) && isEmpty(other)) || isDeepStrictEqual(one, other)
}

/** Returns a field's value in a row of an answer. `bare`: an absent field is empty, without its default. */
export function seenValue(name: string, field: Field, row: Readonly<Record<string, unknown>>, bare = false): Plain {
  const api = apiName(name, field)
  if (field.type === 'numbered') {
    const texts = Array.from({ length: field.max ?? 1 }, (_, at) => row[`${api}${at + 1}`])
    return texts.filter((one) => one !== undefined && one !== null && one !== '').map(scalar)
  }
  const seen = plain(field, row[api])
  return (seen === undefined || seen === '') && !bare ? plain(field, field.absent) : seen
}

/** Returns the declared value with the defaults of its parts. */
export function wantedValue(field: Field, value: SettingValue): Plain {
  return plain(field, value)
}

function numberOf(value: unknown): Plain {
  const number = Number(value)
  return Number.isFinite(number) && valueText(value).trim() !== '' ? number : undefined
}

function scalar(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'string' || typeof value === 'number' ? valueText(value) : ''
}

/** Proxmox shows 10.0.0.5/32 as 10.0.0.5. */
function withoutFullPrefix(text: string): string {
  return text.replace(/^(\d+\.\d+\.\d+\.\d+)\/32$/, '$1').replace(/^([0-9a-f:]*:[0-9a-f:]*)\/128$/i, '$1')
}

function textsOf(field: Field, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(scalar)
  const separators = field.separator === undefined || field.separator === ',' ? /[,;\s]+/ : /[;,\s]+/
  return scalar(value)
    .split(separators)
    .filter((text) => text !== '')
}

function rowsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

/** Parses `a=1,b=2`, or an object with the API's or our names. */
function propertiesOf(field: Field, value: unknown): Record<string, SettingValue> {
  const given = typeof value === 'string' ? pairsOf(value, ',') : (value as Record<string, unknown>)
  return rowOf(field, given)
}

/** Returns the parts of a block by our names, with defaults for absent ones. */
function rowOf(field: Field, row: unknown): Record<string, SettingValue> {
  const given = (typeof row === 'object' && row !== null ? row : {}) as Record<string, unknown>
  const result: Record<string, SettingValue> = {}
  for (const [name, part] of Object.entries(field.parts ?? {})) {
    const value = plain(part, given[name] ?? given[apiName(name, part)]) ?? plain(part, part.absent)
    if (value !== undefined && !isEmpty(value)) result[name] = value
  }
  return sorted(result)
}

function pairsOf(text: string, separator: string): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (const part of text.split(separator)) {
    const equals = part.indexOf('=')
    if (equals > 0) pairs[part.slice(0, equals).trim()] = part.slice(equals + 1).trim()
  }
  return pairs
}

function sorted<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function byText(one: unknown, other: unknown): number {
  const [a, b] = [JSON.stringify(one), JSON.stringify(other)]
  return a < b ? -1 : a > b ? 1 : 0
}
