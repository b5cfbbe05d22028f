import { nameOfReference, secretsIn, secretsOfCommands } from '../../model/desired-secrets.ts'
import { type Action, type Doing, isDoing, type Plan } from '../../model/plan.ts'
import type { SecretReference } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import { withRefusedNodes } from '../plan.ts'

/** Returns every secret that the steps of a plan use, once. */
export function secretsOf({ entries }: Plan): readonly SecretReference[] {
  const found = new Map<string, SecretReference>()
  for (const { action } of entries)
    for (const reference of secretsOfAction(action)) found.set(nameOfReference(reference), reference)
  return [...found.values()]
}

/**
 * Refuses work whose later steps need an unreadable secret: the plan would promise too much, and a machine would stay
 * half made. `unread` maps a reference's name to the reason. Pure.
 */
export function refuseUnread(plan: Plan, unread: ReadonlyMap<string, string>): Plan {
  if (unread.size === 0) return plan
  const entries = plan.entries.map((entry) => {
    const why = secretsOfAction(entry.action).flatMap((reference) => unread.get(nameOfReference(reference)) ?? [])[0]
    if (why === undefined) return entry
    const action: Action = {
      do: 'refuse',
      guard: 'secret-unread',
      reason: `a secret that it needs cannot be read: ${why}`,
      allow: 'correct the reference, or make the secret readable where croft runs',
    }
    return { ...entry, action }
  })
  return withRefusedNodes({ ...plan, entries })
}

function secretsOfAction(action: Action): readonly SecretReference[] {
  const doing: Doing | undefined = isDoing(action) ? action : action.do === 'wait' ? action.next : undefined
  return (doing?.steps ?? []).flatMap(secretsOfStep)
}

function secretsOfStep(step: Step): readonly SecretReference[] {
  const inSeed = step.upload === undefined ? [] : secretsIn(step.upload.document.reveal())
  switch (step.lane) {
    case 'rest': {
      const { params } = step.call
      const inCall = (step.secretParams ?? []).map((name) => JSON.parse(params[name] ?? 'null') as SecretReference)
      return [...inCall, ...inSeed]
    }
    case 'object':
      if (step.write.do === 'apply') return Object.values(step.write.secrets ?? {})
      return step.write.do === 'helm' && step.write.run === 'upgrade' && step.write.valuesFrom !== undefined
        ? [step.write.valuesFrom]
        : []
    case 'commands':
      return [...secretsOfCommands(step.commands), ...inSeed]
  }
}
