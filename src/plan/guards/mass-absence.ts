import { validApprovals } from '../approvals.ts'
import type { Guard } from './guard.ts'

export const massAbsence: Guard = {
  name: 'mass-absence',
  stops: 'everything on a connection that suddenly shows fewer things than before',
  judge(action, { entry }, { suspicions, estate, nowMs }) {
    const suspicion = suspicions.get(entry.connection)
    if (suspicion === undefined || suspicion.system !== undefined) return action
    const approved = validApprovals(estate, nowMs).some((approval) => approval.absence?.includes(entry.connection))
    if (approved) return action
    return { do: 'hold', guard: 'mass-absence', held: action, reason: suspicion.message, allow: suspicion.allow }
  },
}
