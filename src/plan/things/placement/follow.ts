import { guestIn, type Resource, type Survey, withGuestFields } from '../../../model/resource.ts'
import type { Ledger, World } from '../world.ts'
import { type Demand, demandOf, roomsOf, shortageOf } from './room.ts'

/**
 * If a guest is on another host than declared, either a person moved it (then croft follows), or Git changed the host
 * (then croft moves it). The host that was declared when everything last matched decides.
 */
export function movedByGit(resource: Resource, world: World | undefined, ledger: Ledger): Resource {
  const guest = guestIn(resource.desired)
  const asked = guest?.moveHere
  if (asked !== undefined) return movingHere(resource, asked.why, world)
  const before = ledger.records.get(resource.key)?.declaredHost
  if (guest === undefined || before === undefined || before === guest.host) return resource
  return movingHere(resource, `host was ${before} and is now ${guest.host}`, world)
}

/** Returns the resource to be moved to its declared host. Obstacles are reported before the move starts. */
export function movingHere(resource: Resource, why: string, world: World | undefined): Resource {
  const { desired } = resource
  const guest = guestIn(desired)
  const there = world?.marked.get(resource.uid)?.[0]
  if (guest === undefined || there === undefined || there.host === guest.host) return resource
  const blocked =
    world?.survey === undefined
      ? undefined
      : obstacle(guest.host, carried(demandOf(desired), world.survey), world.survey)
  const moveHere = { ...guest.moveHere, why, ...(blocked === undefined ? {} : { blocked }) }
  return { ...resource, desired: withGuestFields(desired, { moveHere }) }
}

/** Data on a shared storage needs no additional room for a move. */
function carried(demand: Demand, { storages }: Survey): Demand {
  const shared = new Set(storages.filter((storage) => storage.shared).map(({ name }) => name))
  return {
    ...demand,
    storages: new Map([...demand.storages].map(([name, bytes]) => [name, shared.has(name) ? 0 : bytes])),
  }
}

function obstacle(
  host: string,
  demand: Demand,
  survey: Survey,
): { readonly message: string; readonly allow: string } | undefined {
  const rooms = roomsOf(survey)
  const room = rooms.find(({ node }) => node === host)
  const shortage = room === undefined ? 'is not there' : shortageOf(room, demand)
  if (shortage === undefined) return undefined
  const others = rooms.filter((one) => shortageOf(one, demand) === undefined).map(({ node }) => node)
  return {
    message: `it cannot be moved to ${host}, which ${shortage}`,
    allow: others.length === 0 ? 'no host has room for it: make some' : `${others.join(', ')} could hold it`,
  }
}
