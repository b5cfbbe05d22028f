import { isPodReady } from '../../k3s/kubelet.ts'
import type { EtcdCluster, World } from '../../world/types.ts'
import { conditionsOf, type KubeObject, stamp, type Tree, text, tree, trees, withCondition } from '../object.ts'
import { all, find, put, update } from '../store.ts'
import { born, endPod, newPod, ownedBy, podsOwnedBy, templateHash } from './owned-pods.ts'
import { nodeTakes, tolerates } from './scheduling.ts'

/** Deployments, their sets, StatefulSets, DaemonSets and Jobs: as many pods as they want, and a status that says so. */
export function keepWorkloads(world: World, cluster: EtcdCluster): void {
  for (const one of all(cluster.store, 'apps/deployments')) deployment(world, cluster, one)
  for (const one of all(cluster.store, 'apps/replicasets')) replicaSet(world, cluster, one)
  for (const one of all(cluster.store, 'apps/statefulsets')) statefulSet(world, cluster, one)
  for (const one of all(cluster.store, 'apps/daemonsets')) daemonSet(world, cluster, one)
  for (const one of all(cluster.store, 'batch/jobs')) job(world, cluster, one)
}

const alive = (pod: KubeObject) =>
  pod.metadata.deletionTimestamp === undefined && !/^(Failed|Succeeded)$/.test(text(tree(pod.status).phase))

