import type { ClusterHold } from '../../model/observed-cluster.ts'
import { type ClusterFinding, holdFor, merge, NOTHING } from './finding.ts'
import { type ClusterSituation, localOf, type NodeView } from './view.ts'

/**
 * Declared nodes that let croft do nothing, or have no free disk space. Such a node can stay Ready for long, so the
 * problem would show only when the next step on it fails.
 */
export function nodesRefusing(view: ClusterSituation): ClusterFinding {
  if (view.observed.requests.hold !== undefined) return NOTHING
  const holds = [...view.servers, ...view.agents].flatMap((node) => (node.spec === undefined ? [] : holdsOf(node)))
  return merge(holds.map(holdFor))
}

function holdsOf(node: NodeView): readonly ClusterHold[] {
  const { name, refuses } = node
  const full = localOf(node)?.full ?? []
  return [
    ...(refuses === undefined
      ? []
      : [
          {
            node: name,
            guard: 'way-in',
            reason: `croft can do nothing on ${name}: ${refuses.why}`,
            allow: NEXT[refuses.by],
          },
        ]),
    ...full.map(({ path, freeKb }) => ({
      node: name,
      guard: 'disk-full',
      reason: `the disk of ${name} is full: ${Math.floor(freeKb / 1024)} MiB are free at ${path}`,
      allow: `make room there (k3s crictl rmi --prune, journalctl --vacuum-size=100M, old snapshots) or give it a larger disk; K3s, etcd and croft cannot write`,
    })),
  ]
}

const NEXT = {
  'host-key':
    'compare the fingerprint on its own console; if it was reinstalled, put its new line into ssh.hostKeys in Git; croft looks again in each pass',
  denied: 'mend the login or its sudo as the reason says; croft doctor checks it, and croft looks again in each pass',
} as const
