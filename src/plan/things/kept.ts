import { isIPv6 } from 'node:net'
import { defined } from '../../lib/defined.ts'
import type { Estate, KeptChoice, KeptChoices } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { guestIn, type Resource } from '../../model/resource.ts'
import { addressesOf, configuredAddresses, fixedAddresses } from './addresses.ts'
import type { Ledger, World } from './world.ts'

/**
 * Returns the host and the addresses of every declared machine. Addresses that croft assigned come before those in the
 * world: a person may have changed them, and that is drift. `learned` holds earlier close looks. A guest's own report
 * comes last.
 */
export function keptIn(
  { resources }: Pick<Estate, 'resources'>,
  worlds: ReadonlyMap<string, World>,
  { records, intentions }: Pick<Ledger, 'records' | 'intentions'>,
  learned: KeptChoices = new Map(),
): KeptChoices {
  const found = new Map<string, KeptChoice>()
  for (const resource of resources) {
    const { key, desired } = resource
    if (guestIn(desired) === undefined) continue
    const record = records.get(key)
    const intention = intentions.get(key)
    const seen = seenOf(resource, worlds, record)
    const configured = seen === undefined ? [] : configuredAddresses(seen)
    const before = learned.get(key)
    const said = seen === undefined ? [] : addressesOf(seen)
    const remembered = record?.details?.addresses?.split(',') ?? []
    const sources: readonly Pick<KeptChoice, 'addresses' | 'told'>[] = [
      { addresses: record?.addresses ?? configured },
      ...(before === undefined || before.told === true ? [] : [before]),
      { addresses: said, told: true },
      ...(before === undefined ? [] : [before]),
      { addresses: remembered, told: true },
    ]
    const { addresses, told } = sources.find((one) => one.addresses.length > 0) ?? { addresses: [] }
    const at = [seen, intention, record].find((one) => one?.host !== undefined)
    if (addresses.length > 0 || at !== undefined)
      found.set(key, { addresses, ...defined({ told, node: at?.host, connection: at?.connection }) })
  }
  return found
}

/**
 * Returns a machine's guest, searched where the record has it, since a declaration without a host may first be linked
 * elsewhere; without a record anywhere.
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

/** Reports whether every machine is declared with its current host and addresses. */
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
