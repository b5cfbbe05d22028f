import { leftOver, overrun, plus } from '../quotas.ts'
import type { Guard } from './guard.ts'

export const quota: Guard = {
  name: 'quota',
  stops:
    'new things for a source that asks for more than its grant allows, or that left things behind which still count',
  judge(action, { entry }, { estate, leaving = [] }) {
    // For a replacement, the creation would otherwise be held after the deletion.
    if (action.do !== 'create' && action.do !== 'replace') return action
    const own = estate.quotas?.find(({ keys }) => keys.has(entry.key))
    if (own === undefined) return action
    if (own.exceeded)
      return {
        do: 'hold',
        guard: 'quota',
        held: action,
        reason: `the source ${own.source} asks for more than its quota, so croft creates nothing new for it`,
        allow: 'correct the objects that croft validate names, or enlarge the quota in the grant of the source',
      }
    const over = overrun(plus(own.used, leftOver(own, leaving)), own.quota)
    if (over === undefined) return action
    return {
      do: 'hold',
      guard: 'quota',
      held: action,
      reason: `with what it no longer declares and what still exists, the source ${own.source} would have ${over}`,
      allow: 'delete what is left over, or enlarge the quota in the grant of the source',
    }
  },
}
