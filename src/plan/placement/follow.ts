import { guestIn, type Resource } from '../../model/resource.ts'
import type { Ledger, World } from '../world.ts'

/**
 * A guest that is on another host than declared was either carried there by somebody (then it is followed), or the
 * declaration has changed its mind (then it is moved). What was declared when all was last in force tells which.
 */
export function movedByGit(resource: Resource, world: World | undefined, ledger: Ledger): Resource {
  const guest = guestIn(resource.desired)
  const before = ledger.records.get(resource.key)?.declaredHost
  if (guest === undefined || before === undefined || before === guest.host) return resource
  const there = world?.marked.get(resource.uid)?.[0]
  if (there === undefined || there.host === guest.host) return resource
  return movingHere(resource, `host was ${before} and is now ${guest.host}`)
}

/** The same resource, to be brought to its declared host wherever it is. */
export function movingHere(resource: Resource, why: string): Resource {
  const { desired } = resource
  if (desired.type === 'vm') return { ...resource, desired: { type: 'vm', vm: { ...desired.vm, moveHere: why } } }
  if (desired.type !== 'container') return resource
  return { ...resource, desired: { type: 'container', container: { ...desired.container, moveHere: why } } }
}
