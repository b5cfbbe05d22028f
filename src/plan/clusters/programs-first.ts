import { compareVersions } from '../../k3s/version.ts'
import { LIMITS } from '../../lib/limits.ts'
import { FETCH_BESIDE } from '../../model/observed-cluster.ts'
import { type ClusterFinding, holdFor, merge, NOTHING, stepOn, waitFor } from './finding.ts'
import type { WantedChange } from './rollout.ts'
import { isLeftAsFound } from './taken-over.ts'
import { type ClusterSituation, kubeOf, localOf, type NodeView, sleeps } from './view.ts'

/**
 * Downloads and verifies a release on each node that will run it, beside the current program, before the first node is
 * cordoned: an unavailable release leaves the cluster as it is. Empty if done or not needed.
 */
export function programsFirst(
  view: ClusterSituation,
  wanted: WantedChange | undefined,
  nodes: readonly NodeView[],
): ClusterFinding {
  if (wanted?.purpose !== 'upgrade') return NOTHING
  const { target } = wanted
  return merge(nodes.filter((node) => runsLater(view, node, target)).map((node) => fetchedOn(view, node, target)))
}

function runsLater(view: ClusterSituation, node: NodeView, target: string): boolean {
  const kube = kubeOf(node)
  if (kube === undefined || node.spec === undefined || node.becomes !== undefined) return false
  return !sleeps(node) && !isLeftAsFound(view, node) && compareVersions(kube.version, target) < 0
}

function fetchedOn(view: ClusterSituation, node: NodeView, version: string): ClusterFinding {
  const local = localOf(node)
  if (local === undefined) return unseen(view, node, version)
  if (local.fetched === version || local.version === version) return NOTHING
  const fetching = stepOn(view, node, 'prepare-k3s', {
    version,
    target: FETCH_BESIDE,
    summary: `fetch K3s ${version} on ${node.name}`,
    reason: 'the release is fetched and proved on every node before the first is cordoned',
    awaits: `the program of ${version} on ${node.name}`,
  })
  const { notFetched } = local
  if (notFetched?.version !== version) return fetching
  const held = holdFor({
    node: node.name,
    guard: 'program',
    reason: `K3s ${version} cannot be had on ${node.name}: ${notFetched.why}; no node was cordoned for it`,
    allow: `correct version, artifacts or checksums of ${view.spec.name} in Git, or clear what ${node.name} names; croft tries again every ${Math.round(LIMITS.programAgainMs / 60_000)} min`,
  })
  return notFetched.ageMs < LIMITS.programAgainMs ? held : merge([held, fetching])
}

/** An unreachable server delays the cordon of the others. An unreachable agent waits for its own turn. */
function unseen(view: ClusterSituation, node: NodeView, version: string): ClusterFinding {
  const replaced = view.spec.upgrade.method === 'replace'
  const later = node.role === 'agent' && view.servers.some((server) => runsLater(view, server, version))
  if (replaced || later) return NOTHING
  const awaits = `${node.name} to answer, so that K3s ${version} can be fetched there`
  return waitFor({ node: node.name, awaits, sinceMs: view.nowMs })
}
