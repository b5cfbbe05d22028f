import type { EtcdCluster, World } from '../../world/types.ts'
import { applyTo } from '../apply.ts'
import { type KubeObject, stamp, type Tree, text, tree } from '../object.ts'
import { all, find, put, remove, type Store } from '../store.ts'
import { takeAway } from './releases.ts'

/** The manifests of a repository by path, not yet applied to a cluster. */
export type Repository = Map<string, readonly Tree[]>

const RESOURCES: Readonly<Record<string, string>> = {
  DaemonSet: 'apps/daemonsets',
  Deployment: 'apps/deployments',
  ConfigMap: '/configmaps',
}

export const KEEPERS = [
  'argoproj.io/applications',
  'kustomize.toolkit.fluxcd.io/kustomizations',
  'helm.toolkit.fluxcd.io/helmreleases',
] as const

/** Runs the agents that a chart installed. They report that they cannot fetch their repository. */
export function keepAgents(world: World, cluster: EtcdCluster): void {
  const { store } = cluster
  const installed = all(store, 'apps/deployments').some(({ metadata }) => AGENTS.has(metadata.name))
  if (installed) playAgents(store, undefined, world.clock.now())
}

const AGENTS: ReadonlySet<string> = new Set(['argocd-repo-server', 'helm-controller'])

const NOT_FETCHED = 'the simulator fetches no repository: only charts are kept here'

/**
 * Argo CD and Flux, as far as others notice them: they apply what stands in their repositories under names of their own,
 * leave their own marks on it, hold what they keep by finalizers, and say how it went.
 */
