import type { EtcdCluster } from '../../k3s/types.ts'
import { uuid } from '../../world/chance.ts'
import type { World } from '../../world/types.ts'
import { conditionsOf, type KubeObject, stamp, type Tree, text, tree } from '../object.ts'
import { all, find, put, remove, update } from '../store.ts'
import { type Brought, broughtBy, WORKLOADS, type Workload } from './chart-contents.ts'

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
    // Another text is another job.
    else if (configOf(job) !== JSON.stringify(chart.spec))
      remove(cluster.store, 'batch/jobs', namespace, `helm-install-${name}`)
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
        metadata: {
          labels: { 'helmcharts.helm.cattle.io/chart': name },
          annotations: { 'helmcharts.helm.cattle.io/configHash': JSON.stringify(chart.spec) },
        },
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

function configOf(job: KubeObject): string {
  const { metadata } = tree(tree(job.spec).template)
  return text(tree(tree(metadata).annotations)['helmcharts.helm.cattle.io/configHash'])
}

function installed(world: World, cluster: EtcdCluster, chart: KubeObject, namespace: string): void {
  const spec = tree(chart.spec)
  const target = text(spec.targetNamespace) || namespace
  const brought = broughtBy(text(spec.chart) || chart.metadata.name)
  for (const [kind, name, labels] of brought?.workloads ?? []) workload(world, cluster, kind, name, target, labels)
  for (const kind of brought?.kinds ?? []) define(world, cluster, kind)
}

function define(
  world: World,
  cluster: EtcdCluster,
  [apiVersions, kind, plural, scope]: NonNullable<Brought['kinds']>[number],
): void {
  const [group = '', versions = ''] = apiVersions.split('/')
  const name = `${plural}.${group}`
  const resource = 'apiextensions.k8s.io/customresourcedefinitions'
  if (find(cluster.store, resource, undefined, name) !== undefined) return
  const at = stamp(world.clock.now())
  put(cluster.store, resource, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, uid: uuid(world.random), generation: 1, creationTimestamp: at },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versions.split(',').map((version, index) => ({
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
  kind: Workload,
  name: string,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): void {
  const resource = WORKLOADS[kind]
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
