import { createHash } from 'node:crypto'
import { isPodReady } from '../../k3s/kubelet.ts'
import type { EtcdCluster, World } from '../../world/types.ts'
import { definitionsIn, MADE_BY } from '../charts/definitions.ts'
import { definitionObject, factsOf, objectsOf, type Release } from '../charts/release.ts'
import { conditionsOf, type KubeObject, stamp, text, tree } from '../object.ts'
import { all, find, put, remove, type Store } from '../store.ts'
import { born } from './owned-pods.ts'

/* What Helm does in a cluster: it puts a release in place, remembers it in a Secret, and takes it away again. */

const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions'

const PLACES: Readonly<Record<string, string>> = {
  CustomResourceDefinition: DEFINITIONS,
  DaemonSet: 'apps/daemonsets',
  Deployment: 'apps/deployments',
  StatefulSet: 'apps/statefulsets',
  Service: '/services',
  ValidatingWebhookConfiguration: 'admissionregistration.k8s.io/validatingwebhookconfigurations',
  MutatingWebhookConfiguration: 'admissionregistration.k8s.io/mutatingwebhookconfigurations',
}

type Named = Pick<Release, 'name' | 'namespace'>
type Kept = Pick<EtcdCluster, 'store'>

const nameOf = ({ name }: Named) => `sh.helm.release.v1.${name}`

/** The newest Secret by which Helm remembers a release. */
function remembered(cluster: Kept, release: Named): KubeObject | undefined {
  const own = all(cluster.store, '/secrets').filter(
    ({ metadata }) => metadata.namespace === release.namespace && metadata.name.startsWith(`${nameOf(release)}.v`),
  )
  return own.sort((a, b) => revisionOf(b) - revisionOf(a))[0]
}

/** The same text is the same release, whichever job brought it. */
function hashOf(config: string): string {
  return createHash('sha256').update(config).digest('hex').slice(0, 16)
}

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.labels?.version ?? 0)
}

export function isInstalled(cluster: Kept, release: Named, config: string): boolean {
  return remembered(cluster, release)?.metadata.annotations?.['sim/config'] === hashOf(config)
}

/** Installs or upgrades: what the templates say now, where it differs from what they said before. */
export function putInPlace(world: World, cluster: EtcdCluster, release: Release, config: string): void {
  const { store } = cluster
  const last = remembered(cluster, release)
  const before = new Map(renderedIn(last).map((one) => [`${one.kind} ${one.metadata.name}`, one]))
  const objects = objectsOf(release)
  for (const object of objects) {
    const { kind, metadata } = object
    const place = PLACES[kind] ?? ''
    const live = find(store, place, metadata.namespace, metadata.name)
    const former = before.get(`${kind} ${metadata.name}`)
    before.delete(`${kind} ${metadata.name}`)
    if (live === undefined) {
      const spec = kind === 'Service' ? { spec: served(object) } : {}
      put(store, place, {
        ...object,
        ...spec,
        metadata: { ...born(world, metadata.name, metadata.namespace), ...metadata },
      })
      if (kind === 'CustomResourceDefinition') establishNow(world, cluster, metadata.name)
    } else if (former !== undefined && JSON.stringify(former) !== JSON.stringify(object)) {
      const changed = JSON.stringify(former.spec) !== JSON.stringify(object.spec)
      const generation = (live.metadata.generation ?? 1) + (changed ? 1 : 0)
      const { labels, annotations } = metadata
      const spec = kind === 'Service' ? { ...tree(live.spec), ...tree(object.spec) } : object.spec
      put(store, place, {
        ...live,
        ...(object.webhooks === undefined ? (changed ? { spec } : {}) : { webhooks: object.webhooks }),
        metadata: {
          ...live.metadata,
          generation,
          labels: { ...live.metadata.labels, ...labels },
          annotations: { ...live.metadata.annotations, ...annotations },
        },
      })
    }
  }
  for (const gone of before.values()) drop(cluster, gone)
  if (last === undefined) startHooks(world, cluster, release)
  const revision = (last === undefined ? 0 : revisionOf(last)) + 1
  if (last !== undefined) remove(store, '/secrets', release.namespace, last.metadata.name)
  put(store, '/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: {
      ...born(world, `${nameOf(release)}.v${revision}`, release.namespace),
      labels: { owner: 'helm', name: release.name, status: 'deployed', version: `${revision}` },
      annotations: { 'sim/config': hashOf(config) },
    },
    data: { release: Buffer.from(JSON.stringify(objects)).toString('base64') },
  })
}

