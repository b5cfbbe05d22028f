import { isPodReady } from '../../k3s/kubelet.ts'
import type { EtcdCluster, World } from '../../world/types.ts'
import { conditionsOf, type KubeObject, selects, stamp, tree, withCondition } from '../object.ts'
import { all, put } from '../store.ts'

/** How many pods of each budget may go right now. */
export function keepBudgets(world: World, cluster: EtcdCluster): void {
  for (const budget of all(cluster.store, 'policy/poddisruptionbudgets')) {
    const spec = tree(budget.spec)
    const pods = podsOf(cluster, budget)
    const currentHealthy = pods.filter(isPodReady).length
    const expectedPods = expectedOf(cluster, pods)
    const desiredHealthy =
      spec.maxUnavailable === undefined
        ? count(spec.minAvailable ?? 1, expectedPods)
        : Math.max(0, expectedPods - count(spec.maxUnavailable, expectedPods))
    const disruptionsAllowed = Math.max(0, currentHealthy - desiredHealthy)
    const observedGeneration = budget.metadata.generation ?? 1
    const before = tree(budget.status)
    if (
      before.observedGeneration === observedGeneration &&
      before.currentHealthy === currentHealthy &&
      before.desiredHealthy === desiredHealthy &&
      before.expectedPods === expectedPods &&
      before.disruptionsAllowed === disruptionsAllowed
    )
      continue
    const conditions = withCondition(conditionsOf(budget), {
      type: 'DisruptionAllowed',
      status: disruptionsAllowed > 0 ? 'True' : 'False',
      observedGeneration,
      lastTransitionTime: stamp(world.clock.now()),
      reason: disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      message: '',
    })
    const status = { observedGeneration, disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods, conditions }
    put(cluster.store, 'policy/poddisruptionbudgets', { ...budget, status })
  }
}

export function podsOf(cluster: EtcdCluster, budget: KubeObject): readonly KubeObject[] {
  return all(cluster.store, '/pods').filter(
    (pod) =>
      pod.metadata.namespace === budget.metadata.namespace &&
      pod.metadata.deletionTimestamp === undefined &&
      selects(tree(budget.spec).selector, pod.metadata.labels),
  )
}

/** What their owners want, for a budget counts pods that are not there yet. */
function expectedOf(cluster: EtcdCluster, pods: readonly KubeObject[]): number {
  const owners = new Map<string, number>()
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)
    const place =
      owner?.kind === 'ReplicaSet'
        ? 'apps/replicasets'
        : owner?.kind === 'StatefulSet'
          ? 'apps/statefulsets'
          : undefined
    const found =
      place === undefined ? undefined : cluster.store.tables.get(place)?.get(`${pod.metadata.namespace}/${owner?.name}`)
    const wanted = Number(tree(found?.spec).replicas ?? 1)
    if (owner !== undefined && found !== undefined) owners.set(owner.uid, wanted)
    else owners.set(pod.metadata.uid ?? pod.metadata.name, 1)
  }
  return [...owners.values()].reduce((sum, one) => sum + one, 0)
}

function count(value: unknown, of: number): number {
  if (typeof value === 'string' && value.endsWith('%')) return Math.ceil((Number.parseInt(value, 10) * of) / 100)
  return Number(value)
}
