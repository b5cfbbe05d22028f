import { isSet } from '../../k3s/config-file.ts'
import { hasNetwork, isPodReady } from '../../k3s/kubelet.ts'
import { serverAt } from '../../k3s/network.ts'
import { between } from '../../world/chance.ts'
import type { EtcdCluster, K3sProcess, World } from '../../world/types.ts'
import { whyHelmFails } from '../charts/repositories.ts'
import {
  type Condition,
  conditionsOf,
  type KubeObject,
  list,
  stamp,
  text,
  tree,
  trees,
  withCondition,
} from '../object.ts'
import { all, find, put, remove, update } from '../store.ts'
import { endPod } from './owned-pods.ts'
import { tellOfPod } from './pod-events.ts'
import { place } from './scheduling.ts'

/** Pods are given a node, are started by its kubelet, and end. A pod without a running kubelet stays as it is. */
export function keepPods(world: World, cluster: EtcdCluster, again: () => void): void {
  const pods = all(cluster.store, '/pods')
  if (pods.length === 0) return
  const nodes = all(cluster.store, '/nodes')
  const names = new Set(nodes.map(({ metadata }) => metadata.name))
  for (const pod of pods) {
    const node = text(tree(pod.spec).nodeName)
    if (node === '') schedule(world, cluster, pod, nodes, pods)
    else if (!names.has(node)) remove(cluster.store, '/pods', pod.metadata.namespace, pod.metadata.name)
    else
      onNode(
        world,
        cluster,
        again,
        pod,
        cluster.kubelets.get(node),
        nodes.find(({ metadata }) => metadata.name === node),
      )
  }
}

function schedule(
  world: World,
  cluster: EtcdCluster,
  pod: KubeObject,
  nodes: readonly KubeObject[],
  pods: readonly KubeObject[],
): void {
  const now = stamp(world.clock.now())
  const { node, message } = place(pod, nodes, pods)
  const condition: Condition = {
    type: 'PodScheduled',
    observedGeneration: pod.metadata.generation ?? 1,
    status: node === undefined ? 'False' : 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
    ...(node === undefined ? { reason: 'Unschedulable', message: message ?? '' } : {}),
  }
  const before = conditionsOf(pod).find(({ type }) => type === 'PodScheduled')
  if (node === undefined && before?.message === message) return
  const conditions = withCondition(conditionsOf(pod), condition)
  if (node === undefined) tellOfPod(world, cluster, pod, 'Warning', 'FailedScheduling', message ?? '')
  else {
    const said = `Successfully assigned ${pod.metadata.namespace}/${pod.metadata.name} to ${node}`
    tellOfPod(world, cluster, pod, 'Normal', 'Scheduled', said)
  }
  put(cluster.store, '/pods', {
    ...pod,
    ...(node === undefined ? {} : { spec: { ...tree(pod.spec), nodeName: node } }),
    status: { ...tree(pod.status), phase: 'Pending', conditions },
  })
}

/** Work in progress for a pod, so that it does not start twice. */
const busy = new WeakMap<EtcdCluster, Set<string>>()

function once(
  world: World,
  cluster: EtcdCluster,
  again: () => void,
  key: string,
  afterMs: number,
  act: () => void,
): void {
  const keys = busy.get(cluster) ?? new Set()
  busy.set(cluster, keys)
  if (keys.has(key)) return
  keys.add(key)
  world.clock.schedule(world.clock.now() + afterMs, () => {
    keys.delete(key)
    act()
    again()
  })
}

