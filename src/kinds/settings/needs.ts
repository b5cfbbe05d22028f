import { type Declaration, type ResourceKey, resourceKey } from '../../model/declaration.ts'
import type { SettingSpec, SettingValue } from '../../model/rest.ts'
import { valueText } from '../../proxmox/value-text.ts'
import type { Lookup } from '../kind.ts'

/** Returns the setting that a declaration describes; undefined if it describes none. */
export type SettingOf = (declaration: Declaration) => SettingSpec | undefined

/** A setting's reference to another one: a definition and an id. */
interface Reference {
  readonly definition: string
  readonly id: string
}

/** Declared settings that must be there first, so that Proxmox does not refuse this one. */
export function neededSettings(
  setting: SettingSpec,
  kindsOf: (definition: string) => readonly string[],
  settingOf: SettingOf,
  lookup: Lookup,
): readonly ResourceKey[] {
  const keys = new Set<ResourceKey>()
  for (const reference of referencesOf(setting)) {
    for (const kind of kindsOf(reference.definition)) {
      for (const declaration of lookup.all(kind)) {
        if (settingOf(declaration)?.id === reference.id)
          keys.add(resourceKey(declaration.kind, declaration.name, declaration.namespace))
      }
    }
  }
  return [...keys].sort()
}

function referencesOf({ definition, id, fields, scope }: SettingSpec): readonly Reference[] {
  const to = (name: string, value: SettingValue | undefined): readonly Reference[] =>
    value === undefined ? [] : [value].flat().map((one) => ({ definition: name, id: valueText(one) }))
  switch (definition) {
    // A pool in a pool: `prod/web` is in `prod`.
    case 'pool':
      return to('pool', /^(.+)\/[^/]+$/.exec(id)?.[1])
    case 'user':
      return to('group', fields.groups)
    case 'token':
      return to('user', scope?.user)
    case 'acl': {
      const pool = /^\/pool\/(.+)$/.exec(valueText(fields.path))?.[1]
      const token = /^(.*)!/.exec(valueText(fields.token ?? ''))?.[1]
      return [
        ...to('role', fields.role),
        ...to('user', fields.user ?? token),
        ...to('group', fields.group),
        ...to('pool', pool),
      ]
    }
    case 'backup-job':
      return [...to('storage', fields.storage), ...to('pool', fields.pool)]
    case 'sdn-vnet':
      return to('sdn-zone', fields.zone)
    case 'sdn-subnet':
      return to('sdn-vnet', scope?.vnet)
    case 'ha-resource':
      return to('ha-group', fields.group)
    case 'ha-rule':
      return to('ha-resource', fields.resources)
    case 'vlan':
      return [...to('bridge', fields.device), ...to('bond', fields.device)]
    case 'bridge':
      return [...to('bond', fields.ports), ...to('vlan', fields.ports)]
    case 'node-options':
      // Proxmox requires the plugin of a named domain; an account is required only for the order.
      return Object.entries(fields).flatMap(([name, value]) =>
        /^acmedomain\d$/.test(name) ? to('acme-plugin', (value as { readonly plugin?: string }).plugin) : [],
      )
    case 'firewall-rules':
    case 'firewall-group':
      return ruleReferences(fields.rules)
    default:
      return []
  }
}

function ruleReferences(rules: SettingValue | undefined): readonly Reference[] {
  const rows = (rules ?? []) as readonly Readonly<Record<string, SettingValue>>[]
  return rows.flatMap(({ group, source, destination }) => [
    ...(group === undefined ? [] : [{ definition: 'firewall-group', id: valueText(group) }]),
    ...[source, destination].flatMap((text) => {
      const name = /^\+?(?:dc\/)?([A-Za-z][\w-]*)$/.exec(valueText(text ?? ''))?.[1]
      const definition = valueText(text).startsWith('+') ? 'firewall-ipset' : 'firewall-alias'
      return name === undefined ? [] : [{ definition, id: name }]
    }),
  ])
}
