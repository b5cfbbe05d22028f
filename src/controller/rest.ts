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
 * How long after a pass the next one is due. `phase`, from 0 to 1, keeps the estates of one process apart: they begin
 * together, and would otherwise all look in the same second of each minute, when a change has to wait for all of them.
 */
export function restAfter(made: MadePass, load: ResourceCount, phase = 0): number {
  if (!made.settled || made.operated === true) return made.lookAgainMs
  // What it wrote makes the next pass a whole one, and only a pass without news makes those after it cheap: it comes soon.
  const longestMs = made.events.length > 0 ? made.lookAgainMs : Math.max(made.lookAgainMs, restMs(load))
  return Math.round(longestMs * (1 - phase / 4))
}

/** The same number of close looks of a process in the same time, however seldom there is a pass; this estate's share. */
export function sweepReads(load: ResourceCount): number {
  const share = load.all === 0 ? 1 : load.own / load.all
  return Math.ceil((share * LIMITS.sweepReads * restMs(load)) / LIMITS.sweepIntervalMs)
}

/** How long a settled estate is left alone: ten seconds, and in a process with many machines up to a minute. */
function restMs({ all }: ResourceCount): number {
  const { sweepIntervalMs, restPerResourceMs, longestRestMs } = LIMITS
  return Math.min(longestRestMs, Math.max(sweepIntervalMs, all * restPerResourceMs))
}
