import type { KubernetesClient } from '../../kubernetes/client.ts'
import { annotationsOf, at, type Foreign, objectName, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { type ClusterApi, collectionPath } from './api.ts'
import type { ChartWorkload, InstallDetails } from './marks.ts'
import { readinessByKind } from './readiness-by-kind.ts'
import { numberAt, waits } from './readiness-words.ts'

/* What Helm created from charts: it labels everything in a release. */

const CHART_LABEL = 'helmcharts.helm.cattle.io/chart'
const OF_HELM = { labelSelector: 'app.kubernetes.io/managed-by=Helm' }

/** Releases by name and namespace. */
export interface Releases {
  /** Returns the result of the chart, from its job and the release's workloads. */
  install(chart: Foreign): InstallDetails | undefined
}

/** Reads the jobs of all charts and the workloads of all releases: one call per kind. */
export async function readReleases(client: KubernetesClient, api: ClusterApi, signal: AbortSignal): Promise<Releases> {
  const list = async (apiVersion: string, plural: string, options: object): Promise<readonly Foreign[]> =>
    api.answered(await client.list(collectionPath(apiVersion, plural), options, signal)) ?? []
  const [jobs, deployments, statefulSets, daemonSets, nodes] = await Promise.all([
    list('batch/v1', 'jobs', { labelSelector: CHART_LABEL }),
    list('apps/v1', 'deployments', OF_HELM),
    list('apps/v1', 'statefulsets', OF_HELM),
    list('apps/v1', 'daemonsets', OF_HELM),
    list('v1', 'nodes', {}),
  ])
  // A job restarts its container by itself and counts no failure: only its pod shows how often it failed.
  const goesOn = jobs.some((job) => installOf(job).state === 'running')
  const pods = goesOn ? await list('v1', 'pods', { labelSelector: CHART_LABEL }) : []
  const away = nodes.filter((node) => !isReady(node)).length
  const workloads = Map.groupBy(
    [
      ...deployments.map((one) => ({ ...one, apiVersion: 'apps/v1', kind: 'Deployment' })),
      ...statefulSets.map((one) => ({ ...one, apiVersion: 'apps/v1', kind: 'StatefulSet' })),
      ...daemonSets.map((one) => ({ ...one, apiVersion: 'apps/v1', kind: 'DaemonSet' })),
    ],
    releaseOf,
  )
  const installs = new Map(
    // A job that uninstalls a chart says nothing about what is installed.
    jobs
      .filter((job) => !(objectName(job) ?? '').startsWith('helm-delete-'))
      .map((job) => [
        `${textOf(at(job, 'metadata', 'namespace')) ?? ''}/${textOf(at(job, 'metadata', 'labels', CHART_LABEL)) ?? ''}`,
        job,
      ]),
  )
  return {
    install(chart) {
      const { name, namespace, target } = placeOf(chart)
      const job = installs.get(`${namespace}/${name}`)
      if (job === undefined) return undefined
      const own = workloads.get(`${target}/${name}`) ?? []
      return { ...withPods(installOf(job), pods), workloads: own.map((one) => workloadOf(one, away)) }
    },
  }
}

/**
 * Returns definitions that the deletion of a chart's release deletes: those in its templates without Helm's keep
 * policy. All objects of their kinds go with them, in every namespace.
 */
export async function definitionsOf(
  client: KubernetesClient,
  api: ClusterApi,
  chart: Foreign,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const path = collectionPath('apiextensions.k8s.io/v1', 'customresourcedefinitions')
  const all = api.answered(await client.list(path, { ...OF_HELM, metadataOnly: true }, signal)) ?? []
  const { name, target } = placeOf(chart)
  return all
    .filter(
      (one) => releaseOf(one) === `${target}/${name}` && annotationsOf(one).get('helm.sh/resource-policy') !== 'keep',
    )
    .flatMap((one) => objectName(one) ?? [])
    .sort()
}

function placeOf(chart: Foreign): { readonly name: string; readonly namespace: string; readonly target: string } {
  const namespace = textOf(at(chart, 'metadata', 'namespace')) ?? ''
  return { name: objectName(chart) ?? '', namespace, target: textOf(at(chart, 'spec', 'targetNamespace')) ?? namespace }
}

function releaseOf(object: Foreign): string {
  const annotations = annotationsOf(object)
  return `${annotations.get('meta.helm.sh/release-namespace') ?? ''}/${annotations.get('meta.helm.sh/release-name') ?? ''}`
}

/** Returns the state of a release's workload. */
export function workloadOf(object: Foreign, nodesAway: number): ChartWorkload {
  const what = `${textOf(object.kind) ?? ''} ${textOf(at(object, 'metadata', 'namespace')) ?? ''}/${objectName(object) ?? ''}`
  const found = readinessByKind({ object }) ?? waits('Unknown', 'not known yet')
  if (found.ready || object.kind !== 'DaemonSet') return { what, readiness: found }
  // A sleeping or lost node lacks its pods: that is the node's problem, not the chart's.
  const missing =
    (numberAt(object, 'status', 'desiredNumberScheduled') ?? 0) - (numberAt(object, 'status', 'numberReady') ?? 0)
  const well = found.reason === 'Pods' && missing > 0 && missing <= nodesAway
  return { what, readiness: well ? { ...found, ready: true, status: 'Current' } : found }
}

function isReady(node: Foreign): boolean {
  return recordsOf(at(node, 'status', 'conditions')).some(({ type, status }) => type === 'Ready' && status === 'True')
}

function installOf(object: Foreign): Omit<InstallDetails, 'workloads'> {
  const job = textOf(at(object, 'metadata', 'uid')) ?? ''
  const ends = recordsOf(at(object, 'status', 'conditions')).filter(({ status }) => status === 'True')
  const failures = numberAt(object, 'status', 'failed') ?? 0
  if (ends.some(({ type }) => type === 'Complete')) return { state: 'complete', job, failures }
  return { state: ends.some(({ type }) => type === 'Failed') ? 'failed' : 'running', job, failures }
}

/** Adds the reports of a job's pods: how often its container failed, and why. Pure. */
function withPods(
  install: Omit<InstallDetails, 'workloads'>,
  pods: readonly Foreign[],
): Omit<InstallDetails, 'workloads'> {
  const own = pods.filter((pod) =>
    recordsOf(at(pod, 'metadata', 'ownerReferences')).some(({ uid }) => uid === install.job),
  )
  const containers = own.flatMap((pod) => recordsOf(at(pod, 'status', 'containerStatuses')))
  const restarts = containers.reduce((sum, one) => sum + (numberAt(one, 'restartCount') ?? 0), 0)
  const said = containers.map((one) => textOf(at(one, 'lastState', 'terminated', 'message'))?.trim()).find(Boolean)
  return { ...install, failures: install.failures + restarts, ...(said === undefined ? {} : { said }) }
}
