import { destroys, type Guard } from './guard.ts'

export const protection: Guard = {
  name: 'protection',
  stops: 'deleting or replacing a resource that is protected',
  judge(action, { policy, entry }, { estate }) {
    if (!destroys(action)) return action
    const { serverOf } = policy
    const cluster = estate.clusters?.find(({ key }) => key === serverOf)
    if (serverOf !== undefined && estate.unreadable.some((key) => key === serverOf)) {
      return {
        do: 'refuse',
        guard: 'protection',
        reason: `${entry.key} is a server of ${serverOf}, which is declared and could not be read`,
        allow: `correct ${serverOf}: croft validate says where`,
      }
    }
    if (!policy.protect && serverOf !== undefined && cluster === undefined) {
      return {
        do: 'refuse',
        guard: 'protection',
        reason: `${entry.key} is a server of ${serverOf}, which is not declared here`,
        allow: `to keep it and take only croft off it, declare ${serverOf} again and run croft leave ${serverOf}; to destroy it, declare ${serverOf} here with protect: false in one commit, and remove it in a later one`,
      }
    }
    if (!policy.protect) return action
    return {
      do: 'refuse',
      guard: 'protection',
      reason: `${entry.key} is protected from deletion`,
      allow: `to keep it and take only croft off it, run croft leave ${entry.key}; to destroy it, lift the protection (annotation croft.dev/protect, field protect or protection) in one commit, and remove the declaration in a later one`,
    }
  },
}
