import type { Asked, KubernetesClient } from '../../kubernetes/client.ts'
import { at, type Foreign, recordOf, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Connection } from '../../model/connection.ts'
import { builtInKind, type KubeKind } from '../../model/kube-kinds.ts'
import { type KubeObject, objectId, objectList, type WantedObject } from '../../model/kube-object.ts'
import type { Resource } from '../../model/resource.ts'
import type { SecretReference } from '../../model/secret.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { Step } from '../../model/step.ts'
import type { Survey } from '../../model/survey.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import { type DriverDeps, LookFailed, type Session } from '../port.ts'
import { keeperLook } from './handover.ts'
import { type ObjectLook, wantedOf } from './look.ts'
import { markOf, UID_LABEL } from './marks.ts'
import { collectionPath, groupPath, objectPath } from './paths.ts'
import { refusalOfWrite } from './refusals.ts'

/** More missing objects of one kind than this are looked for in one list rather than one by one. */
const FEW = 3

/** The API of one cluster. What is ours is found by one call for each kind that is wanted. */
export function openSession(connection: Connection, deps: DriverDeps): Session {
  const way = deps.kubernetes?.(connection)
  const cluster = connection.cluster?.name ?? connection.name
  const kinds = new Map<string, KubeKind>()
  let wanted: readonly WantedObject[] = []
  let lists = new Map<string, readonly Sighting[]>()
  let keepers = new Map<string, Foreign | undefined>()

  async function open(signal: AbortSignal): Promise<KubernetesClient | undefined> {
    const found = (await way?.find(signal)) ?? { is: 'unformed' as const }
    if (found.is === 'away') throw new LookFailed(unreachable(found.message))
    return found.is === 'open' ? found.client : undefined
  }

  function answered<T>(asked: Asked<T>): T | undefined {
    if (asked.is === 'answer') return asked.value
    if (asked.is === 'error') {
      if (asked.status === 404) return undefined
      throw new LookFailed(asked.refusal)
    }
    way?.lost()
    throw new LookFailed(unreachable(asked.message))
  }

  /** How the cluster calls a kind; undefined when it does not know it (yet). */
  async function kindOf(
    client: KubernetesClient,
    sort: Pick<KubeObject, 'apiVersion' | 'kind'>,
    signal: AbortSignal,
  ): Promise<KubeKind | undefined> {
    const known = builtInKind(sort) ?? kinds.get(objectList(sort))
    if (known !== undefined) return known
    const group = answered(await client.get(groupPath(sort.apiVersion), signal))
    for (const resource of recordsOf(group?.resources)) {
      const [plural, kind] = [textOf(resource.name), textOf(resource.kind)]
      if (plural === undefined || kind === undefined || plural.includes('/')) continue
      kinds.set(objectList({ apiVersion: sort.apiVersion, kind }), { plural, namespaced: resource.namespaced === true })
    }
    return kinds.get(objectList(sort))
  }

  async function readList(
    client: KubernetesClient,
    sort: Pick<KubeObject, 'apiVersion' | 'kind'>,
    signal: AbortSignal,
  ): Promise<readonly Sighting[] | undefined> {
    const kind = await kindOf(client, sort, signal)
    if (kind === undefined) return undefined
    const path = collectionPath(sort.apiVersion, kind.plural)
    const ours = answered(await client.list(path, { labelSelector: UID_LABEL }, signal))
    if (ours === undefined) {
      // It was served before and is no more: its definition went.
      kinds.delete(objectList(sort))
      return undefined
    }
    const list = objectList(sort)
    const declared = wanted.filter(({ object }) => objectList(object) === list)
    const found = new Map<string, Foreign>()
    const note = (object: Foreign) => found.set(idOf(object, sort, kind), { ...object, ...sort })
    for (const object of ours) note(object)
    const missing = declared.filter(({ object }) => !found.has(idFor(object, kind)))
    if (missing.length > FEW) {
      const all = answered(await client.list(path, {}, signal)) ?? []
      const names = new Set(missing.map(({ object }) => idFor(object, kind)))
      for (const object of all) if (names.has(idOf(object, sort, kind))) note(object)
    } else {
      for (const { object } of missing) {
        const there = answered(await client.get(objectPath(scoped(object, kind), kind.plural), signal))
        if (there !== undefined) note(there)
      }
    }
    const installs = sort.kind === 'HelmChart' && found.size > 0 ? await installJobs(client, signal) : new Map()
    const byId = new Map(declared.map((one) => [idFor(one.object, kind), one]))
    const sightings: Sighting[] = []
    for (const [id, object] of found) {
      const one = byId.get(id)
      const install = installs.get(
        `${String(at(object, 'metadata', 'namespace'))}/${String(at(object, 'metadata', 'name'))}`,
      )
      const keeper = await keeperOfObject(client, one, object, signal)
      const secretsDiffer = await differingSecrets(one, object)
      const look: ObjectLook = {
        object: withoutValues(object),
        ...(install === undefined ? {} : { install }),
        ...(keeper === undefined ? {} : { keeper }),
        ...(secretsDiffer.length === 0 ? {} : { secretsDiffer }),
      }
      sightings.push(
        sightingOf(
          connection.name,
          cluster,
          one === undefined ? id : objectId(one.object),
          list,
          look,
          deps.clock.now(),
          one === undefined,
        ),
      )
    }
    return sightings
  }

  /** Which charts were installed, by the jobs that do it. */
  async function installJobs(
    client: KubernetesClient,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, NonNullable<ObjectLook['install']>>> {
    const label = 'helmcharts.helm.cattle.io/chart'
    const jobs = answered(await client.list(collectionPath('batch/v1', 'jobs'), { labelSelector: label }, signal)) ?? []
    return new Map(
      jobs.map((job) => {
        const ends = recordsOf(at(job, 'status', 'conditions')).filter(({ status }) => status === 'True')
        const state = ends.some(({ type }) => type === 'Complete')
          ? 'complete'
          : ends.some(({ type }) => type === 'Failed')
            ? 'failed'
            : 'running'
        return [
          `${String(at(job, 'metadata', 'namespace'))}/${String(at(job, 'metadata', 'labels', label))}`,
          state,
        ] as const
      }),
    )
  }

  /** The one by whom it is or will be kept; each is read once in a pass. */
  async function keeperOfObject(
    client: KubernetesClient,
    one: WantedObject | undefined,
    object: Foreign,
    signal: AbortSignal,
  ): Promise<ObjectLook['keeper']> {
    const kept = keptByOf(markOf(object)?.keptBy) ?? one?.handover?.by
    if (kept === undefined) return undefined
    const id = `${kept.apiVersion} ${objectId(kept)}`
    if (!keepers.has(id)) {
      const kind = await kindOf(client, kept, signal)
      keepers.set(
        id,
        kind === undefined ? undefined : answered(await client.get(objectPath(kept, kind.plural), signal)),
      )
    }
    return keeperLook(keepers.get(id))
  }

  /** Keys whose values differ. A secret that is not to be had now leaves its object alone. */
  async function differingSecrets(one: WantedObject | undefined, object: Foreign): Promise<readonly string[]> {
    const differing: string[] = []
    for (const [key, reference] of Object.entries(one?.secrets ?? {})) {
      const secret = await deps.resolveSecret(reference).catch(() => undefined)
      if (secret === undefined) continue
      if (at(object, 'data', key) !== Buffer.from(secret.reveal()).toString('base64')) differing.push(key)
    }
    return differing
  }

  async function survey(signal: AbortSignal, resources: readonly Resource[] = []): Promise<Survey> {
    wanted = resources.map(wantedOf)
    lists = new Map()
    keepers = new Map()
    const empty = { connection: connection.name, hosts: [], storages: [], sightings: [], tasks: [] }
    // Nothing is asked of a cluster of which nothing is wanted.
    const client = wanted.length === 0 ? undefined : await open(signal)
    if (client === undefined) return { ...empty, atMs: deps.clock.now() }
    const sorts = new Map(wanted.map(({ object }) => [objectList(object), object]))
    const served: string[] = []
    const failures: LookFailed[] = []
    await inParallel([...sorts], LIMITS.objectWrites, async ([list, sort]) => {
      try {
        const found = await readList(client, { apiVersion: sort.apiVersion, kind: sort.kind }, signal)
        lists.set(list, found ?? [])
        if (found !== undefined) served.push(list)
      } catch (error) {
        if (!(error instanceof LookFailed)) throw error
        failures.push(error)
      }
    })
    const [failed] = failures
    if (failed !== undefined) throw failed
    return { ...empty, atMs: deps.clock.now(), served: served.sort() }
  }

  return {
    survey,
    async list(list, signal) {
      const known = lists.get(list)
      if (known !== undefined) return known
      const client = await open(signal)
      if (client === undefined) return []
      const [apiVersion = '', kind = ''] = list.split(' ')
      return (await readList(client, { apiVersion, kind }, signal)) ?? []
    },
    observe: async (sighting) => sighting,
    idIsFree: async () => true,
    taskOutcome: async () => undefined,
    async perform(step, signal) {
      try {
        const client = await open(signal)
        if (client === undefined) return { result: 'not-sent', message: `${cluster} does not stand yet` }
        const outcome = await send(client, step, signal)
        if (outcome.result === 'not-sent' || outcome.result === 'unclear') way?.lost()
        return outcome
      } catch (error) {
        if (error instanceof LookFailed) return { result: 'not-sent', message: error.message }
        throw error
      }
    },
    close: async () => way?.close(),
  }

  async function send(client: KubernetesClient, step: Step, signal: AbortSignal): Promise<Outcome> {
    const { method, params } = step.call
    const doing = step.summary
    if (method === 'DELETE') {
      const { apiVersion = '', kind = '', uid, propagationPolicy = 'Background' } = params
      const path = await pathFor(client, step.call.path, { apiVersion, kind }, signal)
      // Only the very object that was looked at: one that was made anew meanwhile stays.
      const preconditions = uid === undefined ? {} : { preconditions: { uid } }
      const asked = await client.delete(
        path,
        doing,
        { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy, ...preconditions },
        signal,
      )
      if (asked.is === 'error' && asked.status === 404) return { result: 'done' }
      return outcomeOf(asked, doing)
    }
    const object = recordOf(JSON.parse(params.body ?? '{}'))
    const path = await pathFor(client, step.call.path, sortOf(object), signal)
    const filled = await withValues(object, step)
    return outcomeOf(await client.applyAs(path, filled, doing, signal), doing)
  }

  /** The path as the cluster itself spells it: the name of a kind that it had to learn was only a guess. */
  async function pathFor(
    client: KubernetesClient,
    path: string,
    sort: Pick<KubeObject, 'apiVersion' | 'kind'>,
    signal: AbortSignal,
  ): Promise<string> {
    const kind = builtInKind(sort) === undefined ? await kindOf(client, sort, signal) : undefined
    if (kind === undefined) return path
    const [place = '', query] = path.split('?')
    const prefix = groupPath(sort.apiVersion)
    const steps = place.slice(prefix.length + 1).split('/')
    const name = steps.at(-1) ?? ''
    const namespace =
      kind.namespaced && steps[0] === 'namespaces' && steps.length === 4 ? `/namespaces/${steps[1]}` : ''
    return `${prefix}${namespace}/${kind.plural}/${name}${query === undefined ? '' : `?${query}`}`
  }

  async function withValues(object: Foreign, { call, secretParams = [] }: Step): Promise<Foreign> {
    if (secretParams.length === 0) return object
    const data: Record<string, unknown> = { ...recordOf(object.data) }
    for (const name of secretParams) {
      const reference = JSON.parse(call.params[name] ?? '{}') as SecretReference
      let value: string
      try {
        value = (await deps.resolveSecret(reference)).reveal()
      } catch {
        throw new LookFailed({
          reason: 'NoSecret',
          meaning: 'backoff',
          message: `the secret for ${name} is not to be had`,
        })
      }
      data[name.slice('data.'.length)] = Buffer.from(value).toString('base64')
    }
    return { ...object, data }
  }
}

function outcomeOf(asked: Asked<Foreign>, doing: string): Outcome {
  switch (asked.is) {
    case 'answer':
      return { result: 'done' }
    case 'error':
      return { result: 'refused', refusal: refusalOfWrite(asked.status, asked.body, doing, asked.refusal) }
    case 'silence':
      return asked.sent === 'no'
        ? { result: 'not-sent', message: asked.message }
        : { result: 'unclear', message: asked.message }
  }
}

function unreachable(message: string): Refusal {
  return { reason: 'Unreachable', meaning: 'backoff', message, connectionWide: true }
}

function sortOf(object: Foreign): Pick<KubeObject, 'apiVersion' | 'kind'> {
  return { apiVersion: textOf(object.apiVersion) ?? '', kind: textOf(object.kind) ?? '' }
}

/** An object's name in its list, as the cluster has it: what is in no namespace there has none here. */
function idOf(object: Foreign, sort: Pick<KubeObject, 'apiVersion' | 'kind'>, kind: KubeKind): string {
  const metadata = recordOf(object.metadata)
  const name = textOf(metadata.name) ?? ''
  const namespace = kind.namespaced ? textOf(metadata.namespace) : undefined
  return objectId({ ...sort, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } })
}

