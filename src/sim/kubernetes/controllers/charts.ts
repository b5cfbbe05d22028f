import type { EtcdCluster } from '../../k3s/types.ts'
import { uuid } from '../../world/chance.ts'
import type { World } from '../../world/types.ts'
import { conditionsOf, type KubeObject, stamp, type Tree, text, tree } from '../object.ts'
import { all, find, put, remove, update } from '../store.ts'

const EVERYTHING = [{ operator: 'Exists' }]

/** K3s' Helm controller: a job for each chart, and what the few charts that matter here would bring. */
export function keepCharts(world: World, cluster: EtcdCluster): void {
  for (const chart of all(cluster.store, 'helm.cattle.io/helmcharts')) {
    if (chart.metadata.deletionTimestamp !== undefined) continue
    const { namespace = 'kube-system', name } = chart.metadata
    const job = find(cluster.store, 'batch/jobs', namespace, `helm-install-${name}`)
    // Told to let it be, the controller takes away what it had made for itself, and touches nothing that Helm installed.
    if (chart.metadata.annotations?.['helmcharts.helm.cattle.io/unmanaged'] !== undefined) {
      if (job !== undefined) remove(cluster.store, 'batch/jobs', namespace, `helm-install-${name}`)
    } else if (job === undefined) begin(world, cluster, chart, namespace)
    else if (conditionsOf(job).some(({ type, status }) => type === 'Complete' && status === 'True'))
      installed(world, cluster, chart, namespace)
  }
}

function begin(world: World, cluster: EtcdCluster, chart: KubeObject, namespace: string): void {
  const { name, uid = '' } = chart.metadata
  const bootstrap = tree(chart.spec).bootstrap === true
  put(cluster.store, 'batch/jobs', {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `helm-install-${name}`,
      namespace,
      uid: uuid(world.random),
      generation: 1,
      creationTimestamp: stamp(world.clock.now()),
      labels: { 'helmcharts.helm.cattle.io/chart': name },
      ownerReferences: [{ apiVersion: 'helm.cattle.io/v1', kind: 'HelmChart', name, uid, controller: true }],
    },
    spec: {
      backoffLimit: 1000,
      template: {
        metadata: { labels: { 'helmcharts.helm.cattle.io/chart': name } },
        spec: {
          restartPolicy: 'OnFailure',
          ...(bootstrap ? { hostNetwork: true, tolerations: EVERYTHING } : {}),
          containers: [{ name: 'helm', image: 'rancher/klipper-helm:v0.9.8-build20250709' }],
        },
      },
    },
    status: {},
  })
  update(cluster.store, 'helm.cattle.io/helmcharts', namespace, name, (object) => ({
    ...object,
    status: { ...tree(object.status), jobName: `helm-install-${name}` },
  }))
}

function installed(world: World, cluster: EtcdCluster, chart: KubeObject, namespace: string): void {
  const spec = tree(chart.spec)
  const target = text(spec.targetNamespace) || namespace
  const which = text(spec.chart).replace(/^.*\//, '') || chart.metadata.name
  if (which === 'cilium') {
    workload(world, cluster, 'DaemonSet', 'cilium', target, { 'k8s-app': 'cilium' })
    workload(world, cluster, 'Deployment', 'cilium-operator', target, { 'io.cilium/app': 'operator' })
    for (const kind of ['CiliumLoadBalancerIPPool', 'CiliumL2AnnouncementPolicy']) define(world, cluster, kind)
  }
  if (which === 'kube-vip')
    workload(world, cluster, 'DaemonSet', 'kube-vip-ds', target, { 'app.kubernetes.io/name': 'kube-vip-ds' })
}

/** What the operator of Cilium teaches a cluster once it runs. */
function define(world: World, cluster: EtcdCluster, kind: string): void {
  const plural = kind === 'CiliumLoadBalancerIPPool' ? 'ciliumloadbalancerippools' : 'ciliuml2announcementpolicies'
  const name = `${plural}.cilium.io`
  const resource = 'apiextensions.k8s.io/customresourcedefinitions'
  if (find(cluster.store, resource, undefined, name) !== undefined) return
  const at = stamp(world.clock.now())
  put(cluster.store, resource, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, uid: uuid(world.random), generation: 1, creationTimestamp: at },
    spec: {
      group: 'cilium.io',
      scope: 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [...(kind === 'CiliumLoadBalancerIPPool' ? ['v2'] : []), 'v2alpha1'].map((version, index) => ({
        name: version,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    },
    status: {
      conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True', lastTransitionTime: at })),
    },
  })
}

function workload(
  world: World,
  cluster: EtcdCluster,
  kind: 'DaemonSet' | 'Deployment',
  name: string,
  namespace: string,
  labels: Record<string, string>,
): void {
  const resource = kind === 'DaemonSet' ? 'apps/daemonsets' : 'apps/deployments'
  if (find(cluster.store, resource, namespace, name) !== undefined) return
  const spec: Tree = {
    ...(kind === 'Deployment' ? { replicas: 1 } : {}),
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { hostNetwork: true, tolerations: EVERYTHING, containers: [{ name, image: `quay.io/${name}:sim` }] },
    },
  }
  put(cluster.store, resource, {
    apiVersion: 'apps/v1',
    kind,
    metadata: {
      name,
      namespace,
      uid: uuid(world.random),
      generation: 1,
      creationTimestamp: stamp(world.clock.now()),
      labels,
    },
    spec,
    status: {},
  })
}
