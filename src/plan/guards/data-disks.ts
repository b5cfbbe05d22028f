import { isGuest } from '../../model/resource.ts'
import { validApprovals } from '../approvals.ts'
import { type Guard, lossesOf } from './guard.ts'

export const dataDisks: Guard = {
  name: 'data-disks',
  stops: 'deleting a machine that has disks besides the one it starts from, unless a person named it',
  approvable: true,
  judge(action, { entry, policy }, { estate, nowMs }) {
    const going = isGuest(entry.type) ? lossesOf(action).filter(({ because }) => because === 'removed') : []
    const disks = going.flatMap(({ takes }) => takes)
    if (disks.length === 0 || policy.dataMayGo === true) return action
    if (validApprovals(estate, nowMs).some(({ deletes }) => deletes.includes(entry.key))) return action
    return {
      do: 'hold',
      guard: 'data-disks',
      held: action,
      reason: `${entry.key} has data on ${disks.join(', ')}, which would be gone with it`,
      allow: `run croft ask approve ${entry.key} where croft run keeps it, or croft delete ${entry.key}; or commit an Approval that lists it under deletes`,
    }
  },
}
