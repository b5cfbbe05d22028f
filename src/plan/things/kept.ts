import { isIPv6 } from 'node:net'
import { defined } from '../../lib/defined.ts'
import type { Estate, KeptChoice, KeptChoices } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { guestIn, type Resource } from '../../model/resource.ts'
import { addressesOf, fixedAddresses } from './addresses.ts'
import type { Ledger, World } from './world.ts'

/**
 * Returns the host and the addresses of every declared machine. The addresses that croft gave it count before those that the
 * world shows: a person may have changed them there, and that is drift. `learned` are addresses of earlier close looks.
 */
export function keptIn(
  { resources }: Pick<Estate, 'resources'>,
  worlds: ReadonlyMap<string, World>,
  { records, intentions }: Pick<Ledger, 'records' | 'intentions'>,
  learned: ReadonlyMap<string, readonly string[]> = new Map(),
): KeptChoices {
  const found = new Map<string, KeptChoice>()
  for (const resource of resources) {
    const { key, desired } = resource
    if (guestIn(desired) === undefined) continue
    const record = records.get(key)
    const intention = intentions.get(key)
    const seen = seenOf(resource, worlds, record)
    const shown = seen === undefined ? [] : addressesOf(seen)
    const told = record?.details?.addresses?.split(',') ?? []
    const addresses = record?.addresses ?? [shown, learned.get(key) ?? [], told].find((some) => some.length > 0) ?? []
    const at = [seen, intention, record].find((one) => one?.host !== undefined)
    if (addresses.length > 0 || at !== undefined)
      found.set(key, { addresses, ...defined({ node: at?.host, connection: at?.connection }) })
  }
  return found
}

/**
 * Returns the guest of a machine. It is looked for where the record says that it is, for a declaration that leaves the host to
 * croft may be linked elsewhere at first; without a record it may be anywhere.
 */
function seenOf(resource: Resource, worlds: ReadonlyMap<string, World>, record: ResourceRecord | undefined) {
  const places =
    record === undefined ? [resource.connection, ...worlds.keys()] : [record.connection, resource.connection]
  for (const place of places) {
    const marked = worlds.get(place)?.marked.get(resource.uid) ?? []
    const ours = marked.find((one) => one.externalId === record?.externalId) ?? marked[0]
    if (ours !== undefined) return ours
  }
  const { adopt } = resource.policy
  return adopt === undefined ? undefined : worlds.get(resource.connection)?.guests.get(adopt)
}

/** Reports whether every machine is declared with the host and the addresses that it has. */
export function isKept({ resources }: Pick<Estate, 'resources'>, kept: KeptChoices): boolean {
  return resources.every(({ key, desired, placement, connection }) => {
    const has = kept.get(key)
    const guest = guestIn(desired)
    if (has === undefined || guest === undefined) return true
    const isHere = has.node === guest.host && (has.connection ?? connection) === connection
    const isThere = placement !== undefined || has.node === undefined || isHere
    return isThere && fixedAddresses(desired).every((address) => isIPv6(address) || has.addresses.includes(address))
  })
}
