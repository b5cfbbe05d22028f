import type { Change, ObservedResource } from '../../../model/resource.ts'
import type { Definition, Field, SettingSpec, SettingValue } from '../../../model/rest.ts'
import type { ApiFields } from '../foreign.ts'
import { plainEntries } from './entry-list.ts'
import { LEAVING, UNAPPLIED } from './rows.ts'
import { plainRules } from './rule-list.ts'
import { presentValue } from './usb-ports.ts'
import { isEmpty, same, seenValue, wantedValue } from './values.ts'

/** Changes without a field: the thing is leaving, or a written value is not applied yet. */
export const EXISTS = 'exists'
export const APPLIED = 'applied'

/** Compares declared fields only, without secrets and fields that no answer shows. */
export function diffSetting(
  definition: Definition,
  setting: SettingSpec,
  observed: ObservedResource,
): readonly Change[] {
  const config = observed.close?.config ?? {}
  if (config[LEAVING] === true) return [{ path: EXISTS, from: 'leaving', to: 'there', effect: 'live' }]
  // No token may write it: croft can only check that it exists.
  if (definition.rootOnly !== undefined) return []
  const changes: Change[] = []
  for (const [name, field] of Object.entries(definition.fields)) {
    const present = presentValue(setting, name, config)
    const declared = present ?? setting.fields[name]
    if (declared === undefined || field.unread === true || field.type === 'secret') continue
    const [to, from] =
      field.type === 'rules'
        ? [plainRules(field, declared), plainRules(field, config.rules)]
        : field.type === 'entries'
          ? [plainEntries(field, declared), plainEntries(field, config.entries)]
          : field.type === 'pem'
            ? [wantedValue(field, declared), wantedValue(field, (config.pem ?? '') as string)]
            : seenAndWanted(name, field, declared, config)
    if (same(from, to)) continue
    if (present === undefined && setting.accepts?.[name]?.some((other) => same(from, wantedValue(field, other))))
      continue
    changes.push({ path: name, from, to, effect: field.fixed === true ? 'replace' : 'live' })
  }
  if (changes.length === 0 && definition.apply !== undefined && config[UNAPPLIED] !== undefined)
    changes.push({ path: APPLIED, from: config[UNAPPLIED], to: 'in force', effect: 'live' })
  return changes
}

/** If a field is declared empty, an absent field counts as empty too, regardless of its default. */
function seenAndWanted(name: string, field: Field, declared: SettingValue, config: ApiFields) {
  const wanted = wantedValue(field, declared)
  return [wanted, seenValue(name, field, config, isEmpty(wanted))] as const
}
