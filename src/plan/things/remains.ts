import type { Action } from '../../model/plan.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { Ledger, World } from './world.ts'

const LOOK_SOON_MS = 1_000

/**
 * What a creation that broke off has left behind, to be cleared away first. Only where the store says that we began one
 * under this very id, and only what has come into being since: anything else under the id is somebody's.
 */
export function remainsOf(
  resource: Resource,
  externalId: string,
  rules: Rules,
  world: World,
  ledger: Ledger,
): Extract<Action, { do: 'wait' }> | { readonly resources: readonly ObservedResource[] } {
  const record = ledger.records.get(resource.key)
  if (record?.made !== true || record.externalId !== externalId) return { resources: [] }
  const found: ObservedResource[] = []
  for (const list of rules.remains(resource, externalId)) {
    const things = world.lists.get(list)
    if (things === undefined) {
      const message = `${list} has not been read yet`
      const missing = { look: 'list', list, remainsOf: externalId } as const
      return { do: 'wait', reason: 'NotListed', message, lookAgainMs: LOOK_SOON_MS, missing }
    }
    for (const thing of things.values()) if (madeSince(thing, record.createdMs)) found.push(thing)
  }
  return { resources: found }
}

/** Hosts have clocks of their own. */
const CLOCK_SLACK_MS = 300_000

function madeSince(thing: ObservedResource, sinceMs: number): boolean {
  const seconds = thing.close?.config.ctime
  return typeof seconds === 'number' && seconds * 1000 >= sinceMs - CLOCK_SLACK_MS
}

/** Only root may lift a lock. A guest that was never finished names no volumes, so they go as unreferenced ones. */
export function clearing(observed: ObservedResource): string {
  const { externalId, lock } = observed
  const command = tool(observed)
  const unlock = lock === undefined ? '' : `${command} unlock ${externalId} && `
  return `${unlock}${command} destroy ${externalId} --destroy-unreferenced-disks 1`
}

export function tool({ type }: ObservedResource): 'qm' | 'pct' {
  return type === 'container' ? 'pct' : 'qm'
}
