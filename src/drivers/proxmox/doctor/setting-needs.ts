import type { SettingSpec } from '../../../model/rest.ts'
import type { Step } from '../../../model/step.ts'
import { definitionNamed } from '../../../proxmox/registry.ts'
import { fill, placesOf } from '../rest/paths.ts'
import { type Need, way } from './need.ts'

/** The calls by which a setting is found and read. */
export function settingReads(setting: SettingSpec): readonly Step['call'][] {
  const { list } = definitionNamed(setting.definition)
  const paths = [fill(list.path, placesOf(setting)), ...(list.item === undefined ? [] : [list.item.path])]
  return paths.map((path) => ({ method: 'GET', path: fill(path, placesOf(setting, setting.id)), params: {} }))
}

/**
 * What the definition itself says: `Pool.Audit on /pool/{id}`. Many lists are open to everybody and show only what one
 * may see, so the calls alone do not tell what is needed. What names no exact path is told by the calls.
 */
export function statedNeeds(setting: SettingSpec, why: string): readonly Need[] {
  const { privileges } = definitionNamed(setting.definition)
  const places = placesOf(setting, setting.id)
  return privileges.flatMap((stated): Need[] => {
    const match = /^([A-Z]\w*\.[\w.]+) on (\/[a-z0-9{}/._-]*)$/i.exec(stated)
    const [, privilege = '', path = ''] = match ?? []
    const known = [...path.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => places[name] !== undefined)
    if (match === null || !known || /[A-Z]/.test(path)) return []
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name] ?? '')
    return [{ ways: [way(`${filled} ${privilege}`)], why, without: 'refused' }]
  })
}
