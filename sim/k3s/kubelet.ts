import { compareVersions } from '../../src/k3s/version.ts'
import {
  type Condition,
  conditionsOf,
  type KubeObject,
  microStamp,
  selects,
  stamp,
  text,
  tree,
  trees,
  withCondition,
} from '../kubernetes/object.ts'
import { all, find, put, update } from '../kubernetes/store.ts'
import { between, uuid } from '../world/chance.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { flagText, isSet } from './config-file.ts'
import { CLIENT_KUBELET, keepsFile, kubeletLeaf } from './disk.ts'
import { planTick, whenWritable } from './etcd.ts'
import {
  argumentAnnotations,
  declaredLabels,
  flannelAnnotations,
  kubeletStatus,
  NO_CNI,
  NOT_READY,
  newNode,
  PRESSURES,
  UNINITIALIZED,
} from './node-object.ts'
import { secretName } from './node-password.ts'
import { after } from './process.ts'

export const ETCD = 'etcd.k3s.cattle.io'

/** The kubelet registers its Node, or takes up the one that is there. */
export function kubeletStarts(process: K3sProcess, cluster: EtcdCluster): void {
  const { world } = process.computer
  const { timing } = world.k3s
  process.cluster = cluster
  if (isSet(process.flags, 'disable-agent')) return
  whenWritable(cluster, () => {
    if (!process.alive || process.phase === 'removed' || !process.computer.isUp()) return
    cluster.kubelets.set(process.nodeName, process)
    process.kubeletSinceMs = world.clock.now()
    // An agent has it from its join on.
    const { files } = process.computer.machine
    if (process.role === 'server') files.write(CLIENT_KUBELET, kubeletLeaf(files, process.nodeName, world.clock.now()))
    const { store } = cluster
    const known = find(store, '/nodes', undefined, process.nodeName)
    if (known === undefined) put(store, '/nodes', newNode(process))
    else takeUp(process, cluster)
    lease(process, cluster)
    const readyMs = known === undefined ? between(world.random, timing.nodeReadyMs) : 1_400
    later(process, cluster, Math.min(300, readyMs), () => annotate(process, cluster, argumentAnnotations(process)))
    later(process, cluster, readyMs, () => nodeReady(process, cluster))
    if (process.role === 'server') later(process, cluster, 1_300, () => etcdMetadata(process, cluster))
    later(process, cluster, 1_450, () => addFinalizers(process, cluster))
    const taintsMs = known === undefined ? between(world.random, timing.taintsGoneMs) : 2_400
    later(process, cluster, taintsMs, () => cloudReady(process, cluster))
  })
}

/** At that moment, or as soon after it as something can be written. */
function later(process: K3sProcess, cluster: EtcdCluster, ms: number, act: () => void): void {
  after(process, ms, () =>
    whenWritable(cluster, () => {
      if (process.alive && process.phase !== 'removed' && cluster.kubelets.get(process.nodeName) === process) act()
    }),
  )
}

function takeUp(process: K3sProcess, cluster: EtcdCluster): void {
  update(cluster.store, '/nodes', undefined, process.nodeName, (node) => ({
    ...node,
    metadata: {
      ...node.metadata,
      labels: { ...node.metadata.labels, ...declaredLabels(process) },
      annotations: { ...node.metadata.annotations, 'alpha.kubernetes.io/provided-node-ip': process.nodeIps.join(',') },
    },
    status: kubeletStatus(process, conditionsOf(node), process.computer.hostname(), node.status),
  }))
}

export function annotate(process: K3sProcess, cluster: EtcdCluster, annotations: Record<string, string>): void {
  update(cluster.store, '/nodes', undefined, process.nodeName, (node) => ({
    ...node,
    metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, ...annotations } },
  }))
}

/** Has the node a network for pods: K3s' own, or one that runs on it as a DaemonSet? */
export function hasNetwork(process: K3sProcess, cluster: EtcdCluster): boolean {
  const backend =
    process.role === 'server'
      ? flagText(process.flags, 'flannel-backend')
      : (cluster.config.get('flannel-backend')?.at(-1) ?? '')
  if (backend !== 'none') return true
  for (const pod of all(cluster.store, '/pods')) {
    if (tree(pod.spec).nodeName !== process.nodeName || !CNI.test(pod.metadata.name)) continue
    if (isPodReady(pod)) return true
  }
  return false
}

