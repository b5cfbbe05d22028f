import { removeMember } from '../../k3s/etcd.ts'
import { ETCD, hasNetwork, nodeReady } from '../../k3s/kubelet.ts'
import { putOut } from '../../k3s/put-out.ts'
import type { EtcdCluster, World } from '../../world/types.ts'
import { conditionsOf, type KubeObject } from '../object.ts'
import { all, put, remove } from '../store.ts'

const RETRY_MS = 5_000

/** Nodes that are to go take their etcd member with them; those marked for removal lose only that. */
export function keepNodes(world: World, cluster: EtcdCluster, again: () => void): void {
  for (const node of all(cluster.store, '/nodes')) {
    const { annotations = {}, deletionTimestamp } = node.metadata
    if (deletionTimestamp !== undefined) finish(world, cluster, node, again)
    else if (annotations[`${ETCD}/remove`] === 'true') removeOnly(world, cluster, node, again)
    else networkOf(cluster, node)
  }
}

function memberNamed(cluster: EtcdCluster, name: string | undefined) {
  return [...cluster.members.values()].find((member) => member.name === name)
}

/** A mark of a former removal makes K3s believe that the member is gone already: it then stays behind. */
function finish(world: World, cluster: EtcdCluster, node: KubeObject, again: () => void): void {
  const { annotations = {}, finalizers = [], name } = node.metadata
  const marked = annotations[`${ETCD}/removed-node-name`] !== undefined
  const member = marked ? undefined : memberNamed(cluster, annotations[`${ETCD}/node-name`])
  if (member !== undefined && finalizers.length > 0) {
    const { process } = member
    if (removeMember(world, cluster, member.id) !== undefined) {
      world.clock.schedule(world.clock.now() + RETRY_MS, again)
      return
    }
    if (process !== undefined) putOut(process)
  }
  const ours = finalizers.filter((one) => !one.startsWith('wrangler.cattle.io/'))
  if (ours.length === 0) {
    remove(cluster.store, '/nodes', undefined, name)
    remove(cluster.store, 'coordination.k8s.io/leases', 'kube-node-lease', name)
    // The kubelet that still runs does not register again before a restart.
    cluster.kubelets.delete(name)
  } else if (ours.length !== finalizers.length)
    put(cluster.store, '/nodes', { ...node, metadata: { ...node.metadata, finalizers: ours } })
}

function removeOnly(world: World, cluster: EtcdCluster, node: KubeObject, again: () => void): void {
  const {
    [`${ETCD}/remove`]: _,
    [`${ETCD}/node-name`]: memberName,
    [`${ETCD}/node-address`]: address,
    ...annotations
  } = node.metadata.annotations ?? {}
  const member = memberNamed(cluster, memberName)
  const sole = member !== undefined && [...cluster.members.values()].filter(({ learner }) => !learner).length === 1
  if (sole && memberName !== undefined && address !== undefined) {
    const kept = { ...annotations, [`${ETCD}/node-name`]: memberName, [`${ETCD}/node-address`]: address }
    put(cluster.store, '/nodes', { ...node, metadata: { ...node.metadata, annotations: kept } })
    return
  }
  if (member !== undefined) {
    const { process } = member
    if (removeMember(world, cluster, member.id) !== undefined) {
      world.clock.schedule(world.clock.now() + RETRY_MS, again)
      return
    }
    if (process !== undefined) putOut(process)
  }
  const marked = memberName === undefined ? annotations : { ...annotations, [`${ETCD}/removed-node-name`]: memberName }
  put(cluster.store, '/nodes', { ...node, metadata: { ...node.metadata, annotations: marked } })
}

/** A network that came as a DaemonSet makes its node ready, and takes that away when it goes. */
function networkOf(cluster: EtcdCluster, node: KubeObject): void {
  const process = cluster.kubelets.get(node.metadata.name)
  if (process === undefined || process.kubeletSinceMs === undefined || !process.alive) return
  const ready = conditionsOf(node).find(({ type }) => type === 'Ready')
  if (ready === undefined || ready.status === 'Unknown' || ready.message?.startsWith('[')) return
  if (hasNetwork(process, cluster) !== (ready.status === 'True')) nodeReady(process, cluster)
}
