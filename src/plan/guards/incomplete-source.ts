import { mayBeCalled } from '../../model/grant.ts'
import type { Guard } from './guard.ts'

export const incompleteSource: Guard = {
  name: 'incomplete-source',
  stops: 'deletions while part of what Git says could not be read',
  judge(action, { entry }, { estate }) {
    if (action.do !== 'delete') return action
    // A source with a grant may have declared only what its grant allows.
    const source = estate.partlyRead?.find((one) => mayBeCalled(entry.key, one))?.source
    if (!estate.incomplete && source === undefined) return action
    const files = source === undefined ? 'some files' : `some files of the source ${source}`
    return {
      do: 'hold',
      guard: 'incomplete-source',
      held: action,
      reason: `${files} could not be read, so ${entry.key} may still be declared`,
      allow: 'fix the files that croft validate names',
    }
  },
}
