import { LIMITS } from '../lib/limits.ts'

/** Resources of an estate, and of everything that its process looks after. */
export interface ResourceCount {
  readonly own: number
  readonly all: number
}

interface MadePass {
  readonly settled: boolean
  readonly operated?: boolean
  readonly events: readonly unknown[]
  readonly lookAgainMs: number
}

/**
 * Returns the delay of the next pass. `phase`, from 0 to 1, keeps the estates of one process apart: they start
 * together, and would otherwise all look in the same second of each minute and delay each other's changes.
 */
export function restAfter(made: MadePass, load: ResourceCount, phase = 0): number {
  if (!made.settled || made.operated === true) return made.lookAgainMs
  // After writes start the next pass soon: it is a full one, and later ones are cheap once one has no changes.
  const longestMs = made.events.length > 0 ? made.lookAgainMs : Math.max(made.lookAgainMs, restMs(load))
  return Math.round(longestMs * (1 - phase / 4))
}

/** Returns this estate's share of close looks: a process makes as many per time at any interval of passes. */
export function sweepReads(load: ResourceCount): number {
  const share = load.all === 0 ? 1 : load.own / load.all
  return Math.ceil((share * LIMITS.sweepReads * restMs(load)) / LIMITS.sweepIntervalMs)
}

/** Returns the pause between passes of a settled estate: ten seconds, with many machines up to a minute. */
function restMs({ all }: ResourceCount): number {
  const { sweepIntervalMs, restPerResourceMs, longestRestMs } = LIMITS
  return Math.min(longestRestMs, Math.max(sweepIntervalMs, all * restPerResourceMs))
}
