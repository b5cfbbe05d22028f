import { isWritable } from '../k3s/etcd.ts'
import type { EtcdCluster, World } from '../world/types.ts'
import { keepAgents } from './controllers/agents.ts'
import { keepBudgets } from './controllers/budgets.ts'
import { keepCeph } from './controllers/ceph.ts'
import { installCharts, keepCharts } from './controllers/charts.ts'
import { collectGarbage } from './controllers/collect.ts'
import { keepLoadBalancers } from './controllers/load-balancers.ts'
import { keepNodes } from './controllers/nodes.ts'
import { keepPods } from './controllers/pods.ts'
import { keepWorkloads } from './controllers/workloads.ts'

/** How long controllers take to notice a change. */
const NOTICE_MS = 40

const QUIET = new Set(['coordination.k8s.io/leases', '/events', 'k3s.cattle.io/etcdsnapshotfiles'])

const attached = new WeakSet<EtcdCluster>()

/** From now on every change of the cluster's objects is followed by a pass of its controllers. */
export function attachControllers(world: World, cluster: EtcdCluster): void {
  if (attached.has(cluster)) return
  attached.add(cluster)
  cluster.store.listeners.add(({ resource }) => {
    if (!QUIET.has(resource)) askReconcile(world, cluster)
  })
}

export function askReconcile(world: World, cluster: EtcdCluster): void {
  if (cluster.reconcile !== undefined) return
  cluster.reconcile = world.clock.schedule(world.clock.now() + NOTICE_MS, () => {
    cluster.reconcile = undefined
    if (!isWritable(cluster)) {
      cluster.waiting.add(() => askReconcile(world, cluster))
      return
    }
    // Without a leader of the controllers nothing happens; the next one begins with a pass.
    if (cluster.manager?.alive !== true) return
    const again = () => askReconcile(world, cluster)
    keepNodes(world, cluster, again)
    keepCharts(world, cluster)
    keepAgents(world, cluster)
    keepCeph(world, cluster)
    keepWorkloads(world, cluster)
    keepPods(world, cluster, again)
    installCharts(world, cluster)
    keepLoadBalancers(world, cluster)
    keepBudgets(world, cluster)
    collectGarbage(world, cluster)
  })
}
