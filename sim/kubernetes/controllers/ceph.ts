import { isPodReady } from '../../k3s/kubelet.ts'
import type { EtcdCluster, World } from '../../world/types.ts'
import { type KubeObject, type Tree, text, tree, trees } from '../object.ts'
import { all, find, put } from '../store.ts'
import { born } from './owned-pods.ts'
import { nodeTakes, tolerates } from './scheduling.ts'

const OPERATOR = 'rook-ceph-operator'

/**
 * What Rook makes of a CephCluster when it runs, in no chart: monitors, managers, a daemon for the disk of each node, and
 * what attaches volumes, which from 1.19 on ceph-csi's own operator makes.
 */
export function keepCeph(world: World, cluster: EtcdCluster): void {
  const { store } = cluster
  const clusters = all(store, 'ceph.rook.io/cephclusters')
  if (clusters.length === 0) return
  const runs = (app: string) => all(store, '/pods').some((pod) => pod.metadata.labels?.app === app && isPodReady(pod))
  for (const ceph of clusters) {
    const { namespace = OPERATOR, name } = ceph.metadata
    if (runs(OPERATOR)) for (const one of daemonsOf(cluster, ceph, namespace)) make(world, cluster, one)
    const operated = all(store, '/pods').some(
      (pod) => pod.metadata.labels?.['control-plane'] === 'ceph-csi-op-controller-manager' && isPodReady(pod),
    )
    if (operated) for (const one of driversOf(namespace)) make(world, cluster, one)
    const daemons = all(store, 'apps/deployments').filter(({ metadata }) => metadata.labels?.rook_cluster === namespace)
    const ready = daemons.length > 0 && daemons.every(({ status }) => Number(tree(status).readyReplicas ?? 0) > 0)
    const status = ready
      ? { phase: 'Ready', state: 'Created', conditions: [{ type: 'Ready', status: 'True', reason: 'ClusterCreated' }] }
      : {
          phase: 'Progressing',
          state: 'Creating',
          conditions: [{ type: 'Ready', status: 'False', reason: 'Creating' }],
        }
    if (runs(OPERATOR)) keepPools(cluster, namespace, status.phase)
    const live = find(store, 'ceph.rook.io/cephclusters', namespace, name)
    // Once it was there it is not unmade by a night without power: Rook says nothing while it does not run.
    if (
      live === undefined ||
      tree(live.status).phase === 'Ready' ||
      JSON.stringify(live.status) === JSON.stringify(status)
    )
      continue
    put(store, 'ceph.rook.io/cephclusters', { ...live, status })
  }
}

function daemonsOf({ store }: EtcdCluster, ceph: KubeObject, namespace: string): readonly KubeObject[] {
  const monitors = Number(tree(tree(ceph.spec).mon).count ?? 3)
  const { nodeAffinity, tolerations } = tree(tree(tree(ceph.spec).placement).all)
  // Rook puts nothing on a node that its pods could not run on: the servers of many clusters carry a taint.
  const nodes = all(store, '/nodes')
    .filter((node) => nodeTakes(node, { affinity: { nodeAffinity } }) && tolerates(trees(tolerations), lasting(node)))
    .map(({ metadata }) => metadata.name)
  const daemon = (type: string, id: string, node?: string) => {
    const app = `rook-ceph-${type}`
    const labels = {
      app,
      rook_cluster: namespace,
      ceph_daemon_id: id,
      'app.kubernetes.io/name': `ceph-${type}`,
      'app.kubernetes.io/managed-by': OPERATOR,
      'app.kubernetes.io/created-by': OPERATOR,
      'app.kubernetes.io/part-of': ceph.metadata.name,
      'rook.io/operator-namespace': namespace,
    }
    return workload('Deployment', namespace, `${app}-${id}`, labels, { ceph_daemon_id: id, app }, [type], node)
  }
  return [
    ...nodes.slice(0, monitors).map((node, at) => daemon('mon', 'abcde'[at] ?? 'z', node)),
    daemon('mgr', 'a'),
    ...nodes.map((node, at) => daemon('osd', String(at), node)),
  ]
}

/** Taints that a person gave the node: those of a node that is away go when it comes back. */
function lasting(node: KubeObject): readonly Tree[] {
  return trees(tree(node.spec).taints).filter(({ key }) => !text(key).startsWith('node.kubernetes.io/'))
}

/** What else Rook keeps, once its cluster is well: it says so in a phase, and with no condition. */
const KEPT = ['ceph.rook.io/cephblockpools', 'ceph.rook.io/cephfilesystems', 'ceph.rook.io/cephobjectstores'] as const

function keepPools({ store }: EtcdCluster, namespace: string, phase: string): void {
  for (const place of KEPT)
    for (const one of all(store, place))
      if (
        one.metadata.namespace === namespace &&
        tree(one.status).phase !== phase &&
        tree(one.status).phase !== 'Ready'
      )
        put(store, place, { ...one, status: { ...tree(one.status), phase } })
}

function driversOf(namespace: string): readonly KubeObject[] {
  return ['rbd', 'cephfs'].flatMap((sort) => {
    const name = (part: string) => `${namespace}.${sort}.csi.ceph.com-${part}`
    const sidecars = ['csi-provisioner', 'csi-resizer', 'csi-attacher', 'csi-snapshotter']
    const plugin = `csi-${sort}plugin`
    const labelled = (part: string) => ({ app: name(part) })
    return [
      workload(
        'Deployment',
        namespace,
        name('ctrlplugin'),
        {},
        labelled('ctrlplugin'),
        [plugin, ...sidecars],
        undefined,
        2,
      ),
      workload('DaemonSet', namespace, name('nodeplugin'), {}, labelled('nodeplugin'), ['driver-registrar', plugin]),
    ]
  })
}

function workload(
  kind: 'Deployment' | 'DaemonSet',
  namespace: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
  containers: readonly string[],
  node?: string,
  replicas = 1,
): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace, labels },
    spec: {
      ...(kind === 'Deployment' ? { replicas } : {}),
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: { ...labels, ...selector } },
        spec: {
          ...(node === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': node } }),
          containers: containers.map((one) => ({ name: one, image: `registry.example/${one}:sim` })),
        },
      },
    },
    status: {},
  }
}

/** An operator puts back what it made: also how many of it there are. */
function make(world: World, { store }: EtcdCluster, object: KubeObject): void {
  const place = object.kind === 'DaemonSet' ? 'apps/daemonsets' : 'apps/deployments'
  const { namespace, name } = object.metadata
  const live = find(store, place, namespace, name)
  if (live === undefined)
    put(store, place, { ...object, metadata: { ...born(world, name, namespace), ...object.metadata } })
  else if (tree(live.spec).replicas === 0)
    put(store, place, {
      ...live,
      metadata: { ...live.metadata, generation: (live.metadata.generation ?? 1) + 1 },
      spec: { ...tree(live.spec), replicas: tree(object.spec).replicas },
    })
}