export function playAgents(store: Store, repository: Repository | undefined, nowMs: number): void {
  const time = stamp(nowMs)
  for (const one of all(store, 'argoproj.io/applications')) {
    const { name } = one.metadata
    const marks = { annotations: { 'argocd.argoproj.io/tracking-id': name } }
    const { source: only, sources } = tree(one.spec)
    const source = tree(only ?? (Array.isArray(sources) ? sources[0] : undefined))
    if (repository === undefined && source.chart === undefined) {
      say(store, 'argoproj.io/applications', one, {
        sync: { status: 'Unknown' },
        health: { status: 'Unknown' },
        conditions: [{ type: 'ComparisonError', message: NOT_FETCHED }],
      })
      continue
    }
    sync(store, repository?.get(text(source.path)) ?? [], marks, 'argocd-controller', time)
    if (rendersAnew(source)) {
      say(store, 'argoproj.io/applications', one, {
        sync: { status: 'OutOfSync' },
        health: { status: 'Healthy' },
        operationState: { message: 'Secret hubble-server-certs differs again' },
      })
      continue
    }
    say(store, 'argoproj.io/applications', one, { sync: { status: 'Synced' }, health: { status: 'Healthy' } })
  }
  const ofCharts = chartRepositories(store)
  for (const one of all(store, 'source.toolkit.fluxcd.io/gitrepositories')) {
    const fetched = repository !== undefined || ofCharts.has(`${one.metadata.namespace}/${one.metadata.name}`)
    say(store, 'source.toolkit.fluxcd.io/gitrepositories', one, readyStatus(one, fetched ? undefined : NOT_FETCHED))
  }
  for (const one of all(store, 'source.toolkit.fluxcd.io/helmrepositories'))
    say(store, 'source.toolkit.fluxcd.io/helmrepositories', one, readyStatus(one))
  for (const one of all(store, 'kustomize.toolkit.fluxcd.io/kustomizations')) {
    if (goes(store, 'kustomize.toolkit.fluxcd.io/kustomizations', one, () => {})) continue
    const marks = { labels: { 'kustomize.toolkit.fluxcd.io/name': one.metadata.name } }
    const path = text(tree(one.spec).path).replace(/^\.\//, '')
    sync(store, repository?.get(path) ?? [], marks, 'kustomize-controller', time)
    const lack = repository === undefined ? NOT_FETCHED : undefined
    say(store, 'kustomize.toolkit.fluxcd.io/kustomizations', one, readyStatus(one, lack))
  }
  for (const one of all(store, 'helm.toolkit.fluxcd.io/helmreleases')) {
    const { namespace } = one.metadata
    const { releaseName, targetNamespace } = tree(one.spec)
    const uninstall = () => takeAway({ store }, { name: text(releaseName), namespace: text(targetNamespace) })
    if (goes(store, 'helm.toolkit.fluxcd.io/helmreleases', one, uninstall)) continue
    const lacking = ((tree(one.spec).valuesFrom ?? []) as readonly Tree[]).filter(
      ({ name: secret }) => find(store, '/secrets', namespace, text(secret)) === undefined,
    )
    const status = lacking.length === 0 ? readyStatus(one) : readyStatus(one, 'could not resolve Secret values')
    say(store, 'helm.toolkit.fluxcd.io/helmreleases', one, status)
  }
}

/** Git repositories that releases take their chart from: a chart is taken as fetched, wherever it is. */
function chartRepositories(store: Store): ReadonlySet<string> {
  return new Set(
    all(store, 'helm.toolkit.fluxcd.io/helmreleases').flatMap(({ metadata, spec }) => {
      const { kind, name, namespace = metadata.namespace } = tree(tree(tree(tree(spec).chart).spec).sourceRef)
      return kind === 'GitRepository' ? [`${text(namespace)}/${text(name)}`] : []
    }),
  )
}

/** Reports whether templates make certificates, which differ at each rendering: an agent that compares them never settles. */
function rendersAnew(source: Tree): boolean {
  const hubble = tree(tree(tree(source.helm).valuesObject).hubble)
  if (source.chart !== 'cilium' || hubble.enabled === false) return false
  const method = text(tree(tree(hubble.tls).auto).method)
  return method === '' || method === 'helm'
}

function sync(store: Store, objects: readonly Tree[], marks: Tree, manager: string, time: string): void {
  for (const object of objects) {
    const metadata = tree(object.metadata)
    const resource = RESOURCES[text(object.kind)] ?? ''
    const live = find(store, resource, text(metadata.namespace), text(metadata.name))
    if (live === undefined) continue
    const sent = { ...object, metadata: { ...metadata, ...marks } }
    const writer = { manager, operation: 'Apply', apiVersion: text(object.apiVersion), time } as const
    const { generation = 1 } = live.metadata
    const next = applyTo(live, sent, writer, true)
    const changed = JSON.stringify(next.spec) !== JSON.stringify(live.spec)
    if (JSON.stringify(next) === JSON.stringify(live)) continue
    put(store, resource, {
      ...next,
      metadata: {
        ...next.metadata,
        ...(live.metadata.generation === undefined ? {} : { generation: generation + (changed ? 1 : 0) }),
      },
    })
  }
}

/** What Flux keeps has its finalizer; when it goes unsuspended, what it installed goes with it. */
function goes(store: Store, resource: string, one: KubeObject, uninstall: () => void): boolean {
  const { deletionTimestamp, finalizers = [], namespace, name } = one.metadata
  const suspended = tree(one.spec).suspend === true
  if (deletionTimestamp !== undefined) {
    if (!suspended) uninstall()
    remove(store, resource, namespace, name)
    return true
  }
  if (suspended) return true
  if (finalizers.length === 0)
    put(store, resource, { ...one, metadata: { ...one.metadata, finalizers: ['finalizers.fluxcd.io'] } })
  return false
}

function readyStatus({ metadata }: KubeObject, lack?: string): Tree {
  const status = lack === undefined ? 'True' : 'False'
  return {
    observedGeneration: metadata.generation ?? 1,
    conditions: [{ type: 'Ready', status, message: lack ?? 'Applied revision: main' }],
  }
}

function say(store: Store, resource: string, { metadata }: KubeObject, status: Tree): void {
  const live = find(store, resource, metadata.namespace, metadata.name)
  if (live === undefined || JSON.stringify(live.status) === JSON.stringify(status)) return
  put(store, resource, { ...live, status })
}
