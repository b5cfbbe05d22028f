import type { Definition, SettingSpec, SettingValue } from '../../model/rest.ts'
import { valueText } from '../../proxmox/value-text.ts'

/** The fields of a setting, from either form of declaration. */
export interface DeclaredSetting {
  /** The id in Proxmox. */
  readonly id: string | undefined
  readonly host?: string
  readonly scope: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, SettingValue | undefined>>
}

/** Returns the setting of a declaration. */
export function settingFrom(definition: Definition, said: DeclaredSetting): SettingSpec {
  const fields: Record<string, SettingValue> = {}
  for (const [name, value] of Object.entries(said.fields)) if (value !== undefined) fields[name] = value
  const secrets = Object.keys(fields).filter((name) => definition.fields[name]?.type === 'secret')
  return {
    definition: definition.name,
    id: idFrom(definition, said),
    ...(said.host === undefined ? {} : { host: said.host }),
    ...(Object.keys(said.scope).length === 0 ? {} : { scope: said.scope }),
    fields,
    ...(secrets.length === 0 ? {} : { secrets }),
  }
}

function idFrom({ identity }: Definition, { id, fields }: DeclaredSetting): string {
  if (identity === undefined) return id ?? ''
  if ('constant' in identity) return identity.constant
  return identity.fields
    .map((names) => names.split('|').find((name) => fields[name] !== undefined))
    .map((name) => (name === undefined ? '' : valueText(fields[name])))
    .join(identity.join)
}