function renderedIn(secret: KubeObject | undefined): readonly KubeObject[] {
  const packed = text(tree(secret?.data).release)
  return packed === '' ? [] : (JSON.parse(Buffer.from(packed, 'base64').toString('utf8')) as readonly KubeObject[])
}

/** Uninstalls: everything of the release goes, but for what it was told to keep and what is no part of it. */
export function takeAway(cluster: Kept, release: Named): void {
  const last = remembered(cluster, release)
  for (const object of renderedIn(last)) {
    const { annotations = {} } = object.metadata
    if (annotations['helm.sh/resource-policy'] === 'keep' || annotations['meta.helm.sh/release-name'] === undefined)
      continue
    drop(cluster, object)
  }
  if (last !== undefined) remove(cluster.store, '/secrets', release.namespace, last.metadata.name)
}

/** With a definition goes everything of its kind. */
function drop({ store }: Kept, { kind, metadata, spec }: KubeObject): void {
  remove(store, PLACES[kind] ?? '', metadata.namespace, metadata.name)
  if (kind !== 'CustomResourceDefinition') return
  const own = `${text(tree(spec).group)}/${text(tree(tree(spec).names).plural)}`
  for (const one of all(store, own)) remove(store, own, one.metadata.namespace, one.metadata.name)
}

function served(object: KubeObject): unknown {
  const spec = tree(object.spec)
  const { namespace = '', name } = object.metadata
  const number = Number.parseInt(hashOf(`${namespace}/${name}`).slice(0, 4), 16)
  const clusterIP = spec.clusterIP ?? `10.43.${1 + (number >> 8)}.${number & 255}`
  return { sessionAffinity: 'None', ...spec, clusterIP, clusterIPs: spec.clusterIPs ?? [clusterIP] }
}

function establishNow(world: World, cluster: EtcdCluster, name: string): void {
  const definition = find(cluster.store, DEFINITIONS, undefined, name)
  if (definition === undefined) return
  const at = stamp(world.clock.now())
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True', lastTransitionTime: at }))
  put(cluster.store, DEFINITIONS, { ...definition, status: { conditions } })
}

function startHooks(world: World, cluster: EtcdCluster, release: Release): void {
  for (const { name } of factsOf(release)?.hooks ?? [])
    put(cluster.store, 'batch/jobs', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        ...born(world, name, release.namespace),
        labels: { 'app.kubernetes.io/managed-by': 'Helm', 'sim/hook-of': release.chart },
      },
      spec: {
        backoffLimit: 4,
        template: {
          spec: { restartPolicy: 'OnFailure', containers: [{ name, image: `registry.example/${name}:sim` }] },
        },
      },
      status: {},
    })
}

/** Hooks that succeeded go, where their chart says so. */
export function keepHooks({ store }: EtcdCluster): void {
  for (const job of all(store, 'batch/jobs')) {
    const chart = job.metadata.labels?.['sim/hook-of']
    if (chart === undefined || !conditionsOf(job).some(({ type }) => type === 'Complete')) continue
    const goes = factsOf({ chart })?.hooks?.some(({ name, goes: does }) => name === job.metadata.name && does === true)
    if (goes === true) remove(store, 'batch/jobs', job.metadata.namespace, job.metadata.name)
  }
}

const MAKERS = ['apps/deployments', 'apps/statefulsets'] as const

function hasNamed(store: Store, place: string, name: string): boolean {
  for (const key of store.tables.get(place)?.keys() ?? []) if (key.endsWith(`/${name}`)) return true
  return false
}

/** Definitions that a program makes when it first runs. */
export function keepMakers(world: World, cluster: EtcdCluster): void {
  const { store } = cluster
  for (const [maker, table] of Object.entries(MADE_BY)) {
    if (!MAKERS.some((place) => hasNamed(store, place, maker))) continue
    const definitions = definitionsIn(table)
    const [first] = definitions
    if (first === undefined || find(store, DEFINITIONS, undefined, `${first.plural}.${first.group}`) !== undefined)
      continue
    const runs = all(store, '/pods').some(
      ({ metadata, ...pod }) => metadata.name.startsWith(`${maker}-`) && isPodReady({ metadata, ...pod }),
    )
    if (!runs) continue
    for (const one of definitions) {
      const object = definitionObject(one)
      put(store, DEFINITIONS, {
        ...object,
        metadata: { ...born(world, object.metadata.name, undefined), ...object.metadata },
      })
      establishNow(world, cluster, object.metadata.name)
    }
  }
}
