import { isGuest } from '../../model/resource.ts'
import { validApprovals } from '../approvals.ts'
import type { Guard, GuardContext } from './guard.ts'

export const blastRadius: Guard = {
  name: 'blast-radius',
  stops: 'a sync that would delete more than one machine or 10 %, whichever is larger',
  judge(action, { entry }, context) {
    if (!isGuest(entry.type) || (action.do !== 'delete' && action.do !== 'replace')) return action
    const limit = deleteLimit(context.machines)
    if (context.deleting.length <= limit || approved(context)) return action
    return {
      do: 'hold',
      guard: 'blast-radius',
      held: action,
      reason: `this revision would delete ${context.deleting.length} of ${context.machines} machines, the limit is ${limit}`,
      allow: `commit an Approval that lists ${context.deleting.includes(entry.key) ? entry.key : 'them'} under deletes, or sets maxDeletes: ${context.deleting.length}, with a reason and a time at which it expires`,
    }
  },
}

/** One machine or 10 %, whichever is larger. */
export function deleteLimit(machines: number): number {
  return Math.max(1, Math.floor(machines / 10))
}

function approved({ estate, deleting, nowMs }: GuardContext): boolean {
  const valid = validApprovals(estate, nowMs)
  if (valid.some((approval) => approval.maxDeletes !== undefined && deleting.length <= approval.maxDeletes)) return true
  const named = new Set(valid.flatMap((approval) => approval.deletes))
  return deleting.every((key) => named.has(key))
}
