import type { KubernetesClient } from '../../kubernetes/client.ts'
import { at, type Foreign, recordOf, textOf } from '../../kubernetes/objects.ts'
import { defined } from '../../lib/defined.ts'
import { type Connection, clusterName } from '../../model/estate.ts'
import {
  isRelease,
  type KubeKind,
  type KubeObject,
  objectId,
  objectList,
  type WantedObject,
} from '../../model/kube-object.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { DriverDeps } from '../port.ts'
import { type ClusterApi, collectionPath, objectPath, type TypeMeta } from './api.ts'
import { keeperLook } from './handover.ts'
import { type ManifestsRead, readHelmReleases } from './helm/reading.ts'
import { keptByOf, markOf, type ObjectDetails, UID_LABEL } from './marks.ts'
import { objectReadiness } from './readiness.ts'
import { definitionsOf, readReleases } from './releases.ts'

/** Above this number of missing objects of a kind, one list replaces single reads. */
const FEW = 3

/** Reads whole kinds of objects per pass; shared reads happen once. */
export interface ObjectReader {
  /** Returns all our objects of that kind, and the wanted ones that exist. Undefined: the cluster does not serve it. */
  readList(
    client: KubernetesClient,
    sort: TypeMeta,
    signal: AbortSignal,
  ): Promise<readonly ObservedResource[] | undefined>
}

