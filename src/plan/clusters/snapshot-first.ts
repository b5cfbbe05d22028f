import { askedForMs } from '../../k3s/snapshot-name.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterSnapshot, SnapshotTry } from '../../model/observed-cluster.ts'
import { type ClusterFinding, holdFor, merge, NOTHING, stepOn, waitFor } from './finding.ts'
import { isDue } from './orders.ts'
import { leaves } from './removals.ts'
import { type ClusterSituation, FILE_MEMBER, kubeOf, type NodeView } from './view.ts'

/** After this many failed snapshots croft reports K3s's error and retries rarely. */
const ENOUGH_TRIES = 2

/**
 * Requires a snapshot since the last change of a server, with a known token, in a place that survives: not on the disk
 * of the server that is `leaving`. Recognised by its name, which has croft's time of the request, since servers' clocks
 * differ from croft's.
 */
export function snapshotFirst(view: ClusterSituation, leaving: NodeView | undefined): ClusterFinding {
  const { snapshots, snapshotTries = [] } = view.observed
  const file = fileServer(view)
  if (file !== undefined) return keptInFile(view, file)
  const [server] = takers(view, leaving, snapshotTries)
  if (server === undefined)
    return waitFor({ awaits: 'a server that votes, to take a snapshot of etcd', sinceMs: view.nowMs })
  if (snapshots === 'unknown') return waitFor({ awaits: 'the list of snapshots of etcd', sinceMs: view.nowMs })
  const fresh = snapshots.filter((snapshot) => isFresh(view, snapshot) && isStaying(view, snapshot, leaving))
  if (fresh.some(({ tokenKept }) => tokenKept === 'yes')) return NOTHING
  // croft reads the current token before a snapshot. If that did not help, another one would only fill the disk.
  const vain = fresh.find(({ tokenKept }) => tokenKept === 'no')
  if (vain !== undefined) return withoutToken(view, vain, server)
  return asked(view, server, snapshotTries)
}

function asked(view: ClusterSituation, server: NodeView, tries: readonly SnapshotTry[]): ClusterFinding {
  const pending = tries.find(({ failed }) => failed === undefined)
  if (pending !== undefined) {
    const sinceMs = view.nowMs - pending.ageMs
    return waitFor({
      node: pending.node,
      awaits: `the snapshot ${pending.name} on ${pending.node}`,
      sinceMs,
      untilMs: sinceMs + LIMITS.snapshotMs,
    })
  }
  const taking = stepOn(view, server, 'snapshot', {
    summary: `take a snapshot of etcd on ${server.name}`,
    reason: 'there is none from before this step',
    awaits: 'a snapshot with its token kept',
  })
  const last = tries.at(-1)
  if (tries.length < ENOUGH_TRIES || last === undefined) return taking
  const held = holdFor({
    node: last.node,
    guard: 'snapshot',
    reason: `no snapshot of etcd was taken in ${tries.length} tries, the last on ${last.node}: ${last.failed}`,
    allow: `clear what ${last.node} names; croft tries again when it changes, and every ${Math.round(LIMITS.snapshotAgainMs / 60_000)} min`,
  })
  return last.ageMs < LIMITS.snapshotAgainMs ? held : merge([held, taking])
}

function isFresh(view: ClusterSituation, { name }: ClusterSnapshot): boolean {
  const atMs = askedForMs(name)
  if (atMs === undefined || atMs > view.nowMs) return false
  return atMs > lastChange(view) && view.nowMs - atMs <= LIMITS.snapshotFreshMs
}

/** Reports whether its place survives the coming change. */
function isStaying(
  view: ClusterSituation,
  { location, node }: ClusterSnapshot,
  leaving: NodeView | undefined,
): boolean {
  const { backup } = view.spec
  if (location?.startsWith('s3://') === true || (backup !== undefined && 'nfs' in backup.to)) return true
  return staying(view, leaving).some(({ name }) => name === node)
}

/** Returns the servers that remain afterwards, or a single server itself. */
function staying(view: ClusterSituation, leaving: NodeView | undefined): readonly NodeView[] {
  const others = view.servers.filter((node) => node.name !== leaving?.name && !leaves(node) && !isDue(view, node))
  return others.length === 0 ? view.servers : others
}

/** Returns the servers that can take it, those with the fewest failures first. */
function takers(
  view: ClusterSituation,
  leaving: NodeView | undefined,
  tries: readonly SnapshotTry[],
): readonly NodeView[] {
  const failures = (node: NodeView) => tries.filter((one) => one.node === node.name).length
  return staying(view, leaving)
    .filter(({ member }) => member?.up === 'yes' && !member.learner)
    .sort((a, b) => failures(a) - failures(b))
}

function withoutToken(view: ClusterSituation, { name, tokenHash, node }: ClusterSnapshot, server: NodeView) {
  return holdFor({
    guard: 'snapshot',
    reason: `the snapshot ${name} was taken with a token (${tokenHash ?? 'unknown'}) that is not kept, so nobody could restore it`,
    allow: `read the present token from the server where it was rotated: croft cluster recover ${view.spec.name} --from ${node ?? server.name}`,
  })
}

/** The server that keeps the data of its cluster in a file. */
function fileServer(view: ClusterSituation): NodeView | undefined {
  return view.servers.find(({ member }) => member?.id === FILE_MEMBER)
}

/** K3s takes snapshots only of etcd, and a copy of a file during writes is corrupt. */
function keptInFile(view: ClusterSituation, { name }: NodeView): ClusterFinding {
  return holdFor({ node: name, guard: 'datastore', ...fileAdvice(view.spec.name, name) })
}

/** Why there are no snapshots of a server with SQLite, and what to do. */
export function fileAdvice(cluster: string, server: string): { readonly reason: string; readonly allow: string } {
  return {
    reason: `${server} keeps the data of ${cluster} in SQLite, and K3s takes snapshots of etcd alone ("etcd datastore disabled"): there would be no way back`,
    allow: `move ${server} to etcd: write "cluster-init: true" into /etc/rancher/k3s/config.yaml there and restart K3s once, which copies its data over`,
  }
}

function lastChange(view: ClusterSituation): number {
  return Math.max(0, ...view.servers.map((node) => kubeOf(node)?.changedMs ?? 0))
}
