import { isIPv6 } from 'node:net'
import { defined } from '../../lib/defined.ts'
import type { Estate, KeptChoice, KeptChoices } from '../../model/estate.ts'
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
    const seen = seenOf(resource, worlds.get(resource.connection), record?.externalId)
    const shown = seen === undefined ? [] : addressesOf(seen)
    const told = record?.details?.addresses?.split(',') ?? []
    const addresses = record?.addresses ?? [shown, learned.get(key) ?? [], told].find((some) => some.length > 0) ?? []
    const node = seen?.host ?? intentions.get(key)?.host ?? record?.host
    if (addresses.length > 0 || node !== undefined) found.set(key, { addresses, ...defined({ node }) })
  }
  return found
}

function seenOf({ uid, policy }: Resource, world: World | undefined, externalId: string | undefined) {
  const marked = world?.marked.get(uid) ?? []
  const ours = marked.find((one) => one.externalId === externalId) ?? marked[0]
  return ours ?? (policy.adopt === undefined ? undefined : world?.guests.get(policy.adopt))
}

/** Reports whether every machine is declared with the host and the addresses that it has. */
export function isKept({ resources }: Pick<Estate, 'resources'>, kept: KeptChoices): boolean {
  return resources.every(({ key, desired, placement }) => {
    const has = kept.get(key)
    const guest = guestIn(desired)
    if (has === undefined || guest === undefined) return true
    const isThere = placement !== undefined || has.node === undefined || has.node === guest.host
    return isThere && fixedAddresses(desired).every((address) => isIPv6(address) || has.addresses.includes(address))
  })
}
