import type { Clock } from '../../lib/clock.ts'
import type {
  CheckOutput,
  ObservedPowerHold,
  ObservedPowerHost,
  PowerPlan,
  UpsReading,
} from '../../model/observed-power.ts'
import type { PowerEnergy, PowerRequests } from '../../model/power.ts'
import type { KeptAnswers } from './kept-answers.ts'

/** The engine's memory about power. Lost with the process: then all times restart. */
export interface PowerMemory {
  /** When each wait was first seen, on the monotonic clock. */
  readonly waits: Map<string, number>
  /** When each step last started, on the monotonic clock. */
  readonly begun: Map<string, number>
  /** When each order and each hold of a person ends, on the monotonic clock, as computed when it was first seen. */
  readonly ends: Map<string, number>
  readonly people: KeptAnswers<readonly ObservedPowerHold[]>
  readonly ups: KeptAnswers<UpsReading | 'unknown'>
  readonly hosts: KeptAnswers<Pick<ObservedPowerHost, 'power' | 'watts'>>
  readonly checks: KeptAnswers<CheckOutput>
  /** The last plan of each Power. */
  readonly looks: Map<string, PowerPlan>
  /** Today's usage, when it was last counted, and when it was last stored. */
  readonly energy: Map<string, { readonly energy: PowerEnergy; readonly atMs: number; readonly writtenMs: number }>
}

export function emptyPowerMemory(): PowerMemory {
  return {
    waits: new Map(),
    begun: new Map(),
    ends: new Map(),
    people: new Map(),
    ups: new Map(),
    hosts: new Map(),
    checks: new Map(),
    looks: new Map(),
    energy: new Map(),
  }
}

/**
 * Returns the requests and holds that still apply. Their remaining time counts from when they were first seen, on the
 * monotonic clock: setting the wall clock forward ends no hold, and setting it back makes none last longer.
 */
export function unexpired(
  power: string,
  { wanted, holds }: PowerRequests,
  memory: PowerMemory,
  clock: WallAndSteady,
): PowerRequests {
  const counts = (name: string, untilMs: number | undefined) =>
    untilMs === undefined || leftMs(`${power} ${name} ${untilMs}`, untilMs, memory, clock) > 0
  const request = wanted !== undefined && counts(`${wanted.by} ${wanted.atMs}`, wanted.untilMs) ? { wanted } : {}
  return { ...request, holds: holds.filter(({ by, sinceMs, untilMs }) => counts(`${by} ${sinceMs}`, untilMs)) }
}

type WallAndSteady = Pick<Clock, 'now' | 'monotonicMs'>

function leftMs(name: string, untilMs: number, { ends }: PowerMemory, clock: WallAndSteady): number {
  const endMs = ends.get(name) ?? clock.monotonicMs() + untilMs - clock.now()
  ends.set(name, endMs)
  return endMs - clock.monotonicMs()
}