function deployment(world: World, cluster: EtcdCluster, object: KubeObject): void {
  if (object.metadata.deletionTimestamp !== undefined) return
  const { store } = cluster
  const spec = tree(object.spec)
  const wanted = Number(spec.replicas ?? 1)
  const hash = templateHash(spec.template)
  const sets = all(store, 'apps/replicasets').filter((set) =>
    set.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid),
  )
  const newest = Math.max(0, ...sets.map(revisionOf))
  let current = sets.find((set) => set.metadata.labels?.['pod-template-hash'] === hash)
  // Going back to what was before is a step forward.
  if (current !== undefined && revisionOf(current) < newest)
    update(store, 'apps/replicasets', current.metadata.namespace, current.metadata.name, (set) => ({
      ...set,
      metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, [REVISION]: String(newest + 1) } },
    }))
  if (current === undefined) {
    const template = tree(spec.template)
    const labels = { ...(tree(tree(template.metadata).labels) as Record<string, string>), 'pod-template-hash': hash }
    current = put(store, 'apps/replicasets', {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        ...born(world, `${object.metadata.name}-${hash}`, object.metadata.namespace),
        labels,
        annotations: { [REVISION]: String(newest + 1) },
        ownerReferences: [ownedBy(object)],
      },
      spec: {
        replicas: wanted,
        selector: { matchLabels: { ...tree(tree(spec.selector).matchLabels), 'pod-template-hash': hash } },
        template: { ...template, metadata: { ...tree(template.metadata), labels } },
      },
      status: { replicas: 0 },
    })
  }
  if (Number(tree(current.spec).replicas) !== wanted) scale(cluster, current, wanted)
  const readyNew = podsOwnedBy(cluster, current).filter((pod) => alive(pod) && isPodReady(pod)).length
  for (const old of sets) {
    if (old === current || old.metadata.name === current.metadata.name) continue
    const keep = Math.max(0, wanted - readyNew)
    if (Number(tree(old.spec).replicas) > keep) scale(cluster, old, keep)
  }
  const pods = [current, ...sets.filter((set) => set.metadata.name !== current.metadata.name)].flatMap((set) =>
    podsOwnedBy(cluster, set).filter(alive),
  )
  const ready = pods.filter(isPodReady).length
  const updated = podsOwnedBy(cluster, current).filter(alive).length
  const now = stamp(world.clock.now())
  let conditions = withCondition(conditionsOf(object), {
    type: 'Available',
    status: ready >= wanted ? 'True' : 'False',
    lastTransitionTime: now,
    reason: ready >= wanted ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${ready >= wanted ? 'has' : 'does not have'} minimum availability.`,
  })
  conditions = withCondition(conditions, {
    type: 'Progressing',
    status: 'True',
    lastTransitionTime: now,
    reason: ready >= wanted ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
    message: `ReplicaSet "${current.metadata.name}" ${ready >= wanted ? 'has successfully progressed.' : 'is progressing.'}`,
  })
  status(cluster, 'apps/deployments', object, {
    observedGeneration: object.metadata.generation ?? 1,
    replicas: pods.length,
    updatedReplicas: updated,
    readyReplicas: ready,
    availableReplicas: ready,
    unavailableReplicas: Math.max(0, wanted - ready),
    conditions,
  })
}

const REVISION = 'deployment.kubernetes.io/revision'

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[REVISION] ?? 0)
}

function scale(cluster: EtcdCluster, set: KubeObject, replicas: number): void {
  update(cluster.store, 'apps/replicasets', set.metadata.namespace, set.metadata.name, (object) => ({
    ...object,
    spec: { ...tree(object.spec), replicas },
  }))
}

function replicaSet(world: World, cluster: EtcdCluster, object: KubeObject): void {
  if (object.metadata.deletionTimestamp !== undefined) return
  const wanted = Number(tree(object.spec).replicas ?? 1)
  const pods = podsOwnedBy(cluster, object).filter(alive)
  for (let missing = wanted - pods.length; missing > 0; missing--) newPod(world, cluster, object, undefined)
  // Those that do not run go first.
  const surplus = [...pods].sort((a, b) => Number(isPodReady(a)) - Number(isPodReady(b)))
  for (const pod of surplus.slice(0, Math.max(0, pods.length - wanted))) endPod(world, cluster, pod)
  const ready = pods.filter(isPodReady).length
  status(cluster, 'apps/replicasets', object, {
    replicas: wanted,
    fullyLabeledReplicas: wanted,
    readyReplicas: ready,
    availableReplicas: ready,
    observedGeneration: object.metadata.generation ?? 1,
  })
}

/** Starts pods one after the other. Each has a fixed name, reused only when the old pod is gone. */
function statefulSet(world: World, cluster: EtcdCluster, object: KubeObject): void {
  if (object.metadata.deletionTimestamp !== undefined) return
  const spec = tree(object.spec)
  const wanted = Number(spec.replicas ?? 1)
  const parallel = spec.podManagementPolicy === 'Parallel'
  const hash = templateHash(spec.template)
  const byName = new Map(podsOwnedBy(cluster, object).map((pod) => [pod.metadata.name, pod]))
  const revision = `${object.metadata.name}-${hash}`
  for (let number = 0; number < wanted; number++) {
    const pod = byName.get(`${object.metadata.name}-${number}`)
    if (pod === undefined) {
      newPod(world, cluster, object, {
        name: `${object.metadata.name}-${number}`,
        labels: { 'controller-revision-hash': revision },
        claims: claimsFor(world, cluster, object, number),
      })
      if (!parallel) break
    } else if (!parallel && !isPodReady(pod)) break
  }
  for (const pod of byName.values()) {
    const number = Number(pod.metadata.name.slice(object.metadata.name.length + 1))
    if (number >= wanted && alive(pod)) endPod(world, cluster, pod)
  }
  const pods = [...byName.values()]
  if (pods.length === wanted && pods.every((pod) => alive(pod) && isPodReady(pod))) {
    const old = pods.filter((pod) => pod.metadata.labels?.['controller-revision-hash'] !== revision)
    const last = old.sort((a, b) => (a.metadata.name < b.metadata.name ? 1 : -1))[0]
    if (last !== undefined) endPod(world, cluster, last)
  }
  const ready = pods.filter((pod) => alive(pod) && isPodReady(pod)).length
  status(cluster, 'apps/statefulsets', object, {
    observedGeneration: object.metadata.generation ?? 1,
    replicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
    currentReplicas: pods.length,
    updatedReplicas: pods.filter((pod) => pod.metadata.labels?.['controller-revision-hash'] === revision).length,
    currentRevision: revision,
    updateRevision: revision,
    collisionCount: 0,
  })
}

/** Makes one claim for each pod and template; it stays when the pod goes. */
function claimsFor(world: World, { store }: EtcdCluster, object: KubeObject, number: number): readonly Tree[] {
  const { name, namespace } = object.metadata
  return trees(tree(object.spec).volumeClaimTemplates).map((template) => {
    const volume = text(tree(template.metadata).name)
    const claimName = `${volume}-${name}-${number}`
    if (find(store, '/persistentvolumeclaims', namespace, claimName) === undefined)
      put(store, '/persistentvolumeclaims', {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: born(world, claimName, namespace),
        spec: template.spec,
        status: { phase: 'Bound' },
      })
    return { name: volume, persistentVolumeClaim: { claimName } }
  })
}

/** What every pod of a DaemonSet bears without saying so. */
const DAEMON_TOLERATIONS = [
  'not-ready',
  'unreachable',
  'disk-pressure',
  'memory-pressure',
  'pid-pressure',
  'unschedulable',
  'network-unavailable',
].map((name) => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists' }))

function daemonSet(world: World, cluster: EtcdCluster, object: KubeObject): void {
  if (object.metadata.deletionTimestamp !== undefined) return
  const template = tree(tree(object.spec).template)
  const podSpec = tree(template.spec)
  const tolerations = [...trees(podSpec.tolerations), ...DAEMON_TOLERATIONS]
  const hash = templateHash(template)
  const byNode = new Map<string, KubeObject>()
  const owned = podsOwnedBy(cluster, object)
  for (const pod of owned) if (alive(pod)) byNode.set(text(tree(pod.spec).nodeName), pod)
  let [wanted, ready, updated] = [0, 0, 0]
  for (const node of all(cluster.store, '/nodes')) {
    const fits =
      node.metadata.deletionTimestamp === undefined &&
      nodeTakes(node, podSpec) &&
      tolerates(tolerations, tree(node.spec).taints)
    const pod = byNode.get(node.metadata.name)
    byNode.delete(node.metadata.name)
    if (!fits) {
      if (pod !== undefined) endPod(world, cluster, pod)
      continue
    }
    wanted += 1
    if (pod === undefined)
      newPod(world, cluster, object, {
        node: node.metadata.name,
        labels: { 'controller-revision-hash': hash },
        tolerations,
      })
    else {
      if (isPodReady(pod)) ready += 1
      if (pod.metadata.labels?.['controller-revision-hash'] === hash) updated += 1
      else if (tree(tree(object.spec).updateStrategy).type !== 'OnDelete') endPod(world, cluster, pod)
    }
  }
  for (const pod of byNode.values()) endPod(world, cluster, pod)
  status(cluster, 'apps/daemonsets', object, {
    currentNumberScheduled: wanted,
    numberMisscheduled: 0,
    desiredNumberScheduled: wanted,
    numberReady: ready,
    observedGeneration: object.metadata.generation ?? 1,
    updatedNumberScheduled: updated,
    numberAvailable: ready,
    ...(wanted > ready ? { numberUnavailable: wanted - ready } : {}),
  })
}

function job(world: World, cluster: EtcdCluster, object: KubeObject): void {
  if (object.metadata.deletionTimestamp !== undefined) return
  if (conditionsOf(object).some(({ type, status: is }) => type === 'Complete' && is === 'True')) return
  const wanted = Number(tree(object.spec).completions ?? 1)
  const pods = podsOwnedBy(cluster, object)
  const done = pods.filter((pod) => tree(pod.status).phase === 'Succeeded').length
  const active = pods.filter(alive).length
  if (active + done < wanted) newPod(world, cluster, object, undefined)
  const now = stamp(world.clock.now())
  const complete = { type: 'Complete', status: 'True', lastProbeTime: now, lastTransitionTime: now }
  const startTime = tree(object.status).startTime ?? now
  if (done >= wanted)
    // What is over has nothing active any more.
    update(cluster.store, 'batch/jobs', object.metadata.namespace, object.metadata.name, (job) => ({
      ...job,
      status: { startTime, completionTime: now, succeeded: done, ready: 0, terminating: 0, conditions: [complete] },
    }))
  else
    status(cluster, 'batch/jobs', object, {
      startTime,
      active: Math.max(active, 1),
      ready: pods.filter(isPodReady).length,
    })
}

function status(cluster: EtcdCluster, resource: string, object: KubeObject, next: Tree): void {
  update(cluster.store, resource, object.metadata.namespace, object.metadata.name, (now) => {
    const before = tree(now.status)
    const same = Object.keys(next).every((key) => JSON.stringify(before[key]) === JSON.stringify(next[key]))
    return same ? undefined : { ...now, status: { ...before, ...next } }
  })
}
