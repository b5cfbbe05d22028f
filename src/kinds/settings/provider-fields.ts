import type { Definition, SettingSpec, SettingValue } from '../../model/rest.ts'
import { valueText } from '../../proxmox/value-text.ts'
import type { MappedField, ProviderKind } from './provider-table.ts'
import { settingFrom } from './setting-from.ts'

export type ProviderFields = Readonly<Record<string, unknown>>

/** Access that a user or a group was given in its own declaration. */
export interface OwnAccess {
  readonly path: string
  readonly roleId: string
  readonly propagate?: boolean
}

/** The setting that the provider's fields stand for. */
export function providerSetting(provider: ProviderKind, definition: Definition, given: ProviderFields): SettingSpec {
  const fields: Record<string, SettingValue> = {}
  for (const [name, mapped] of Object.entries(provider.fields)) {
    const value = given[name] ?? provider.defaults?.[name]
    if (value === undefined) continue
    Object.assign(fields, ours(mapped, value, fields))
  }
  const host = provider.host === undefined ? undefined : (given[provider.host] as string | undefined)
  const scope: Record<string, string> = {}
  if (provider.guest === true && given.vmId !== undefined) scope.vmid = valueText(given.vmId)
  if (provider.guest === true && given.containerId !== undefined) scope.container = valueText(given.containerId)
  return settingFrom(definition, { id: idOf(provider, given), ...(host === undefined ? {} : { host }), scope, fields })
}

export function ownAccess(provider: ProviderKind, given: ProviderFields): readonly OwnAccess[] {
  return (provider.fields.acl === undefined ? [] : (given.acl ?? [])) as readonly OwnAccess[]
}

/** To the provider, a bare number is a VM unless `type` differs. */
function idOf(provider: ProviderKind, given: ProviderFields): string | undefined {
  const id = (provider.id === undefined ? undefined : (given[provider.id] as string | undefined)) ?? provider.defaultId
  return provider.definition === 'ha-resource' && id !== undefined && /^\d+$/.test(id)
    ? `${given.type === 'ct' ? 'ct' : 'vm'}:${id}`
    : id
}

function ours(
  mapped: MappedField,
  value: unknown,
  before: Readonly<Record<string, SettingValue>>,
): Record<string, SettingValue> {
  if (typeof mapped === 'string') {
    const joined = before[mapped]
    // The CA chain follows the certificate.
    const whole =
      mapped === 'certificate' && joined !== undefined ? `${valueText(joined).trimEnd()}\n${valueText(value)}` : value
    return { [mapped]: whole as SettingValue }
  }
  if ('secret' in mapped) return { [mapped.secret]: { secretRef: value as SettingValue } }
  if ('words' in mapped) return { [mapped.words]: valueText(value).split(/[\s,]+/) }
  if ('priorities' in mapped) {
    const hosts = Object.entries(value as Readonly<Record<string, number | null>>)
    return { [mapped.priorities]: hosts.map(([host, priority]) => (priority === null ? host : `${host}:${priority}`)) }
  }
  if (!('block' in mapped)) return {}
  const rows = (Array.isArray(value) ? value : [value]) as readonly Readonly<Record<string, SettingValue>>[]
  const renamed = rows.map((row) => inOurNames(row, mapped.parts))
  return { [mapped.block]: mapped.many ? renamed : (renamed[0] ?? {}) }
}

function inOurNames(
  row: Readonly<Record<string, SettingValue>>,
  parts: Readonly<Record<string, string>>,
): Record<string, SettingValue> {
  const result: Record<string, SettingValue> = {}
  for (const [theirs, name] of Object.entries(parts)) {
    const value = row[theirs]
    if (value !== undefined) result[name] = value
  }
  // With both an action and a group, the group counts.
  if (result.group !== undefined) {
    delete result.action
    delete result.type
  }
  return result
}