function onNode(
  world: World,
  cluster: EtcdCluster,
  again: () => void,
  pod: KubeObject,
  kubelet: K3sProcess | undefined,
  node: KubeObject | undefined,
): void {
  const { uid = '', deletionTimestamp } = pod.metadata
  const runs = kubelet?.alive === true && kubelet.computer.isUp()
  if (!runs) {
    if (deletionTimestamp === undefined) evictLater(world, cluster, again, pod, node)
    return
  }
  if (deletionTimestamp !== undefined) {
    const graceMs = 1000 * Number(pod.metadata.deletionGracePeriodSeconds ?? 30)
    once(world, cluster, again, `end ${uid}`, Math.min(graceMs, between(world.random, [400, 1_200])), () => {
      const now = find(cluster.store, '/pods', pod.metadata.namespace, pod.metadata.name)
      if (now?.metadata.uid === uid && kubelet.alive && (now.metadata.finalizers ?? []).length === 0)
        remove(cluster.store, '/pods', pod.metadata.namespace, pod.metadata.name)
    })
    return
  }
  if (/^(Succeeded|Failed)$/.test(text(tree(pod.status).phase))) return
  if (isPodReady(pod)) return
  if (tree(pod.spec).hostNetwork !== true && !hasNetwork(kubelet, cluster)) return
  if (pod.metadata.labels?.['app.kubernetes.io/part-of'] === 'cilium' && !findsApi(world, cluster, pod, kubelet)) return
  const restarts = restartsOf(pod)
  const backoffMs = restarts === 0 ? 0 : Math.min(300_000, 10_000 * 2 ** (restarts - 1))
  once(world, cluster, again, `run ${uid}`, backoffMs + between(world.random, world.k3s.timing.podStartMs), () => {
    if (!kubelet.alive || !kubelet.computer.isUp()) return
    if (whyHelmFails(cluster, pod) === undefined) started(world, cluster, pod, kubelet)
    else crashed(world, cluster, pod)
  })
}

/**
 * Without kube-proxy, the address of the Service `kubernetes` does not answer before the network plugin runs: the plugin
 * needs another address. On every node K3s listens at 127.0.0.1:6444, on servers at 6443 as well.
 */
function findsApi(world: World, cluster: EtcdCluster, pod: KubeObject, kubelet: K3sProcess): boolean {
  if (!isSet(cluster.manager?.flags ?? new Map(), 'disable-kube-proxy')) return true
  const env = new Map(
    trees(tree(pod.spec).containers).flatMap((one) =>
      trees(one.env).map(({ name, value }) => [text(name), text(value)]),
    ),
  )
  const [host = '', port = ''] = [env.get('KUBERNETES_SERVICE_HOST'), env.get('KUBERNETES_SERVICE_PORT')]
  if (host === '127.0.0.1' || host === 'localhost')
    return port === '6444' || (port === '6443' && kubelet.role === 'server')
  return host !== '' && serverAt(world, host) !== undefined
}

/** The rest of a stay on a node that does not answer: five minutes, unless the pod bears more or less. */
function evictLater(
  world: World,
  cluster: EtcdCluster,
  again: () => void,
  pod: KubeObject,
  node: KubeObject | undefined,
): void {
  const taint = trees(tree(node?.spec).taints).find(
    ({ key, effect }) => key === 'node.kubernetes.io/unreachable' && effect === 'NoExecute',
  )
  if (taint === undefined) return
  const toleration = trees(tree(pod.spec).tolerations).find(
    ({ key, operator, effect }) =>
      operator === 'Exists' &&
      (key === undefined || key === taint.key) &&
      (effect === undefined || effect === 'NoExecute'),
  )
  if (toleration !== undefined && toleration.tolerationSeconds === undefined) return
  const dueMs = Date.parse(text(taint.timeAdded)) + 1000 * Number(toleration?.tolerationSeconds ?? 0)
  once(world, cluster, again, `evict ${pod.metadata.uid}`, Math.max(0, dueMs - world.clock.now()), () => {
    const now = find(cluster.store, '/pods', pod.metadata.namespace, pod.metadata.name)
    const still = find(cluster.store, '/nodes', undefined, node?.metadata.name ?? '')
    const unreachable = trees(tree(still?.spec).taints).some(({ key }) => key === 'node.kubernetes.io/unreachable')
    if (now?.metadata.uid === pod.metadata.uid && now !== undefined && unreachable) endPod(world, cluster, now)
  })
}

