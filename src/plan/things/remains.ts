import { type Destruction, ownAttempt } from '../../model/destruction.ts'
import type { Action } from '../../model/plan.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { attemptAt, wasWhole } from './attempt.ts'
import type { Ledger, World } from './world.ts'

const LOOK_SOON_MS = 1_000

/**
 * Returns leftovers of an open creation with this id, to delete first: only those that appeared since. If the guest was
 * seen whole, its disks are its data: then nothing is deleted or created beside them.
 */
export function remainsOf(
  resource: Resource,
  externalId: string,
  rules: Rules,
  world: World,
  ledger: Ledger,
): Extract<Action, { do: 'wait' | 'refuse' }> | { readonly left: readonly Destruction[] } {
  const record = ledger.records.get(resource.key)
  const attempt = attemptAt(record, resource.connection, externalId)
  const lost = wasWhole(record, resource.connection, externalId)
  if (record === undefined || (attempt === undefined && !lost)) return { left: [] }
  // Its disks are found by their names, and no attempt makes them before the guest itself.
  const isDefinedFirst = rules.regain !== undefined
  const found: ObservedResource[] = []
  for (const list of rules.remains(resource, externalId)) {
    const things = world.lists.get(list)
    if (things === undefined) {
      const message = `${list} has not been read yet`
      const missing = { look: 'list', list, remainsOf: externalId } as const
      return { do: 'wait', reason: 'NotListed', message, lookAgainMs: LOOK_SOON_MS, missing }
    }
    for (const thing of things.values())
      if (isDefinedFirst || madeSince(thing, attempt?.sinceMs ?? record.createdMs)) found.push(thing)
  }
  if (found.length > 0 && (attempt === undefined || isDefinedFirst))
    return vanished(resource, externalId, found, rules, lost)
  return { left: found.flatMap((thing) => ownAttempt(thing, attempt) ?? []) }
}

function vanished(
  resource: Resource,
  id: string,
  disks: readonly ObservedResource[],
  rules: Rules,
  lost: boolean,
): Extract<Action, { do: 'refuse' }> {
  const names = disks.map(({ externalId, host }) => `${externalId} on ${host}`).join(', ')
  const command = rules.regain?.(resource, id)
  const back = command === undefined ? 'put its configuration back' : `run on ${rules.hostOf(resource)}: ${command}`
  return {
    do: 'refuse',
    guard: 'vanished',
    reason: lost
      ? `${resource.key} was there as id ${id} and is gone, but its disks are still there: ${names}`
      : `${resource.key} is not there as id ${id}, but its disks are: ${names}`,
    allow: `${back}, or restore it from a backup; croft creates it with empty disks after these disks are renamed or removed`,
  }
}

/** Tolerance for differences of hosts' clocks. */
const CLOCK_SLACK_MS = 300_000

function madeSince(thing: ObservedResource, sinceMs: number): boolean {
  const seconds = thing.close?.config.ctime
  return typeof seconds === 'number' && seconds * 1000 >= sinceMs - CLOCK_SLACK_MS
}

/** Returns the command that clears it, since only root may lift a lock. croft finds its volumes by their id later. */
export function clearing(observed: ObservedResource): string {
  const { externalId, lock } = observed
  const command = tool(observed)
  const unlock = lock === undefined ? '' : `${command} unlock ${externalId} && `
  return `${unlock}${command} destroy ${externalId}`
}

export function tool({ type }: ObservedResource): 'qm' | 'pct' {
  return type === 'container' ? 'pct' : 'qm'
}
