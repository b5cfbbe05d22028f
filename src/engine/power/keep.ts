import { LIMITS } from '../../lib/limits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { PowerPlan } from '../../model/observed-power.ts'
import type { NewEvent, ResourceRecord } from '../../model/record.ts'
import type { Step } from '../../model/step.ts'
import { waitName } from '../../plan/power/view.ts'
import type { FactsByConnection } from '../connection-facts.ts'
import { type StepAttempt, stepName } from '../steps.ts'
import { actOnPower, type PowerActDeps } from './act.ts'
import { noteEnergy } from './energy.ts'
import { judgePower } from './judge.ts'
import type { PowerMemory } from './memory.ts'
import { type PowerNotes, unreadHost, writePowerNotes } from './notes.ts'
import type { ReachedPower } from './observe.ts'
import { noteUps } from './ups.ts'

/** The results of all Powers in one pass. */
export interface KeptPowers {
  readonly verdicts: readonly { readonly record: ResourceRecord; readonly events: readonly NewEvent[] }[]
  readonly effects: number
  readonly lookAgainMs: number
}

/** Takes each Power one step further and returns the results. */
export async function keepPowers(
  powers: readonly ReachedPower[],
  factsByConnection: FactsByConnection,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  deps: PowerActDeps,
  only: ReadonlySet<ResourceKey> | undefined,
  signal: AbortSignal,
): Promise<KeptPowers> {
  const { clock, powerMemory: memory } = deps
  const kept = await Promise.all(
    powers.map(async (looked): Promise<KeptPower & KeptPowers['verdicts'][number]> => {
      const { declaration } = looked.look
      const idle = signal.aborted || declaration.policy.paused || (only !== undefined && !only.has(declaration.key))
      const known = new Set(memory.begun.keys())
      const reported = idle ? undefined : await lastWords(looked, deps, signal)
      const now = reported === undefined ? looked : { ...looked, notes: reported.notes }
      const attempts = idle ? [] : await actOnPower(now, factsByConnection, deps, signal)
      const goesOn = (step: Step<'power'>) => known.has(stepName(declaration.key, step))
      const before = records.get(declaration.key)
      if (!idle) {
        await noteEnergy(looked.look, memory, deps)
        await noteUps(looked.look, deps)
      }
      return {
        ...judgePower(looked.look, attempts, before, goesOn, reported?.words ?? [], clock.now()),
        look: looked.look,
        attempts,
      }
    }),
  )
  return {
    verdicts: kept,
    effects: kept.reduce((sum, { attempts }) => sum + attempts.length, 0),
    lookAgainMs: nextPowerLookMs(kept, memory, clock.monotonicMs()),
  }
}

/** Reads the notes of croft's own host from its shutdown, once after croft's return, and reports them. */
async function lastWords(
  { look, notes }: ReachedPower,
  { power, store, epoch }: PowerActDeps,
  signal: AbortSignal,
): Promise<{ readonly words: readonly string[]; readonly notes: PowerNotes } | undefined> {
  const { spec, name } = look.declaration
  const host = unreadHost(spec, notes, epoch)
  if (host === undefined || power === undefined || notes === undefined) return undefined
  const words = await (await power()).ownJournal(host, signal)
  const reported: PowerNotes = { ...notes, reported: true }
  await writePowerNotes(store, epoch, name, reported)
  return { words, notes: reported }
}

/** One Power in one pass. */
interface KeptPower {
  readonly look: PowerPlan
  readonly attempts: readonly StepAttempt<'power'>[]
}

/**
 * Records when each wait was first seen, and returns when to look again: at once after a new step, soon during a wait,
 * and at the end of a deadline.
 */
export function nextPowerLookMs(kept: readonly KeptPower[], memory: PowerMemory, monotonicMs: number): number {
  const waits = new Map<string, number>()
  let next: number = LIMITS.sweepIntervalMs
  for (const { look, attempts } of kept) {
    const { key } = look.declaration
    const { decision } = look
    const moving = decision.phase === 'PoweringOff' || decision.phase === 'PoweringOn'
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
      // Look at the end of an idle time or a deadline.
      if (leftMs !== undefined && leftMs > 0) next = Math.min(next, leftMs)
    }
  }
  memory.waits.clear()
  for (const [name, sinceMs] of waits) memory.waits.set(name, sinceMs)
  return next
}

/** Frequent at first; after minutes a delay of a second or two is fine, and a wait of hours costs little. */
function paceMs(waitedMs: number): number {
  const { shortestMs, longestMs, share, patience } = LIMITS.powerLook
  const soon = Math.min(longestMs, Math.max(shortestMs, Math.round(waitedMs * share)))
  return Math.min(patience.longestMs, Math.max(soon, Math.round(waitedMs * patience.share)))
}
