import type { ObservedResource, Survey } from '../../../model/resource.ts'
import type { Definition, Field, SettingValue } from '../../../model/rest.ts'
import { DEFINITIONS } from '../../../proxmox/registry.ts'
import { valueText } from '../../../proxmox/value-text.ts'
import type { ImportedSetting } from '../../port.ts'
import { plainEntries } from '../rest/entry-list.ts'
import { findList, listName } from '../rest/paths.ts'
import { definitionOf } from '../rest/read-settings.ts'
import { LEAVING } from '../rest/rows.ts'
import { plainRules } from '../rest/rule-list.ts'
import { isEmpty, plain, same, seenValue } from '../rest/values.ts'

/** Created by Proxmox itself, and read-only. */
const BUILT_IN: Readonly<Record<string, RegExp>> = {
  role: /^(?:PVE\w+|Administrator|NoAccess)$/,
  realm: /^(?:pam|pve)$/,
  user: /^root@pam$/,
}

/**
 * Returns every list of `Session.list` that may hold settings. Those below a user or a vnet are known only after their
 * parents, so it is called again with the results.
 */
export function settingLists(
  survey: Survey,
  kinds: readonly string[] | undefined,
  seen: readonly ObservedResource[],
): readonly string[] {
  const lists = new Set<string>()
  for (const definition of DEFINITIONS) {
    if (kinds !== undefined && !kinds.includes(definition.kind)) continue
    for (const place of placesFor(definition, survey, seen))
      lists.add(listName(definition, { definition: definition.name, id: '', fields: {}, ...place }))
  }
  return [...lists]
}

type SettingPlace = { readonly host?: string; readonly scope?: Readonly<Record<string, string>> }

function placesFor(
  { scope = [], notOfHosts }: Definition,
  { hosts, resources }: Survey,
  seen: readonly ObservedResource[],
): readonly SettingPlace[] {
  const named = (list: string) => seen.filter((one) => one.list === list).map(({ externalId }) => externalId)
  if (scope.includes('user')) return named('settings/access/users').map((user) => ({ scope: { user } }))
  if (scope.includes('vnet')) return named('settings/cluster/sdn/vnets').map((vnet) => ({ scope: { vnet } }))
  const nodes = hosts.filter(({ online }) => online).map(({ name }) => ({ host: name }))
  const guests = resources.map(({ host, type, externalId }) => ({
    host,
    scope: { [type === 'container' ? 'container' : 'vmid']: externalId },
  }))
  if (scope.includes('vmid') || (scope.includes('container?') && scope.includes('host'))) return guests
  if (scope.includes('host')) return nodes
  const anywhere = [{}, ...(scope.includes('host?') && notOfHosts !== true ? nodes : [])]
  return scope.includes('container?') ? [...anywhere, ...guests] : anywhere
}

/** Returns a setting as a manifest of its kind, without Proxmox's defaults. Undefined if it needs none. */
export function importSetting(observed: ObservedResource): ImportedSetting | undefined {
  const definition = definitionOf(observed)
  const config = observed.close?.config ?? {}
  const found = observed.list === undefined ? undefined : findList(observed.list)
  if (definition === undefined || found === undefined || config[LEAVING] === true) return undefined
  if (BUILT_IN[definition.name]?.test(observed.externalId)) return undefined
  const { identity } = definition
  const naming = new Set(
    identity !== undefined && 'fields' in identity ? identity.fields.flatMap((names) => names.split('|')) : [],
  )
  const spec: Record<string, SettingValue> = {}
  for (const [name, text] of Object.entries(found.places))
    spec[name] = name === 'vmid' || name === 'container' ? Number(text) : text
  if (identity === undefined) spec.id = observed.externalId
  let said = 0
  for (const [name, field] of Object.entries(definition.fields)) {
    // For some types Proxmox shows read-only fields, as that a share is shared.
    if (field.types?.includes(valueText(spec.type)) === false) continue
    const value = valueFor(name, field, config, naming.has(name))
    if (value === undefined) continue
    spec[name] = value
    if (field.type !== 'secret') said++
  }
  // A thing that always exists and has only defaults needs no declaration.
  if (definition.create === undefined && said === 0) return undefined
  if (definition.remove !== undefined) spec.deletionPolicy = 'Orphan'
  return { kind: definition.kind, name: nameFor(definition, observed, found.places), spec }
}

function valueFor(
  name: string,
  field: Field,
  config: Readonly<Record<string, unknown>>,
  naming: boolean,
): SettingValue | undefined {
  // It is unreadable; if required, the manifest names a place for it.
  if (field.type === 'secret') return field.required === true ? { env: `CROFT_${name.toUpperCase()}` } : undefined
  if (field.unread === true || field.type === 'pem') return undefined
  const seen =
    field.type === 'rules'
      ? (plainRules(field, config.rules) as SettingValue)
      : field.type === 'entries'
        ? (plainEntries(field, config.entries) as SettingValue)
        : seenValue(name, field, config, true)
  if (seen === undefined || isEmpty(seen)) return undefined
  const usual = field.absent === undefined ? undefined : plain(field, field.absent)
  if (!naming && field.required !== true && usual !== undefined && same(seen, usual)) return undefined
  if (field.type === 'seconds') return seen === 0 ? undefined : new Date(Number(seen) * 1000).toISOString()
  return withoutUsualParts(field, seen)
}

/** Parts with defaults are omitted from blocks as well. */
function withoutUsualParts(field: Field, value: SettingValue): SettingValue {
  if (field.parts === undefined) return value
  const slim = (row: SettingValue): SettingValue => {
    if (typeof row !== 'object' || Array.isArray(row)) return row
    return Object.fromEntries(
      Object.entries(row).filter(([name, part]) => {
        const inner = field.parts?.[name]
        if (inner === undefined || inner.required === true || inner.absent === undefined || part === undefined)
          return true
        return !same(part, plain(inner, inner.absent))
      }),
    )
  }
  return Array.isArray(value) ? value.map(slim) : slim(value)
}

/** Returns a readable name: its own, with its place if that alone is ambiguous. */
function nameFor(
  definition: Definition,
  { externalId }: ObservedResource,
  places: Readonly<Record<string, string>>,
): string {
  const constant = definition.identity !== undefined && 'constant' in definition.identity
  const where = Object.values(places).map(valueText)
  const words = constant ? [definition.name, ...where] : [...where, externalId]
  const plainName = words
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return plainName.slice(0, 200) || definition.name
}
