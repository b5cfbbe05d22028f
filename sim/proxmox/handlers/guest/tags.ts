import { may, seesGuest } from '../../../world/access.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { World } from '../../../world/types.ts'
import { forbidden } from '../../api-error.ts'
import type { Call } from '../../call.ts'

/** How the datacentre wants its tags written. */
export interface TagStyle {
  readonly caseSensitive: boolean
  readonly sorted: boolean
}

export function tagStyle(world: World): TagStyle {
  const { named } = parseProperties(option(world, 'tag-style'))
  return { caseSensitive: named.get('case-sensitive') === '1', sorted: named.get('ordering') !== 'config' }
}

/** Each once, with `;` between; in lower case and in order unless the datacentre says otherwise. */
export function normalTags(value: string, style: TagStyle): string {
  const tags = [...new Set(listed(value).map((tag) => (style.caseSensitive ? tag : tag.toLowerCase())))]
  return (style.sorted ? tags.sort() : tags).join(';')
}

/** The tags that this identity may put on guests or take from them without being an administrator. */
export function allowedTags(call: Call): string[] {
  const { world } = call
  const rules = tagRules(call)
  if (!may(world, call.who, '/', 'Sys.Modify')) return [...rules.user].sort()
  const used = [...world.guests.values()].flatMap(({ config }) => listed(config.get('tags') ?? ''))
  return [...new Set([...rules.listed, ...used, ...rules.registered])].sort()
}

/** Refuses a change of tags that only an administrator may make. */
export function requireTagRights(call: Call, vmid: number, before: string, after: string): void {
  if (call.who.id === 'root@pam') return
  if (!may(call.world, call.who, `/vms/${vmid}`, 'VM.Config.Options'))
    throw forbidden(`/vms/${vmid}, VM.Config.Options`)
  if (may(call.world, call.who, '/', 'Sys.Modify')) return
  const rules = tagRules(call)
  const [old, wanted] = [listed(before), listed(after)]
  const changed = [...old.filter((tag) => !wanted.includes(tag)), ...wanted.filter((tag) => !old.includes(tag))]
  for (const tag of changed) {
    if ((rules.free && !rules.registered.has(tag)) || rules.user.has(tag)) continue
    throw forbidden(`/, Sys.Modify for modifying tag '${tag}'`)
  }
}

interface TagRules {
  readonly free: boolean
  readonly registered: ReadonlySet<string>
  readonly listed: readonly string[]
  /** What those may set who are no administrators. Registered ones are never among them. */
  readonly user: ReadonlySet<string>
}

function tagRules(call: Call): TagRules {
  const { world } = call
  const { named } = parseProperties(option(world, 'user-tag-access'))
  const mode = named.get('user-allow') ?? 'free'
  const registered = new Set(listed(option(world, 'registered-tags')))
  const allowed = listed(named.get('user-allow-list') ?? '')
  const user = new Set(mode === 'none' ? [] : allowed)
  if (mode === 'free' || mode === 'existing') {
    for (const guest of world.guests.values()) {
      if (!seesGuest(world, call.who, guest.vmid)) continue
      for (const tag of listed(guest.config.get('tags') ?? '')) user.add(tag)
    }
  }
  for (const tag of registered) user.delete(tag)
  return { free: mode === 'free', registered, listed: allowed, user }
}

function option(world: World, key: string): string {
  const value = world.shelves.get('options')?.get('datacenter')?.[key]
  return typeof value === 'string' ? value : ''
}

function listed(text: string): string[] {
  return text.split(/[,; ]+/).filter((tag) => tag !== '')
}
