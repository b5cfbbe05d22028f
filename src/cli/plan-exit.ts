import type { Plan } from '../model/plan.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { hasSomethingToDo } from './render/plan-summary.ts'
import { hasErrors } from './render/problems.ts'

const AUTHORITY: ReadonlySet<string> = new Set(['Unauthorized', 'PermissionDenied', 'WrongCertificate'])

/** 0 nothing to do, 2 there is something, 4 not authorized, 1 something could not be seen or is not valid. */
export function planExit(plan: Plan): ExitCode {
  const blind = blindExit(plan)
  if (blind !== undefined) return blind
  if (hasErrors(plan.problems)) return EXIT.failed
  return hasSomethingToDo(plan) ? EXIT.differs : EXIT.ok
}

/** A connection that refuses us or cannot be reached: whatever else the plan says is not the whole truth. */
export function blindExit(plan: Plan): ExitCode | undefined {
  if (plan.notes.some((one) => one.code === 'refused' && AUTHORITY.has(one.reason ?? 'Unauthorized'))) {
    return EXIT.unauthorized
  }
  return plan.notes.some((one) => one.code !== 'incomplete') ? EXIT.failed : undefined
}