function restartsOf(pod: KubeObject): number {
  return Number(trees(tree(pod.status).containerStatuses)[0]?.restartCount ?? 0)
}

/** The kubelet starts the container again and again: the pod stays, and its Job counts no failure. */
function crashed(world: World, cluster: EtcdCluster, pod: KubeObject): void {
  const now = stamp(world.clock.now())
  tellOfPod(
    world,
    cluster,
    pod,
    'Warning',
    'BackOff',
    `Back-off restarting failed container in pod ${pod.metadata.name}`,
  )
  update(cluster.store, '/pods', pod.metadata.namespace, pod.metadata.name, (object) => {
    if (object.metadata.uid !== pod.metadata.uid || object.metadata.deletionTimestamp !== undefined) return undefined
    const containerStatuses = trees(tree(object.spec).containers).map(({ name, image }) => ({
      name,
      image,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1, reason: 'Error', startedAt: now, finishedAt: now } },
      ready: false,
      started: false,
      restartCount: restartsOf(object) + 1,
      imageID: text(image),
      containerID: `containerd://${pod.metadata.uid}`,
    }))
    return { ...object, status: { ...tree(object.status), phase: 'Running', containerStatuses } }
  })
}

function started(world: World, cluster: EtcdCluster, pod: KubeObject, kubelet: K3sProcess): void {
  const now = stamp(world.clock.now())
  for (const { name, image } of trees(tree(pod.spec).containers)) {
    const there = `Container image "${text(image)}" already present on machine`
    tellOfPod(world, cluster, pod, 'Normal', 'Pulled', there)
    tellOfPod(world, cluster, pod, 'Normal', 'Started', `Started container ${text(name)}`)
  }
  const isJob = pod.metadata.ownerReferences?.some(({ kind }) => kind === 'Job') === true
  update(cluster.store, '/pods', pod.metadata.namespace, pod.metadata.name, (object) => {
    if (object.metadata.uid !== pod.metadata.uid || object.metadata.deletionTimestamp !== undefined) return undefined
    const before = tree(object.status)
    let conditions = conditionsOf(object)
    for (const type of ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']) {
      const condition = { type, observedGeneration: 1, status: 'True', lastProbeTime: null, lastTransitionTime: now }
      conditions = withCondition(
        conditions,
        isJob && /Ready/.test(type) ? { ...condition, status: 'False' } : condition,
      )
    }
    const ip =
      tree(object.spec).hostNetwork === true
        ? (kubelet.nodeIps[0] ?? '')
        : text(before.podIP) || podIp(cluster, kubelet, object)
    const containers = list(tree(object.spec).containers).map((one) => {
      const { name, image } = tree(one)
      const state = isJob
        ? { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } }
        : { running: { startedAt: now } }
      return {
        name,
        image,
        state,
        lastState: {},
        ready: !isJob,
        started: !isJob,
        restartCount: 0,
        imageID: text(image),
        containerID: `containerd://${pod.metadata.uid}`,
      }
    })
    return {
      ...object,
      status: {
        ...before,
        observedGeneration: 1,
        phase: isJob ? 'Succeeded' : 'Running',
        conditions,
        hostIP: kubelet.nodeIps[0] ?? '',
        hostIPs: kubelet.nodeIps.map((one) => ({ ip: one })),
        podIP: ip,
        podIPs: [{ ip }],
        startTime: before.startTime ?? now,
        containerStatuses: containers,
        qosClass: 'BestEffort',
      },
    }
  })
}

function podIp(cluster: EtcdCluster, kubelet: K3sProcess, pod: KubeObject): string {
  const node = find(cluster.store, '/nodes', undefined, kubelet.nodeName)
  const range = text(tree(node?.spec).podCIDR) || '10.42.0.0/24'
  const number = 2 + (Number.parseInt((pod.metadata.uid ?? '0').slice(0, 6), 16) % 250)
  return range.replace(/0\/\d+$/, `${number}`)
}