export function createReader(
  connection: Connection,
  deps: Pick<DriverDeps, 'clock' | 'resolveSecret' | 'helm' | 'expressions'>,
  api: ClusterApi,
  wanted: readonly WantedObject[],
  manifests: ManifestsRead,
): ObjectReader {
  const cluster = clusterName(connection)
  const keepers = new Map<string, Foreign | undefined>()

  /** Returns objects with our label, and declared ones without it: a foreign object may have that name. */
  async function found(
    client: KubernetesClient,
    sort: TypeMeta,
    kind: KubeKind,
    declared: readonly WantedObject[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Foreign> | undefined> {
    const path = collectionPath(sort.apiVersion, kind.plural)
    const ours = api.answered(await client.list(path, { labelSelector: UID_LABEL }, signal))
    if (ours === undefined) return undefined
    const objects = new Map<string, Foreign>()
    const note = (object: Foreign) => objects.set(idOf(object, sort, kind), { ...object, ...sort })
    for (const object of ours) note(object)
    const missing = declared.filter(({ object }) => !objects.has(idFor(object, kind)))
    if (missing.length > FEW) {
      const names = new Set(missing.map(({ object }) => idFor(object, kind)))
      const all = api.answered(await client.list(path, {}, signal)) ?? []
      for (const object of all) if (names.has(idOf(object, sort, kind))) note(object)
    } else {
      for (const { object } of missing) {
        const there = api.answered(await client.get(objectPath(scoped(object, kind), kind.plural), signal))
        if (there !== undefined) note(there)
      }
    }
    return objects
  }

  async function readList(
    client: KubernetesClient,
    sort: TypeMeta,
    signal: AbortSignal,
  ): Promise<readonly ObservedResource[] | undefined> {
    const list = objectList(sort)
    const declared = wanted.filter(({ object }) => objectList(object) === list)
    if (isRelease(sort)) return readHelmReleases(client, { api, deps, connection, wanted: declared, manifests }, signal)
    const kind = await api.kindOf(client, sort, signal)
    if (kind === undefined) return undefined
    const objects = await found(client, sort, kind, declared, signal)
    if (objects === undefined) {
      api.forget(sort)
      return undefined
    }
    const releases = sort.kind === 'HelmChart' && objects.size > 0 ? await readReleases(client, api, signal) : undefined
    const byId = new Map(declared.map((one) => [idFor(one.object, kind), one]))
    const looks: { readonly id: string; readonly one: WantedObject | undefined; readonly look: ObjectDetails }[] = []
    for (const [id, object] of objects) {
      const one = byId.get(id)
      const install = releases?.install(object)
      const leaving = releases !== undefined && one === undefined
      const definitions = leaving ? await definitionsOf(client, api, object, signal) : []
      const keeper = await keeperOfObject(client, one, object, signal)
      const secretsDiffer = await differingSecrets(one, object)
      const look: ObjectDetails = {
        object: withoutValues(object),
        ...defined({ install }),
        ...(definitions.length === 0 ? {} : { definitions }),
        ...defined({ keeper }),
        ...(secretsDiffer.length === 0 ? {} : { secretsDiffer }),
      }
      looks.push({ id, one, look })
    }
    const answered = await answeredBy(looks, deps)
    return looks.map(({ id, one }, index) => {
      const about = { connection: connection.name, host: cluster, list, undeclared: one === undefined }
      const look = answered[index] ?? { object: {} }
      return observedFrom(one === undefined ? id : objectId(one.object), look, about, deps.clock.now())
    })
  }

  /** Returns its current or future keeper; each is read once per pass. */
  async function keeperOfObject(
    client: KubernetesClient,
    one: WantedObject | undefined,
    object: Foreign,
    signal: AbortSignal,
  ): Promise<ObjectDetails['keeper']> {
    const kept = keptByOf(markOf(object)?.keptBy) ?? one?.handover?.by
    if (kept === undefined) return undefined
    const id = `${kept.apiVersion} ${objectId(kept)}`
    if (!keepers.has(id)) {
      const kind = await api.kindOf(client, kept, signal)
      const path = kind === undefined ? undefined : objectPath(kept, kind.plural)
      keepers.set(id, path === undefined ? undefined : api.answered(await client.get(path, signal)))
    }
    return keeperLook(keepers.get(id))
  }

  /** Returns keys whose values differ. If a secret is unreadable now, its object is left alone. */
  async function differingSecrets(one: WantedObject | undefined, object: Foreign): Promise<readonly string[]> {
    const differing: string[] = []
    for (const [key, reference] of Object.entries(one?.secrets ?? {})) {
      const secret = await deps.resolveSecret(reference).catch(() => undefined)
      if (secret === undefined) continue
      if (at(object, 'data', key) !== Buffer.from(secret.reveal()).toString('base64')) differing.push(key)
    }
    return differing
  }

  return { readList }
}

/** Adds the results of the add-ons' expressions, for objects that are otherwise ready. */
async function answeredBy(
  looks: readonly { readonly one: WantedObject | undefined; readonly look: ObjectDetails }[],
  { expressions }: Pick<DriverDeps, 'expressions'>,
): Promise<readonly ObjectDetails[]> {
  const open = looks.flatMap(({ one, look }) =>
    one?.ready === undefined || !objectReadiness(look).ready ? [] : [{ look, expression: one.ready }],
  )
  if (open.length === 0 || expressions === undefined) return looks.map(({ look }) => look)
  const answers = await expressions.answers(
    open.map(({ look: { object }, expression }) => ({ expression, object, name: 'object' })),
  )
  const byLook = new Map(
    open.map(({ look, expression }, index) => [look, { expression, answer: answers[index] ?? '' }]),
  )
  return looks.map(({ look }) => ({ ...look, ...defined({ answered: byLook.get(look) }) }))
}

/** Returns an object's name in its list, as the cluster has it: without a namespace if it is cluster-scoped. */
function idOf(object: Foreign, sort: TypeMeta, kind: KubeKind): string {
  const metadata = recordOf(object.metadata)
  const name = textOf(metadata.name) ?? ''
  const namespace = kind.namespaced ? textOf(metadata.namespace) : undefined
  return objectId({ ...sort, metadata: { name, ...defined({ namespace }) } })
}

function idFor(object: KubeObject, kind: KubeKind): string {
  return objectId(scoped(object, kind))
}

function scoped(object: KubeObject, kind: KubeKind): KubeObject {
  if (kind.namespaced) return object
  const { namespace: _, ...metadata } = object.metadata
  return { ...object, metadata: metadata as KubeObject['metadata'] }
}

/** Keeps only a Secret's keys: its values are compared where they are read and stay there. */
export function withoutValues(object: Foreign): Foreign {
  if (object.kind !== 'Secret') return object
  const { data: _data, stringData: _string, ...rest } = object
  return rest
}

function observedFrom(
  id: string,
  look: ObjectDetails,
  {
    undeclared,
    ...about
  }: { readonly connection: string; readonly host: string; readonly list: string; readonly undeclared: boolean },
  atMs: number,
): ObservedResource {
  const mark = markOf(look.object)
  const digest = textOf(at(look.object, 'metadata', 'resourceVersion'))
  return {
    ...about,
    type: 'object',
    externalId: id,
    name: textOf(at(look.object, 'metadata', 'name')) ?? id,
    close: {
      config: { look },
      atMs,
      ...defined({ digest }),
      ...(mark === undefined ? {} : { facts: { owner: mark.keptBy?.split(' ')[0] ?? 'croft' } }),
    },
    ...defined({ mark }),
    // Do not delete twice what is being deleted: a finalizer still holds it.
    ...(undeclared && at(look.object, 'metadata', 'deletionTimestamp') !== undefined ? { lock: 'being deleted' } : {}),
  }
}
