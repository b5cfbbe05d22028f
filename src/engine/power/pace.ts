import { LIMITS } from '../../lib/limits.ts'
import type { PowerLook } from '../../model/power-look.ts'
import { waitName } from '../../plan/power/view.ts'
import { type StepAttempt, stepName } from '../steps.ts'
import type { PowerMemory } from './memory.ts'

/** One Power in one pass. */
export interface KeptPower {
  readonly look: PowerLook
  readonly attempts: readonly StepAttempt<'power'>[]
}

/**
 * Notes since when each wait is known, and says when to look again: at once when something new was done, soon while
 * something is awaited, and when a time that is counted is over.
 */
export function nextPowerLookMs(kept: readonly KeptPower[], memory: PowerMemory, monotonicMs: number): number {
  const waits = new Map<string, number>()
  let next: number = LIMITS.sweepIntervalMs
  for (const { look, attempts } of kept) {
    const { key } = look.declaration
    const { decision } = look
    const moving = decision.phase === 'GoingOff' || decision.phase === 'GoingOn'
    const due = new Set(decision.steps.map((step) => stepName(key, step)))
    for (const name of memory.begun.keys()) {
      if (name.startsWith(`${key} `) && !due.has(name)) memory.begun.delete(name)
    }
    if (attempts.some(({ outcome }) => outcome.result === 'done') || decision.ended !== undefined) {
      next = Math.min(next, LIMITS.powerLook.shortestMs)
    }
    if (moving && decision.steps.length > 0 && decision.waits.length === 0)
      next = Math.min(next, LIMITS.powerLook.longestMs)
    if (decision.phase === 'Held') next = Math.min(next, LIMITS.peopleLookMs)
    if (look.declaration.spec.ups !== undefined) next = Math.min(next, LIMITS.upsLookMs)
    for (const { tier, what, awaits, leftMs } of decision.waits) {
      const name = `${key} ${waitName(tier, what, awaits)}`
      const sinceMs = memory.waits.get(name) ?? monotonicMs
      waits.set(name, sinceMs)
      if (moving) next = Math.min(next, paceMs(monotonicMs - sinceMs))
      // The end of an idle time, or of a deadline, is looked at when it comes.
      if (leftMs !== undefined && leftMs > 0) next = Math.min(next, leftMs)
    }
  }
  memory.waits.clear()
  for (const [name, sinceMs] of waits) memory.waits.set(name, sinceMs)
  return next
}

/** Often at first; what has taken minutes may be seen a second or two later, and what hangs for hours costs little. */
function paceMs(waitedMs: number): number {
  const { shortestMs, longestMs, share, patience } = LIMITS.powerLook
  const soon = Math.min(longestMs, Math.max(shortestMs, Math.round(waitedMs * share)))
  return Math.min(patience.longestMs, Math.max(soon, Math.round(waitedMs * patience.share)))
}
