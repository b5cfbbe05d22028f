import type { Declaration } from '../../model/declaration.ts'
import type { SettingSpec } from '../../model/rest.ts'
import { DEFINITIONS } from '../../proxmox/registry.ts'
import type { Kind } from '../kind.ts'
import { neededSettings } from './needs.ts'
import { type NeedsOf, ownKind, ownSetting } from './own-kind.ts'
import { type ProviderSpec, providerKind, providerSettingOf } from './provider-kind.ts'
import { PROVIDER_KINDS } from './provider-table.ts'

const ownByKind = new Map(DEFINITIONS.map((definition) => [definition.kind, definition]))
const providerByKind = new Map(PROVIDER_KINDS.map((provider) => [provider.kind, provider]))

const needsOf: NeedsOf = (setting, lookup) => neededSettings(setting, kindsOf, settingOf, lookup)

/** Every kind of setting: our own from the definitions, and the provider's from its table. */
export const SETTING_KINDS: readonly Kind[] = [
  ...DEFINITIONS.map((definition) => ownKind(definition, needsOf)),
  ...PROVIDER_KINDS.map((provider) => providerKind(provider, needsOf)),
] as readonly Kind[]

function kindsOf(name: string): readonly string[] {
  return [
    ...DEFINITIONS.filter((definition) => definition.name === name).map(({ kind }) => kind),
    ...PROVIDER_KINDS.filter(({ definition }) => definition === name).map(({ kind }) => kind),
  ]
}

function settingOf(declaration: Declaration): SettingSpec | undefined {
  const definition = ownByKind.get(declaration.kind)
  if (definition !== undefined) return ownSetting(definition, declaration as Declaration<never>)
  const provider = providerByKind.get(declaration.kind)
  return provider === undefined ? undefined : providerSettingOf(provider, declaration as Declaration<ProviderSpec>)
}
