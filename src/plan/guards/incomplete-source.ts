import type { Guard } from './guard.ts'

export const incompleteSource: Guard = {
  name: 'incomplete-source',
  stops: 'deletions while part of what Git says could not be read',
  judge(action, { entry }, { estate }) {
    if (action.do !== 'delete' || !estate.incomplete) return action
    return {
      do: 'hold',
      guard: 'incomplete-source',
      held: action,
      reason: `some files could not be read, so ${entry.key} may still be declared`,
      allow: 'mend the files that croft validate names',
    }
  },
}
