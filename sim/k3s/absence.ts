import { compareVersions } from '../../src/k3s/version.ts'
import { conditionsOf, stamp, tree, trees, withCondition } from '../kubernetes/object.ts'
import { all, put, update } from '../kubernetes/store.ts'
import { between } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { isWritable } from './etcd.ts'
import { isPodReady } from './kubelet.ts'

const LEASE_MS = 10_000

/** Returns when a kubelet last renewed its lease, computed on demand so that it needs no timer. */
export function lastRenewMs(process: K3sProcess, nowMs: number): number {
  const since = process.kubeletSinceMs ?? nowMs
  return nowMs - ((nowMs - since) % LEASE_MS)
}

/** Stops the kubelet. The cluster notices when its lease expires. */
export function kubeletStops(process: K3sProcess): void {
  const { cluster, kubeletSinceMs } = process
  if (cluster === undefined || kubeletSinceMs === undefined) return
  const { world } = process.computer
  if (cluster.kubelets.get(process.nodeName) === process) cluster.kubelets.delete(process.nodeName)
  const graceMs = compareVersions(process.version, 'v1.32.0+k3s1') < 0 ? 40_000 : 50_000
  const lateMs = between(world.random, [0, 5_000])
  const seenMs = Math.max(lastRenewMs(process, world.clock.now()) + graceMs + lateMs, world.clock.now() + 1_000)
  world.clock.schedule(seenMs, () => noticeAbsence(process, cluster))
}

function noticeAbsence(process: K3sProcess, cluster: EtcdCluster): void {
  const { world } = process.computer
  if (cluster.kubelets.has(process.nodeName)) return
  if (!isWritable(cluster) || cluster.manager === undefined) {
    // The next leader of the controllers gives every lease a full term first.
    if (cluster.members.size > 0)
      cluster.waiting.add(() => world.clock.schedule(world.clock.now() + 40_000, () => noticeAbsence(process, cluster)))
    return
  }
  markUnreachable(world.clock.now(), cluster, process.nodeName)
}

function markUnreachable(nowMs: number, cluster: EtcdCluster, name: string): void {
  const at = stamp(nowMs)
  update(cluster.store, '/nodes', undefined, name, (node) => {
    const conditions = conditionsOf(node).map((condition) =>
      condition.type === 'EtcdIsVoter' || condition.status === 'Unknown'
        ? condition
        : {
            ...condition,
            status: 'Unknown',
            lastTransitionTime: at,
            reason: 'NodeStatusUnknown',
            message: 'Kubelet stopped posting node status.',
          },
    )
    const spec = tree(node.spec)
    const kept = trees(spec.taints).filter(
      ({ key }) => key !== 'node.kubernetes.io/unreachable' && key !== 'node.kubernetes.io/not-ready',
    )
    const gone = ['NoSchedule', 'NoExecute'].map((effect) => ({
      key: 'node.kubernetes.io/unreachable',
      effect,
      timeAdded: at,
    }))
    return { ...node, spec: { ...spec, taints: [...kept, ...gone] }, status: { ...tree(node.status), conditions } }
  })
  for (const pod of all(cluster.store, '/pods')) {
    if (tree(pod.spec).nodeName !== name || !isPodReady(pod)) continue
    const conditions = withCondition(conditionsOf(pod), { type: 'Ready', status: 'False', lastTransitionTime: at })
    put(cluster.store, '/pods', { ...pod, status: { ...tree(pod.status), conditions } })
  }
}
