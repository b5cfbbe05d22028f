import type { Action } from '../model/plan.ts'

/**
 * Each field in which something is not as declared, with what it is now, as text that can be kept and compared. Undefined:
 * it is gone, or what it is was not asked.
 */
export function driftedFields(action: Action): Readonly<Record<string, string>> | undefined {
  const doing = action.do === 'hold' ? action.held : action
  if (!('changes' in doing)) return undefined
  // A restart that is still to come is the rest of a change.
  const changes = doing.changes.filter(({ path }) => path !== 'restart')
  return Object.fromEntries(
    changes.map(({ path, from, secret }) => [path, secret === true ? '***' : (JSON.stringify(from) ?? 'nothing')]),
  )
}
