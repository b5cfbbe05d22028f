import { destroys, type Guard } from './guard.ts'

export const anotherSystem: Guard = {
  name: 'another-system',
  stops:
    'everything on a connection that leads to another system than before; creations and destructions where that cannot be told',
  judge(action, { entry }, { suspicions }) {
    const { system, message, allow } = suspicions.get(entry.connection) ?? {}
    if (system === undefined || message === undefined || allow === undefined) return action
    if (system === 'unknown' && action.do !== 'create' && !destroys(action)) return action
    return { do: 'hold', guard: 'another-system', held: action, reason: message, allow }
  },
}
