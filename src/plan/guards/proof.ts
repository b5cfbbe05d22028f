import type { Guard } from './guard.ts'

export const proof: Guard = {
  name: 'not-of-this-directory',
  stops: 'deleting what nothing proves to have been declared here: no record, no commit that removed it, no person',
  judge(action, { entry }) {
    if (action.do !== 'delete' || action.proof !== undefined) return action
    const { key, host } = entry
    const where = host === undefined || host === '' ? '' : ` on ${host}`
    return {
      do: 'hold',
      guard: 'not-of-this-directory',
      held: action,
      reason: `${key} (${action.externalId}${where}) carries our mark and is not of this directory: no record and no commit says that it was declared here`,
      allow: `declare it here, or plan from the directory (with its Git history and its Estate) that declared it, or, to destroy it, run croft delete ${key} or list it under deletes of an Approval`,
    }
  },
}
