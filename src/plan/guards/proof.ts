import type { Policy, ResourceKey } from '../../model/declaration.ts'
import type { Guard } from './guard.ts'

export const proof: Guard = {
  name: 'not-of-this-directory',
  stops:
    'deleting a thing without proof that this directory declared it: no record, no commit that removed it, no person who names it',
  judge(action, { entry, policy }) {
    if (action.do !== 'delete' || action.proof !== undefined) return action
    const { key, host } = entry
    const where = host === undefined || host === '' ? '' : ` on ${host}`
    return {
      do: 'hold',
      guard: 'not-of-this-directory',
      held: action,
      reason: `${key} (${action.externalId}${where}) is not of this directory: it carries the mark of this estate, but neither the database nor the Git history of this directory says that it was declared here`,
      allow: `to keep it, declare it here again or run croft from the directory that declares it; ${wayOut(key, policy)}`,
    }
  },
}

/** Returns the way to delete it. Never advises to destroy a server of a cluster that may run, or a protected thing. */
function wayOut(key: ResourceKey, { protect, serverOf }: Policy): string {
  if (serverOf !== undefined) return `it is a server of ${serverOf}, and goes by that directory alone`
  if (protect) return 'it is protected, and goes by that directory alone'
  return `to destroy it, run croft delete ${key}, or list it under deletes of an Approval`
}
