import type { Field, SettingValue } from '../../../model/rest.ts'
import { valueText } from '../../../proxmox/value-text.ts'
import type { ApiFields } from '../foreign.ts'
import { printHosts } from './hosts-file.ts'
import { apiName, isEmpty, plain } from './values.ts'

/** Separates the values of a repeated parameter; no value can contain it. */
export const AGAIN = '\0'

/** Encodes a declared value as call parameters: several for a numbered field, else one. An empty value unsets it. */
export function sent(name: string, field: Field, value: SettingValue, row: ApiFields = {}): Record<string, string> {
  const api = apiName(name, field)
  switch (field.type) {
    case 'secret':
      // A reference: only the request replaces it by the secret.
      return { [api]: JSON.stringify(value) }
    case 'numbered': {
      const texts = value as readonly string[]
      return Object.fromEntries(texts.map((text, at) => [`${api}${at + 1}`, text]))
    }
    case 'rules':
    case 'entries':
      return {}
    default: {
      const text = textOf(field, value, row[api])
      return { [api]: text }
    }
  }
}

/** Prints properties, blocks and rules as `a=1,b=2` with the API's names, in the definition's order. */
export function printParts(field: Field, value: SettingValue): string {
  return Object.entries(partsOf(field, value))
    .map(([name, text]) => `${name}=${text}`)
    .join(',')
}

/** Returns the parts of a block by the API's names, without unset ones. */
export function partsOf(field: Field, value: SettingValue): Record<string, string> {
  const given = value as Readonly<Record<string, SettingValue | undefined>>
  const result: Record<string, string> = {}
  for (const [name, part] of Object.entries(field.parts ?? {})) {
    const one = given[name]
    if (one !== undefined && !isEmpty(plain(part, one))) result[apiName(name, part)] = textOf(part, one, undefined)
  }
  return result
}

function textOf(field: Field, value: SettingValue, before: unknown): string {
  switch (field.type) {
    case 'flag':
      return plain(field, value) === true ? '1' : '0'
    case 'number':
    case 'seconds':
      return valueText(plain(field, value) ?? '')
    case 'list':
      return (value as readonly string[]).join(field.separator ?? ',')
    case 'repeated':
      return (value as readonly string[]).join(AGAIN)
    case 'properties':
      return printParts(field, value)
    case 'blocks':
      return (value as readonly SettingValue[]).map((one) => printParts(field, one)).join(AGAIN)
    case 'lines':
      return Buffer.from(
        Object.entries(value)
          .map(([key, text]) => `${key}=${valueText(text)}`)
          .join('\n'),
      ).toString('base64')
    case 'hosts':
      return printHosts(value as readonly SettingValue[], typeof before === 'string' ? before : '')
    default:
      return valueText(value)
  }
}