const CNI = /^(cilium-(?!operator|envoy)|calico-node|kube-flannel|canal|antrea-agent|kube-router)/

export function isPodReady(pod: KubeObject): boolean {
  return conditionsOf(pod).some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** Asked at the start, and whenever a network may have come or gone. */
export function nodeReady(process: K3sProcess, cluster: EtcdCluster): void {
  const nowMs = process.computer.world.clock.now()
  const at = { lastHeartbeatTime: stamp(nowMs), lastTransitionTime: stamp(nowMs) }
  const network = hasNetwork(process, cluster)
  const ready: Condition = network
    ? { type: 'Ready', status: 'True', ...at, reason: 'KubeletReady', message: 'kubelet is posting ready status' }
    : { type: 'Ready', status: 'False', ...at, reason: 'KubeletNotReady', message: NO_CNI }
  update(cluster.store, '/nodes', undefined, process.nodeName, (node) => {
    const before = conditionsOf(node)
    const now = before.find(({ type }) => type === 'Ready')
    if (now?.status === ready.status && now.message === ready.message) return undefined
    let conditions = before
    for (const [type, reason, message] of PRESSURES)
      conditions = withCondition(conditions, { type, status: 'False', ...at, reason, message })
    return { ...node, status: { ...tree(node.status), conditions: withCondition(conditions, ready) } }
  })
  // A new node waits for more than its network; one that had everything is free as soon as that is back.
  const known = tree(find(cluster.store, '/nodes', undefined, process.nodeName)?.spec).providerID !== undefined
  if (network && known) after(process, 2_400, () => whenWritable(cluster, () => cloudReady(process, cluster)))
}

/** The cloud controller and the node controller have seen it: addresses, pod range, taints. */
function cloudReady(process: K3sProcess, cluster: EtcdCluster): void {
  if (!process.alive || process.phase === 'removed') return
  const withoutCloud = isSet(process.flags, 'disable-cloud-controller')
  update(cluster.store, '/nodes', undefined, process.nodeName, (node) => {
    const spec = tree(node.spec)
    const isReady = conditionsOf(node).some(({ type, status }) => type === 'Ready' && status === 'True')
    const taints = trees(spec.taints).filter(
      ({ key }) =>
        !(isReady && (key === NOT_READY.key || key === 'node.kubernetes.io/unreachable')) &&
        (withoutCloud || key !== UNINITIALIZED.key),
    )
    const { taints: _, ...rest } = spec
    return {
      ...node,
      metadata: {
        ...node.metadata,
        labels: {
          ...node.metadata.labels,
          'beta.kubernetes.io/instance-type': 'k3s',
          'node.kubernetes.io/instance-type': 'k3s',
        },
        annotations: {
          ...node.metadata.annotations,
          ...flannelAnnotations(process),
          'node.alpha.kubernetes.io/ttl': '0',
        },
      },
      spec: {
        ...(rest.podCIDR === undefined ? podRange(cluster) : {}),
        providerID: `k3s://${process.nodeName}`,
        ...rest,
        ...(taints.length === 0 ? {} : { taints }),
      },
      status: kubeletStatus(process, conditionsOf(node), process.computer.hostname(), node.status),
    }
  })
}

/** The next /24 of the cluster's pod range, and of its second one where there are two. */
function podRange(cluster: EtcdCluster): Record<string, unknown> {
  const number = cluster.podCidrs++
  const ranges = (cluster.config.get('cluster-cidr')?.at(-1) ?? '10.42.0.0/16').split(',')
  const podCIDRs = ranges.map((range) => {
    if (range.includes(':')) return `${range.replace(/::\/.*$/, '')}:${number.toString(16)}::/64`
    const [a = '10', b = '42', c = '0'] = range.split('.')
    return `${a}.${b}.${Number(c) + number}.0/24`
  })
  return { podCIDR: podCIDRs[0], podCIDRs }
}

/** Which etcd member it is. A mark of a former removal stays, and later stands in the way of a clean removal. */
function etcdMetadata(process: K3sProcess, cluster: EtcdCluster): void {
  const member = cluster.members.get(process.member ?? '')
  const old = compareVersions(process.version, 'v1.34.1+k3s1') < 0
  const nowMs = process.computer.world.clock.now()
  const etcd = !keepsFile(process.computer.machine.files)
  update(cluster.store, '/nodes', undefined, process.nodeName, (node) => ({
    ...node,
    metadata: {
      ...node.metadata,
      labels: {
        ...node.metadata.labels,
        'node-role.kubernetes.io/control-plane': 'true',
        ...(etcd ? { 'node-role.kubernetes.io/etcd': 'true' } : {}),
        ...(old ? { 'node-role.kubernetes.io/master': 'true' } : {}),
      },
      annotations: {
        ...node.metadata.annotations,
        ...(member === undefined || !etcd
          ? {}
          : { [`${ETCD}/node-address`]: member.address, [`${ETCD}/node-name`]: member.name }),
        [`${ETCD}/local-snapshots-timestamp`]: stamp(nowMs),
        ...(process.encryptionHash === undefined ? {} : { 'k3s.io/encryption-config-hash': process.encryptionHash }),
      },
    },
  }))
  // The first server tells of itself quickly; for the others it is the leader's next round.
  if (cluster.members.size === 1)
    after(process, 1_700, () => whenWritable(cluster, () => tellVoters(process.computer.world.clock.now(), cluster)))
  planTick(process.computer.world, cluster)
}

function addFinalizers(process: K3sProcess, cluster: EtcdCluster): void {
  const uid = find(cluster.store, '/nodes', undefined, process.nodeName)?.metadata.uid ?? ''
  // With the Node goes its password.
  update(cluster.store, '/secrets', 'kube-system', secretName(process.nodeName), (secret) => ({
    ...secret,
    metadata: {
      ...secret.metadata,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: process.nodeName, uid }],
    },
  }))
  const wanted = ['wrangler.cattle.io/managed-etcd-controller', 'wrangler.cattle.io/node']
  update(cluster.store, '/nodes', undefined, process.nodeName, (node) => {
    const has = node.metadata.finalizers ?? []
    if (node.metadata.deletionTimestamp !== undefined || wanted.every((one) => has.includes(one))) return undefined
    return { ...node, metadata: { ...node.metadata, finalizers: [...new Set([...has, ...wanted])] } }
  })
}

