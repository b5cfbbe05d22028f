import { type Identity, privilegesAt } from '../../../world/access.ts'
import type { World } from '../../../world/types.ts'

/** Parts of a page, and the privileges that matter there. */
const PARTS: Readonly<Record<string, RegExp>> = {
  vms: /^(VM\.|Permissions\.Modify)/,
  access: /^(User\.|Group\.|Permissions\.Modify)/,
  storage: /^(Datastore\.|Permissions\.Modify)/,
  nodes: /^(Sys\.|Permissions\.Modify)/,
  sdn: /^(SDN\.|Permissions\.Modify)/,
  dc: /^(Sys\.Audit|Sys\.Modify|SDN\.)/,
  mapping: /^(Mapping\.|Permissions\.Modify)/,
}
const ALWAYS = ['/', '/nodes', '/access/groups', '/vms', '/storage', '/sdn', '/mapping']

/** Returns what a user may do in the parts that a page shows, at every path with rights, not only at the top. */
export function capabilities(world: World, who: Identity): Readonly<Record<string, unknown>> {
  const result = Object.fromEntries(Object.keys(PARTS).map((part) => [part, {} as Record<string, number>]))
  for (const path of new Set([...ALWAYS, ...setPaths(world)])) {
    const part = /^\/(\w+)/.exec(path)?.[1] ?? 'dc'
    for (const privilege of privilegesAt(world, who, path))
      for (const name of part === 'pool' ? partsOfPool(privilege) : [part]) {
        const row = result[name]
        if (row !== undefined && PARTS[name]?.test(privilege)) row[privilege] = 1
      }
  }
  return result
}

/** Where rights were set, and all that lies above. */
function setPaths(world: World): string[] {
  return world.access.acl.flatMap(({ path }) => {
    const steps = path.split('/').filter((step) => step !== '')
    return steps.map((_, index) => `/${steps.slice(0, index + 1).join('/')}`)
  })
}

/** A right on a pool is one on the machines and the storages in it. */
function partsOfPool(privilege: string): string[] {
  if (privilege.startsWith('VM.')) return ['vms']
  if (privilege.startsWith('Datastore.')) return ['storage']
  return privilege === 'Permissions.Modify' ? ['vms', 'storage'] : []
}
