import type { CheckSeen, SeenHold, SeenHost, UpsReading } from '../../model/observed-power.ts'
import type { PersonHold, PowerEnergy } from '../../model/power.ts'
import type { PowerLook } from '../../model/power-look.ts'
import type { FailureRun } from '../../model/record.ts'
import type { KeptAnswers } from './kept-answers.ts'

/** What an engine knows of power besides what it sees. Lost with the process: then all times count anew. */
export interface PowerMemory {
  /** Since when each wait is known, on the clock that never jumps. */
  readonly waits: Map<string, number>
  /** When each step was last begun, on that clock. */
  readonly begun: Map<string, number>
  readonly failures: Map<string, FailureRun>
  /** How long each hold that somebody set still had when it was first seen, and when that was. */
  readonly holds: Map<string, { readonly leftMs: number; readonly seenMs: number }>
  readonly people: KeptAnswers<readonly SeenHold[]>
  readonly ups: KeptAnswers<UpsReading | 'unknown'>
  readonly hosts: KeptAnswers<Pick<SeenHost, 'power' | 'watts'>>
  readonly checks: KeptAnswers<CheckSeen>
  /** The newest look at each Power. */
  readonly looks: Map<string, PowerLook>
  /** What was used today, when it was last counted, and when it was last written down. */
  readonly energy: Map<string, { readonly energy: PowerEnergy; readonly atMs: number; readonly writtenMs: number }>
  /** Boxes whose last words were read. */
  readonly heard: Set<string>
}

export function emptyPowerMemory(): PowerMemory {
  return {
    waits: new Map(),
    begun: new Map(),
    failures: new Map(),
    holds: new Map(),
    people: new Map(),
    ups: new Map(),
    hosts: new Map(),
    checks: new Map(),
    looks: new Map(),
    energy: new Map(),
    heard: new Set(),
  }
}

/**
 * Holds that still count. How long one has left is measured from when it was first seen, on the clock that never jumps:
 * a wall clock that is set forward ends nobody's hold, and one that is set back makes none last longer.
 */
export function stillHolding(
  power: string,
  holds: readonly PersonHold[],
  { holds: known }: PowerMemory,
  clock: { now(): number; monotonicMs(): number },
): readonly PersonHold[] {
  return holds.filter((hold) => {
    const name = `${power} ${hold.by} ${hold.sinceMs} ${hold.untilMs}`
    const first = known.get(name) ?? { leftMs: hold.untilMs - clock.now(), seenMs: clock.monotonicMs() }
    known.set(name, first)
    return clock.monotonicMs() - first.seenMs < first.leftMs
  })
}
