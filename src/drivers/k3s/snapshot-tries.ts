import type { NodeFacts } from '../../k3s/node-program.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterSnapshot, SnapshotTry } from '../../model/observed-cluster.ts'

/** A requested snapshot, and its server's state at that time. */
export interface AskedSnapshot {
  readonly name: string
  readonly node: string
  /** On the monotonic clock. */
  readonly atMs: number
  readonly before: NodeFacts
}

/** Tolerance between two readings of one moment. */
const SLACK_MS = 5_000
/** Older tries add nothing to newer ones. */
const KEPT = 4

export function withTry(tries: readonly AskedSnapshot[], one: AskedSnapshot): readonly AskedSnapshot[] {
  return [...tries, one].slice(-KEPT)
}

/** Returns the tries that still count: no snapshot appeared, and each server is unchanged. */
export function openTries(
  tries: readonly AskedSnapshot[],
  listed: readonly ClusterSnapshot[],
  factsOf: (node: string) => NodeFacts | undefined,
): readonly AskedSnapshot[] {
  const came = tries.findLastIndex(({ name }) =>
    listed.some((snapshot) => snapshot.name.startsWith(name) && snapshot.tokenKept !== 'unknown'),
  )
  return tries.slice(came + 1).filter(({ node, before }) => {
    const now = factsOf(node)
    return now === undefined || isSame(before, now)
  })
}

/** Returns the result of a try. Its job is the last one of its name on that server. */
export function tryNow(
  { name, node, atMs }: AskedSnapshot,
  facts: NodeFacts | undefined,
  steadyMs: number,
): SnapshotTry {
  const ageMs = steadyMs - atMs
  const job = facts?.job?.name === 'snapshot' ? facts.job : undefined
  const failed = whyNot(name, job, facts !== undefined, ageMs)
  return { name, node, ageMs, ...(failed === undefined ? {} : { failed }) }
}

function whyNot(name: string, job: NodeFacts['job'], answers: boolean, ageMs: number): string | undefined {
  if (job?.state === 'failed') return job.message ?? 'no reason given'
  if (!answers) return ageMs < LIMITS.snapshotMs ? undefined : `nothing was heard of ${name} since`
  if (job?.state === 'running' || ageMs < LIMITS.snapshotListedMs) return undefined
  return `K3s does not list ${name}, so nobody can tell which token opens it`
}

function isSame(before: NodeFacts, now: NodeFacts): boolean {
  return (
    before.bootId === now.bootId &&
    before.version === now.version &&
    before.configHash === now.configHash &&
    before.datastore === now.datastore &&
    Math.abs(before.serviceSinceMs - now.serviceSinceMs) < SLACK_MS
  )
}
