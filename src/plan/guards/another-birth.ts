import { validApprovals } from '../approvals.ts'
import { destroys, type Guard } from './guard.ts'

export const anotherBirth: Guard = {
  name: 'another-birth',
  stops: 'destroying a guest that carries our mark and has another birth than the one that croft made or adopted',
  approvable: true,
  judge(action, { entry, births }, { estate, nowMs }) {
    if (births === undefined || !destroys(action)) return action
    if (validApprovals(estate, nowMs).some(({ deletes }) => deletes.includes(entry.key))) return action
    const { was, is } = births
    const { key } = entry
    return {
      do: 'hold',
      guard: 'another-birth',
      held: action,
      reason: `id ${action.externalId} was restored or made by another: ${key} had ${was}, what is there has ${is}`,
      allow:
        action.do === 'replace'
          ? `set the annotation croft.dev/birth: "${is}" on ${key}`
          : `run croft ask approve ${key} where croft run keeps it, or croft delete ${key}`,
    }
  },
}
