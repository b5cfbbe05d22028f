import type { Scenario } from './scenarios.ts'

/** Calls that the daemon serves at a time. */
const WORKERS = 3

/**
 * The least time that the daemon itself needs for what was asked of it: the lock of its busiest storage lets one disk be
 * made or removed at a time, and its workers serve three calls at a time. A faster program asks for less; no program
 * gets the same sooner.
 */
export function lowerBoundMs(
  { calls, storageBusyMs }: { readonly calls: number; readonly storageBusyMs: Readonly<Record<string, number>> },
  { callMs: [least, most] }: Pick<Scenario['timing'], 'callMs'>,
): number {
  const workersMs = (calls * (least + most)) / 2 / WORKERS
  return Math.max(workersMs, ...Object.values(storageBusyMs))
}
