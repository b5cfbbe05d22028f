import type { Guard } from './guard.ts'

/** Holds deletions after a kind's definition was removed: that removal does not order its instances' parts away. */
export const definitionGone: Guard = {
  name: 'definition-gone',
  stops: 'deleting parts of an instance (kro, Crossplane) that is still declared when only its definition was removed',
  judge(action, { entry }, { estate, leaving = [] }) {
    if (action.do !== 'delete') return action
    const by = leaving.find(({ key }) => key === entry.key)?.record?.composedBy
    const kind = by?.instance.split('/')[0] ?? ''
    if (by === undefined || estate.leftAlone?.has(kind) !== true) return action
    return {
      do: 'hold',
      guard: 'definition-gone',
      held: action,
      reason: `${entry.key} is a part of ${by.instance}, and its definition ${by.definition} is gone while documents of the kind ${kind} are still there`,
      allow: `put ${by.definition} back; to let the parts go, remove the documents of the kind ${kind} as well`,
    }
  },
}