function idFor(object: KubeObject, kind: KubeKind): string {
  return objectId(scoped(object, kind))
}

function scoped(object: KubeObject, kind: KubeKind): KubeObject {
  if (kind.namespaced) return object
  const { namespace: _, ...metadata } = object.metadata
  return { ...object, metadata: metadata as KubeObject['metadata'] }
}

/** `argocd argoproj.io/v1alpha1 Application.argoproj.io/argocd/cilium`, read back. */
function keptByOf(text: string | undefined): KubeObject | undefined {
  const [, apiVersion, id] = text?.split(' ') ?? []
  const [sort, ...place] = id?.split('/') ?? []
  const name = place.at(-1)
  if (apiVersion === undefined || sort === undefined || name === undefined) return undefined
  const [kind = ''] = sort.split('.')
  const namespace = place.length > 1 ? place[0] : undefined
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } }
}

/** Of a Secret only its keys are kept: its values are compared where they are read and go no further. */
function withoutValues(object: Foreign): Foreign {
  if (object.kind !== 'Secret') return object
  const { data: _data, stringData: _string, ...rest } = object
  return rest
}

function sightingOf(
  connection: string,
  host: string,
  id: string,
  list: string,
  look: ObjectLook,
  atMs: number,
  undeclared: boolean,
): Sighting {
  const mark = markOf(look.object)
  const digest = textOf(at(look.object, 'metadata', 'resourceVersion'))
  return {
    connection,
    type: 'object',
    list,
    externalId: id,
    host,
    name: textOf(at(look.object, 'metadata', 'name')) ?? id,
    close: {
      config: { look },
      atMs,
      ...(digest === undefined ? {} : { digest }),
      ...(mark === undefined ? {} : { facts: { owner: mark.keptBy?.split(' ')[0] ?? 'croft' } }),
    },
    ...(mark === undefined ? {} : { mark }),
    // What goes already is not deleted a second time: somebody's finalizer still holds it.
    ...(undeclared && at(look.object, 'metadata', 'deletionTimestamp') !== undefined ? { lock: 'being deleted' } : {}),
  }
}
