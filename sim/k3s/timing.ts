/** Pairs are the least and the most, in milliseconds. Measured on a real cluster; image pulls are not in them. */
export interface K3sTiming {
  /** From the start of the process. */
  readonly supervisorMs: readonly [number, number]
  readonly apiserverUpMs: readonly [number, number]
  readonly firstReadyMs: readonly [number, number]
  readonly restartReadyMs: readonly [number, number]
  readonly learnerMs: readonly [number, number]
  /** From the promotion of a joining server to its API. */
  readonly joinedReadyMs: readonly [number, number]
  /** A joining server is never Ready before this much after its start. */
  readonly joinNodeMs: readonly [number, number]
  readonly agentNodeMs: readonly [number, number]
  readonly nodeReadyMs: readonly [number, number]
  readonly taintsGoneMs: readonly [number, number]
  readonly learnerTickMs: number
  readonly learnerStuckMs: number
  readonly electionMs: readonly [number, number]
  readonly transferMs: number
  readonly quorumExitMs: number
  readonly restartDelayMs: number
  readonly snapshotMs: readonly [number, number]
  readonly restoreMs: readonly [number, number]
  readonly installMs: readonly [number, number]
  readonly wipeMs: readonly [number, number]
  readonly podStartMs: readonly [number, number]
  readonly stopMs: readonly [number, number]
  readonly vipFailoverMs: readonly [number, number]
}

export const RECORDED_TIMING: K3sTiming = {
  supervisorMs: [450, 550],
  apiserverUpMs: [8_900, 9_300],
  firstReadyMs: [18_600, 19_100],
  restartReadyMs: [8_600, 9_900],
  learnerMs: [3_500, 5_600],
  joinedReadyMs: [8_000, 9_500],
  joinNodeMs: [22_500, 25_500],
  agentNodeMs: [4_400, 6_500],
  nodeReadyMs: [100, 600],
  taintsGoneMs: [5_000, 5_800],
  learnerTickMs: 15_000,
  learnerStuckMs: 300_000,
  electionMs: [5_000, 10_000],
  transferMs: 400,
  quorumExitMs: 10_600,
  restartDelayMs: 5_000,
  snapshotMs: [320, 460],
  restoreMs: [6_500, 6_800],
  installMs: [2_000, 4_000],
  wipeMs: [1_500, 3_000],
  podStartMs: [800, 1_600],
  stopMs: [50, 200],
  vipFailoverMs: [2_000, 5_000],
}
