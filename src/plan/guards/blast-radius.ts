import { LIMITS } from '../../lib/limits.ts'
import type { Doing, PlanEntry } from '../../model/plan.ts'
import { isGuest } from '../../model/resource.ts'
import { validApprovals } from '../approvals.ts'
import { objectsOf } from '../things/source-share.ts'
import { destroys, type Guard, type GuardContext, lossesOf } from './guard.ts'

export const blastRadius: Guard = {
  name: 'blast-radius',
  stops:
    'a sync that would delete more than one machine or 10 %, or more than ten objects of a cluster or 10 %, whichever is larger; each source counts for itself',
  approvable: true,
  judge(action, { entry, awaitsApproval }, context) {
    if (!destroys(action)) return action
    const count = countFor(entry, action, context)
    if (count === undefined || approved(entry.key, count.deleting, context)) return action
    const { deleting, all, limit, what } = count
    // If the others of a held group were approved and are gone, the rest still needs its own approval.
    if (deleting.length <= limit && awaitsApproval === true)
      return {
        do: 'hold',
        guard: 'blast-radius',
        held: action,
        reason: `it was to be deleted with more ${what} than the limit allows, and only others were approved`,
        allow: `${alone(entry.key, action.do)}; or commit an Approval that lists it under deletes`,
      }
    if (deleting.length <= limit) return action
    return {
      do: 'hold',
      guard: 'blast-radius',
      held: action,
      reason: `this revision would delete ${deleting.length} of ${all} ${what}, the limit is ${limit}`,
      allow: `${alone(entry.key, action.do)}; or commit an Approval that lists ${deleting.includes(entry.key) ? entry.key : 'them'} under deletes, or sets maxDeletes: ${deleting.length}, with a reason and a time at which it expires`,
    }
  },
}

/** Returns how a person approves a single one: through a controller, or here. */
function alone(key: string, what: Doing['do']): string {
  const asked = `run croft ask approve ${key} where croft run keeps it`
  return what === 'delete' ? `${asked}, or croft delete ${key}` : asked
}

interface DeletionCount {
  readonly deleting: readonly string[]
  readonly all: number
  readonly limit: number
  readonly what: string
}

function countFor(
  { key, type, connection }: PlanEntry,
  action: Doing,
  { deleting, destroyed = [], machines, objects, sourceOf }: GuardContext,
): DeletionCount | undefined {
  const source = sourceOf(key)
  if (isGuest(type)) {
    // A coordinator replaces a node because of the node: earlier deletions of this revision must not delay it.
    const isCure = lossesOf(action).every(({ because }) => because === 'ordered')
    const going = [...new Set([...deleting, ...(isCure ? [] : destroyed)])].filter((one) => sourceOf(one) === source)
    const all = machines.get(source) ?? 0
    return { deleting: going, all, limit: deleteLimit(all), what: 'machines' }
  }
  const there = type === 'object' ? objects?.get(objectsOf(source, connection)) : undefined
  if (there === undefined) return undefined
  const limit = Math.max(LIMITS.objectDeletes, Math.floor(there.all / 10))
  return { ...there, limit, what: `objects of ${connection}` }
}

/** Returns one machine or 10 %, whichever is larger. */
export function deleteLimit(machines: number): number {
  return Math.max(1, Math.floor(machines / 10))
}

/** Approved by name, each one; or by number, all of them. */
function approved(key: string, deleting: readonly string[], { estate, nowMs }: GuardContext): boolean {
  return validApprovals(estate, nowMs).some(
    ({ deletes, maxDeletes }) => deletes.includes(key) || (maxDeletes !== undefined && deleting.length <= maxDeletes),
  )
}
