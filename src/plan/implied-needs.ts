import type { ResourceKey } from '../model/declaration.ts'
import { guestIn, type Resource } from '../model/resource.ts'

/**
 * Adds a resource's implicit needs: the pool of a guest, the bridge of its network cards, the guest of a setting. If
 * they are declared, they come first; Proxmox would refuse the other order.
 */
export function withImpliedNeeds(resources: readonly Resource[]): readonly Resource[] {
  const pools = new Map<string, ResourceKey>()
  const bridges = new Map<string, ResourceKey>()
  const guests = new Map<string, ResourceKey>()
  for (const { key, connection, desired } of resources) {
    const vmid = guestIn(desired)?.vmid
    if (vmid !== undefined) guests.set(`${connection} ${vmid}`, key)
    if (desired.type === 'setting' && desired.setting.definition === 'pool')
      pools.set(`${connection} ${desired.setting.id}`, key)
    if (desired.type === 'setting' && desired.setting.definition === 'bridge')
      bridges.set(`${connection} ${desired.setting.scope?.host} ${desired.setting.id}`, key)
  }
  if (pools.size === 0 && bridges.size === 0 && guests.size === 0) return resources
  return resources.map((resource) => {
    const { connection, desired, needs, key } = resource
    const declared = guestIn(desired)
    const pool = declared?.pool
    const guest = aboutGuest(resource)
    const implied = [
      ...(pool === undefined ? [] : [pools.get(`${connection} ${pool}`)]),
      ...new Set(declared?.nics.map(({ bridge }) => bridges.get(`${connection} ${declared.host} ${bridge}`))),
      ...(guest === undefined ? [] : [guests.get(`${connection} ${guest}`)]),
    ].filter((need): need is ResourceKey => need !== undefined && need !== key && !needs.includes(need))
    return implied.length === 0 ? resource : { ...resource, needs: [...needs, ...implied] }
  })
}

/** Returns the guest's id for its HA entry (`vm:100`, `ct:100`) and for every setting with the guest in its path. */
function aboutGuest({ desired }: Resource): string | undefined {
  if (desired.type !== 'setting') return undefined
  const { definition, id, scope } = desired.setting
  if (definition === 'ha-resource') return /^(?:vm|ct):(\d+)$/.exec(id)?.[1]
  return scope?.vmid ?? scope?.container
}