/** The condition EtcdIsVoter of every Node, from the list of members. Answers whether one was not yet right. */
export function tellVoters(nowMs: number, cluster: EtcdCluster): boolean {
  let changed = false
  const at = { lastHeartbeatTime: stamp(nowMs), lastTransitionTime: stamp(nowMs) }
  const byName = new Map([...cluster.members.values()].map((member) => [member.name, member]))
  for (const node of all(cluster.store, '/nodes')) {
    if (node.metadata.labels?.['node-role.kubernetes.io/etcd'] !== 'true') continue
    const member = byName.get(node.metadata.annotations?.[`${ETCD}/node-name`] ?? '')
    const [status, reason, message] =
      member === undefined
        ? ['False', 'NotAMember', 'Node is not a member of the etcd cluster']
        : member.learner
          ? ['False', 'MemberIsLearner', 'Node is not a voting member of the etcd cluster']
          : ['True', 'MemberNotLearner', 'Node is a voting member of the etcd cluster']
    const before = conditionsOf(node).find(({ type }) => type === 'EtcdIsVoter')
    if (before?.reason === reason) continue
    changed = true
    const condition = { type: 'EtcdIsVoter', status, ...at, reason, message }
    const others = conditionsOf(node).filter(({ type }) => type !== 'EtcdIsVoter')
    const conditions = before === undefined ? [condition, ...others] : withCondition(conditionsOf(node), condition)
    put(cluster.store, '/nodes', { ...node, status: { ...tree(node.status), conditions } })
  }
  return changed
}

function lease(process: K3sProcess, cluster: EtcdCluster): void {
  const { world } = process.computer
  const { nodeName } = process
  const node = find(cluster.store, '/nodes', undefined, nodeName)
  const known = find(cluster.store, 'coordination.k8s.io/leases', 'kube-node-lease', nodeName)
  put(cluster.store, 'coordination.k8s.io/leases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: known?.metadata ?? {
      name: nodeName,
      namespace: 'kube-node-lease',
      uid: uuid(world.random),
      creationTimestamp: stamp(world.clock.now()),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid: node?.metadata.uid ?? '' }],
    },
    spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime: microStamp(world.clock.now()) },
  })
}

export function podsOfNode(cluster: EtcdCluster, name: string, selector?: unknown): readonly KubeObject[] {
  return all(cluster.store, '/pods').filter(
    (pod) => text(tree(pod.spec).nodeName) === name && selects(selector ?? {}, pod.metadata.labels),
  )
}
