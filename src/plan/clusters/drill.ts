import { lastRunMs } from '../../k3s/schedule.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ClusterDecision, ObservedCluster } from '../../model/observed-cluster.ts'
import { judgeBackups } from './backup.ts'

/** The stored state of one cluster's drills. */
export interface DrillState {
  /** When the last drill started. */
  readonly lastMs?: number
  /** The drill that is running. */
  readonly run?: DrillRun
  readonly result?: DrillResult
}

export interface DrillRun {
  readonly snapshot: string
  readonly path: string
  /** The server that has the file. */
  readonly server: string
  readonly sinceMs: number
  /** Index of the next step from 0, since when it is next, and whether it has started. */
  readonly step: number
  readonly stepSinceMs: number
  readonly begun: boolean
  /** Progress of a long step. */
  readonly progress?: string
  /** Output of the restored copy. */
  readonly said?: string
}

export interface DrillResult {
  readonly atMs: number
  readonly snapshot: string
  readonly proved: boolean
  /** What the drill proved, or why it failed. */
  readonly message: string
}

/**
 * Returns the drill that is due: its schedule has fired since the last one, the cluster is healthy and idle, and a
 * restorable backup exists.
 */
export function dueDrill(
  spec: ClusterSpec,
  observed: ObservedCluster,
  decision: Pick<ClusterDecision, 'phase' | 'steps' | 'waits'>,
  state: DrillState,
  nowMs: number,
): DrillRun | undefined {
  const { drill } = spec.backup ?? {}
  if (drill === undefined || state.run !== undefined || observed.requests.hold !== undefined) return undefined
  if (decision.phase !== 'Ready' || decision.steps.length + decision.waits.length > 0) return undefined
  const dueMs = lastRunMs(drill.schedule, nowMs)
  const sinceMs = state.lastMs ?? observed.identity?.recordedMs
  if (dueMs === undefined || sinceMs === undefined || dueMs <= sinceMs || observed.snapshots === 'unknown')
    return undefined
  const usable = new Set(
    judgeBackups(observed.snapshots).flatMap(({ name, usable: is }) => (is === 'yes' ? [name] : [])),
  )
  const newest = [...observed.snapshots]
    .sort((a, b) => b.atMs - a.atMs)
    .find(({ name, location, node }) => usable.has(name) && location?.startsWith(FILE) === true && node !== undefined)
  if (newest?.node === undefined || newest.location === undefined) return undefined
  return {
    snapshot: newest.name,
    path: newest.location.slice(FILE.length),
    server: newest.node,
    sinceMs: nowMs,
    step: 0,
    stepSinceMs: nowMs,
    begun: false,
  }
}

const FILE = 'file://'

/** Ends a drill with one sentence about what it proved. */
export function endedDrill(
  run: DrillRun,
  problem: string | undefined,
  nowMs: number,
): DrillState & { readonly result: DrillResult } {
  const seconds = Math.round((nowMs - run.sinceMs) / 1000)
  const message =
    problem === undefined
      ? `${run.snapshot} was restored on a machine of its own in ${seconds} s: ${run.said ?? 'its API answered'}`
      : `${run.snapshot} could not be restored: ${problem}`
  return {
    lastMs: run.sinceMs,
    result: { atMs: nowMs, snapshot: run.snapshot, proved: problem === undefined, message },
  }
}
