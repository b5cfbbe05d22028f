import { uuid } from '../../world/chance.ts'
import type { EtcdCluster, World } from '../../world/types.ts'
import { releaseOf } from '../charts/release.ts'
import { conditionsOf, type KubeObject, stamp, text, tree } from '../object.ts'
import { all, find, put, remove, update } from '../store.ts'
import { isInstalled, keepHooks, keepMakers, putInPlace, takeAway } from './releases.ts'

const EVERYTHING = [{ operator: 'Exists' }]
const CHARTS = 'helm.cattle.io/helmcharts'
const FINALIZER = 'wrangler.cattle.io/on-helm-chart-remove'

/** K3s' Helm controller: a job for each chart that installs it, and one that takes it away. */
export function keepCharts(world: World, cluster: EtcdCluster): void {
  keepMakers(world, cluster)
  const charts = all(cluster.store, CHARTS)
  if (charts.length > 0) keepHooks(cluster)
  for (const chart of charts) {
    const { namespace = 'kube-system', name, finalizers = [], deletionTimestamp } = chart.metadata
    const job = find(cluster.store, 'batch/jobs', namespace, `helm-install-${name}`)
    const left = chart.metadata.annotations?.['helmcharts.helm.cattle.io/unmanaged'] !== undefined
    if (deletionTimestamp !== undefined) leave(world, cluster, chart, namespace, left)
    // Told to let it be, the controller takes away what it had made for itself, and touches nothing that Helm installed.
    else if (left) {
      if (job !== undefined) remove(cluster.store, 'batch/jobs', namespace, `helm-install-${name}`)
    } else if (!finalizers.includes(FINALIZER))
      put(cluster.store, CHARTS, {
        ...chart,
        metadata: { ...chart.metadata, finalizers: [...finalizers, FINALIZER] },
      })
    else if (job === undefined) begin(world, cluster, chart, namespace, 'install')
    // Another text is another job.
    else if (configOf(job) !== configFor(cluster, chart, namespace))
      remove(cluster.store, 'batch/jobs', namespace, `helm-install-${name}`)
  }
}

/** Installs charts. Helm applies everything and stores its release before its job ends, so both always appear together. */
export function installCharts(world: World, cluster: EtcdCluster): void {
  for (const chart of all(cluster.store, CHARTS)) {
    const { namespace = 'kube-system', name, deletionTimestamp } = chart.metadata
    const job = find(cluster.store, 'batch/jobs', namespace, `helm-install-${name}`)
    if (deletionTimestamp !== undefined || job === undefined || !isComplete(job)) continue
    if (configOf(job) !== configFor(cluster, chart, namespace)) continue
    const place = { name, namespace: text(tree(chart.spec).targetNamespace) || namespace }
    if (!isInstalled(cluster, place, configOf(job)))
      putInPlace(world, cluster, releaseFor(cluster, chart, namespace), configOf(job))
  }
}

/** What is deleted is uninstalled first. */
function leave(world: World, cluster: EtcdCluster, chart: KubeObject, namespace: string, left: boolean): void {
  const { name, finalizers = [] } = chart.metadata
  const job = find(cluster.store, 'batch/jobs', namespace, `helm-delete-${name}`)
  if (!left && finalizers.includes(FINALIZER)) {
    remove(cluster.store, 'batch/jobs', namespace, `helm-install-${name}`)
    if (job === undefined) {
      begin(world, cluster, chart, namespace, 'delete')
      return
    }
    if (!isComplete(job)) return
    takeAway(cluster, releaseFor(cluster, chart, namespace))
  }
  const others = finalizers.filter((one) => one !== FINALIZER)
  if (job !== undefined) remove(cluster.store, 'batch/jobs', namespace, `helm-delete-${name}`)
  if (others.length === 0) remove(cluster.store, CHARTS, namespace, name)
  else if (others.length !== finalizers.length)
    put(cluster.store, CHARTS, { ...chart, metadata: { ...chart.metadata, finalizers: others } })
}

function isComplete(job: KubeObject): boolean {
  return conditionsOf(job).some(({ type, status }) => type === 'Complete' && status === 'True')
}

function begin(
  world: World,
  cluster: EtcdCluster,
  chart: KubeObject,
  namespace: string,
  action: 'install' | 'delete',
): void {
  const { name, uid = '' } = chart.metadata
  const bootstrap = tree(chart.spec).bootstrap === true
  put(cluster.store, 'batch/jobs', {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `helm-${action}-${name}`,
      namespace,
      uid: uuid(world.random),
      generation: 1,
      creationTimestamp: stamp(world.clock.now()),
      labels: { 'helmcharts.helm.cattle.io/chart': name },
      ownerReferences: [{ apiVersion: 'helm.cattle.io/v1', kind: 'HelmChart', name, uid, controller: true }],
    },
    spec: {
      backoffLimit: Number(tree(chart.spec).backOffLimit ?? 1000),
      template: {
        metadata: {
          labels: { 'helmcharts.helm.cattle.io/chart': name },
          annotations: { 'helmcharts.helm.cattle.io/configHash': configFor(cluster, chart, namespace) },
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
  if (action === 'install')
    update(cluster.store, CHARTS, namespace, name, (object) => ({
      ...object,
      status: { ...tree(object.status), jobName: `helm-install-${name}` },
    }))
}

function configOf(job: KubeObject): string {
  const { metadata } = tree(tree(job.spec).template)
  return text(tree(tree(metadata).annotations)['helmcharts.helm.cattle.io/configHash'])
}

/** What the job is made of: the chart, and what a HelmChartConfig of its name says. */
function configFor(cluster: EtcdCluster, chart: KubeObject, namespace: string): string {
  return JSON.stringify([chart.spec, configured(cluster, chart, namespace)])
}

function configured(cluster: EtcdCluster, { metadata }: KubeObject, namespace: string): unknown {
  const config = find(cluster.store, 'helm.cattle.io/helmchartconfigs', namespace, metadata.name)
  return tree(config?.spec).valuesContent
}

function releaseFor(cluster: EtcdCluster, chart: KubeObject, namespace: string) {
  return releaseOf(chart, [configured(cluster, chart, namespace)])
}
