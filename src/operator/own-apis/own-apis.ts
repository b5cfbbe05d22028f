import { type Asked, type KubernetesClient, segment } from '../../kubernetes/client.ts'
import {
  annotationsOf,
  at,
  type Foreign,
  labelsOf,
  nameOf,
  objectName,
  recordOf,
  recordsOf,
} from '../../kubernetes/objects.ts'
import type { Clock } from '../../lib/clock.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Random } from '../../lib/random.ts'
import type { Wire } from '../../lib/wire.ts'
import { showWaiting } from '../../model/waiting.ts'
import { type Composer, type DescribedApi, definitionKey, type MadeObject } from '../../source/compose/in-cluster.ts'
import type { NamespaceGrants } from '../grants.ts'
import { type DeclaredObject, finalizersOf, stampOf } from '../objects.ts'
import { type ServedKind, takenAlong } from '../served.ts'
import { type IndexedObjects, indexObjects, instanceKey, uidOf, wantedObjects } from './composed-objects.ts'
import {
  type ComposeStep,
  decideInstance,
  INSTANCE_FINALIZER,
  type InstanceDecision,
  type InstanceFacts,
} from './decide.ts'
import { type DefinedApis, definedApis, type ExpandedObject, expandObject } from './expansion.ts'
import { createExternals } from './externals.ts'
import { collectionIn, createFollowedKinds, type KindPlace, placeOfKind, servedDefinitions } from './followed-kinds.ts'
import { DEFINED_BY, DEFINITION_HASH, groupOf, instanceDefinition } from './instance-definition.ts'
import { definitionStatus, dialectOf, instanceStatus } from './shown-status.ts'

export interface OwnApisOptions {
  readonly client: KubernetesClient
  readonly wire: Wire
  readonly clock: Clock
  readonly random: Random
  /** The operator's own namespace. */
  readonly home: string
  /** Other namespaces whose instances it composes, and what they may name. */
  readonly grants: NamespaceGrants
  /** The objects of croft's kinds. */
  readonly source: {
    synced(): boolean
    all(): readonly DeclaredObject[]
    served(): readonly ServedKind[]
    follow(onChange: () => void): () => void
  }
  /** Reads definitions and expands instances, where that can be ended. */
  readonly composer: Composer
  mayWrite(): boolean
  warn(message: string): void
}

const MANAGER = 'fieldManager=croft-compose&force=true'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** Batches changes. */
const GATHER_MS = 200
/** Interval of discoveries: kinds come and go without an event. */
const LOOK_MS = 30_000
const SOON_MS = 1_000
const AT_ONCE = 8
/** Finalizers of the programs that these definitions come from: croft replaces them and removes theirs. */
const FORMER_FINALIZERS: ReadonlySet<string> = new Set([
  'kro.run/finalizer',
  'defined.apiextensions.crossplane.io',
  'offered.apiextensions.crossplane.io',
  'composite.apiextensions.crossplane.io',
  'finalizer.apiextensions.crossplane.io',
])

/** An API with the place of its instances. */
interface ServedApi {
  readonly api: DescribedApi
  readonly place: KindPlace | undefined
  /** Why it is not served. */
  readonly trouble: string | undefined
}

/** Makes, in a cluster, the objects that instances of composed APIs stand for. One replica does so at a time. */
export function createOwnApis(options: OwnApisOptions): { run(signal: AbortSignal): Promise<void> } {
  const { client, clock, home, source } = options
  let changed = true
  let wake = () => {}
  const onChange = () => {
    changed = true
    wake()
  }
  const definitionsOf = createFollowedKinds({ ...options, onChange })
  const instancesOf = createFollowedKinds({ ...options, onChange })
  const externals = createExternals(client)
  let externalsReadMs = Number.NEGATIVE_INFINITY
  let definitionPlaces: readonly KindPlace[] = []
  let lookedMs = Number.NEGATIVE_INFINITY
  let read:
    | { readonly stamp: string; readonly definitions: readonly Foreign[]; readonly found: DefinedApis }
    | undefined
  let servedApis: { readonly stamp: string; readonly found: readonly ServedApi[] } | undefined
  const expanded = new Map<string, { readonly stamp: string; readonly result: ExpandedObject }>()

  /** Computed status fields, by the path of the instance. */
  const projections = new Map<
    string,
    { readonly stamp: string; readonly definitions: readonly Foreign[]; readonly status: Foreign }
  >()

  /** Refused writes, by the path of the instance. */
  const refusals = new Map<string, string>()

  const taken = (asked: Asked<Foreign>, note: (object: Foreign) => void, instance?: string): boolean => {
    if (asked.is === 'answer') {
      note(asked.value)
      return true
    }
    if (instance !== undefined && asked.is === 'error' && asked.status !== 409) {
      const { message } = asked.refusal
      if (refusals.get(instance) !== message) options.warn(message)
      refusals.set(instance, message)
      return false
    }
    // Another writer was faster, or it is gone: the watch reports that, and the object is judged again.
    if (asked.is === 'silence' || (asked.status !== 409 && asked.status !== 404))
      options.warn(asked.is === 'error' ? asked.refusal.message : asked.message)
    return false
  }

  const patched = (path: string, collection: string, patch: Foreign, kinds: typeof definitionsOf, doing: string) =>
    options.mayWrite()
      ? client.merge(path, patch, doing).then((asked) => taken(asked, (object) => kinds.note(collection, object)))
      : Promise.resolve(false)

  const finalizerPatch = (object: Foreign, finalizers: readonly string[]): Foreign => ({
    metadata: { resourceVersion: at(object, 'metadata', 'resourceVersion'), finalizers },
  })

  /** Makes the definition of an instance's kind if there is none. Returns why it cannot be served, as text. */
  const serve = async (versions: readonly DescribedApi[]): Promise<string | undefined> => {
    const wanted = instanceDefinition(versions)
    if (wanted === undefined) return undefined
    const path = `${DEFINITIONS}/${segment(objectName(wanted) ?? '')}`
    const there = await client.get(path)
    if (there.is === 'silence') return there.message
    if (there.is === 'error' && there.status !== 404) return there.refusal.message
    if (there.is === 'answer') {
      // Definitions made by kro or Crossplane stay.
      if (!labelsOf(there.value).has(DEFINED_BY)) return undefined
      if (annotationsOf(there.value).get(DEFINITION_HASH) === annotationsOf(wanted).get(DEFINITION_HASH))
        return undefined
    }
    if (!options.mayWrite()) return 'another replica is about to define it'
    const asked = await client.applyAs(`${path}?${MANAGER}`, wanted, `define ${objectName(wanted)}`)
    return asked.is === 'answer' ? undefined : asked.is === 'error' ? asked.refusal.message : asked.message
  }

  const serveAll = async ({ apis }: DefinedApis): Promise<readonly ServedApi[]> => {
    const found: ServedApi[] = []
    for (const versions of Map.groupBy(apis, (api) => `${groupOf(api)} ${api.kind}`).values()) {
      const wrong = await serve(versions)
      for (const api of versions) {
        const place = await placeOfKind(client, api.apiVersion, api.kind)
        const known = place !== undefined && 'plural' in place ? place : undefined
        const why = place !== undefined && 'trouble' in place ? place.trouble : 'the cluster does not serve it yet'
        found.push({ api, place: known, trouble: known === undefined ? (wrong ?? why) : undefined })
      }
    }
    return found
  }

  const perform = async (step: ComposeStep, { object, path, collection }: PlacedInstance): Promise<boolean> => {
    if (!options.mayWrite()) return false
    switch (step.do) {
      case 'hold':
        return patched(
          path,
          collection,
          finalizerPatch(object, [...finalizersOf(object), INSTANCE_FINALIZER]),
          instancesOf,
          `mark ${objectName(object)}`,
        )
      case 'release': {
        const left = finalizersOf(object).filter((one) => one !== INSTANCE_FINALIZER && !FORMER_FINALIZERS.has(one))
        return patched(path, collection, finalizerPatch(object, left), instancesOf, `release ${objectName(object)}`)
      }
      case 'apply': {
        const { served, namespace, name, key, object: wanted } = step.wanted
        const place = `${collectionIn(served, namespace ?? home)}/${segment(name)}`
        return taken(await client.applyAs(`${place}?${MANAGER}`, wanted, `make ${key}`), () => {}, path)
      }
      case 'delete': {
        const { served, object: child, key } = step.child
        const namespace = nameOf(at(child, 'metadata', 'namespace')) ?? home
        const place = `${collectionIn(served, namespace)}/${segment(objectName(child) ?? '')}`
        const preconditions = { uid: uidOf(child) }
        return taken(await client.delete(place, `delete ${key}`, { preconditions }), () => {})
      }
    }
  }

  interface PlacedInstance {
    readonly api: DescribedApi
    readonly place: KindPlace
    readonly object: Foreign
    readonly path: string
    readonly collection: string
    readonly key: string
  }

  /** The input of one look. */
  interface SeenObjects {
    readonly found: DefinedApis
    readonly definitions: readonly Foreign[]
    /** Stamp of the definitions. */
    readonly stamp: string
    readonly objects: IndexedObjects
  }

  const placedInstances = (apis: readonly ServedApi[]): readonly PlacedInstance[] =>
    apis.flatMap(({ api, place }) => {
      // All versions serve the same objects: read one of them.
      if (place === undefined || !isFirstVersion(api, apis)) return []
      return collectionsOf(place, options).flatMap((collection) =>
        instancesOf.objects(collection).flatMap((object) => {
          // A bound claim is represented by the composite that it names.
          if (at(object, 'spec', 'resourceRef', 'name') !== undefined) return []
          const path = `${collection}/${segment(objectName(object) ?? '')}`
          const key = instanceKey(api.kind, object, home)
          return [
            { api, place, object: { apiVersion: api.apiVersion, kind: api.kind, ...object }, path, collection, key },
          ]
        }),
      )
    })

  const factsOf = async (one: PlacedInstance, seen: SeenObjects): Promise<InstanceFacts> => {
    const { found, definitions, stamp, objects } = seen
    const { api, object, place } = one
    const uid = uidOf(object)
    // A writer of another namespace could label an object as made for an instance here.
    const space = nameOf(at(object, 'metadata', 'namespace'))
    const inSpace = space === home ? undefined : space
    const children = objects.madeFor(uid).filter((child) => child.namespace === inSpace)
    const deleting = at(object, 'metadata', 'deletionTimestamp') !== undefined
    const namespace = nameOf(at(object, 'metadata', 'namespace')) ?? home
    const along = deleting ? await takenAlong(client, place, namespace) : undefined
    // Expressions may read live objects, so they are part of the stamp.
    const values = found.readsWorld ? [...children.map(valuesIn), String(externals.stamp())] : []
    const own = [stampOf({ object }), ...values].join(' ')
    const before = expanded.get(one.path)
    const grant = inSpace === undefined ? undefined : options.grants.get(inSpace)
    const context = { definitions, home, children, grant, externals }
    const result =
      before?.stamp === `${stamp} ${own}` ? before.result : await expandObject(options.composer, object, context)
    // Unknown results are asked for again; the composer skips those that were too costly.
    if (!('unknown' in result)) expanded.set(one.path, { stamp: `${stamp} ${own}`, result })
    const wrong = found.problems.get(api.definition)
    if (wrong !== undefined)
      return {
        object,
        along,
        children,
        strangers: [],
        wanted: { problem: `${api.definition} has errors: ${wrong[0]}` },
      }
    if ('problem' in result) return { object, along, children, strangers: [], wanted: result }
    const wanted = wantedObjects(
      result.made,
      { object, apiVersion: api.apiVersion, kind: api.kind, path: one.path },
      { home, served: source.served(), children },
    )
    if (typeof wanted === 'string') return { object, along, children, strangers: [], wanted: { problem: wanted } }
    const ours = new Set(children.map(({ key }) => key))
    const keys = [...new Set(wanted.map(({ key }) => key))]
    const strangers = keys.filter((key) => !ours.has(key) && objects.withKey(key).length > 0)
    const refusal = refusals.get(one.path)
    return { object, along, children, strangers, wanted, waiting: waitingIn(result.made, inSpace), refusal }
  }

  /** Returns the instance's status fields from its objects; the old ones if they cannot be known now. */
  const projectedStatus = async (
    { path, object }: PlacedInstance,
    made: ReadonlyMap<string, readonly Foreign[]>,
    definitions: readonly Foreign[],
  ): Promise<Foreign> => {
    const stamp = JSON.stringify([stampOf({ object }), [...made].map(([id, all]) => [id, all.map(versionOf)])])
    const before = projections.get(path)
    if (before?.stamp === stamp && before.definitions === definitions) return before.status
    const answer = await options.composer.ask(definitions, { ask: 'status', instance: object, made })
    if (answer.answer !== 'status') return before?.status ?? {}
    projections.set(path, { stamp, definitions, status: answer.status })
    return answer.status
  }

  const reconcile = async (one: PlacedInstance, seen: SeenObjects): Promise<void> => {
    const facts = await factsOf(one, seen)
    const { api, object, path, collection } = one
    const made = new Map<string, Foreign[]>()
    if (!('problem' in facts.wanted))
      for (const { id, key } of facts.wanted) {
        const child = facts.children.find((each) => each.key === key)
        if (child !== undefined) made.set(id, [...(made.get(id) ?? []), child.object])
      }
    const projected = await projectedStatus(one, made, seen.definitions)
    const tell = async (decision: InstanceDecision): Promise<void> => {
      const status = instanceStatus(object, dialectOf(api.definition), decision, projected, clock.now())
      if (status !== undefined && decision.steps[0]?.do !== 'release')
        await patched(`${path}/status`, collection, { status }, instancesOf, `write the status of ${one.key}`)
    }
    const decision = decideInstance(facts)
    await tell(decision)
    let whole = true
    for (const step of decision.steps) {
      whole = await perform(step, one)
      if (!whole) break
    }
    if (whole) refusals.delete(path)
    const refusal = refusals.get(path)
    if (refusal !== undefined && refusal !== facts.refusal) await tell(decideInstance({ ...facts, refusal }))
  }

  const tellDefinition = async (
    object: Foreign,
    collection: string,
    about: {
      readonly found: DefinedApis
      readonly apis: readonly ServedApi[]
      readonly all: readonly PlacedInstance[]
    },
  ): Promise<void> => {
    const key = definitionKey(object)
    const kind = nameOf(object.kind)
    // These have no status: their problems are shown on the definition that they serve.
    if (kind === 'Composition' || kind === 'EnvironmentConfig') return
    const path = `${collection}/${segment(objectName(object) ?? '')}`
    const own = about.apis.filter(({ api }) => api.definition === key)
    const holding = about.all.filter(({ api }) => api.definition === key).map((one) => one.key)
    const compositions = [...about.found.problems]
      .filter(([name]) => name.startsWith('Composition/') && isFor(name, object))
      .flatMap(([name, texts]) => texts.map((text) => `${name}: ${text}`))
    const troubles = own.flatMap(({ place, trouble }) => [
      ...(trouble === undefined ? [] : [trouble]),
      ...(place === undefined ? [] : collectionsOf(place, options).flatMap((each) => instancesOf.trouble(each) ?? [])),
    ])
    const verdict = {
      problems: [...(about.found.problems.get(key) ?? []), ...compositions],
      unserved: troubles[0],
      holding,
      order: own[0]?.api.order ?? [],
    }
    const deleting = at(object, 'metadata', 'deletionTimestamp') !== undefined
    const held = finalizersOf(object)
    if (deleting && holding.length === 0) {
      const left = held.filter((one) => one !== INSTANCE_FINALIZER && !FORMER_FINALIZERS.has(one))
      if (left.length < held.length)
        await patched(path, collection, finalizerPatch(object, left), definitionsOf, `release ${key}`)
      return
    }
    if (!deleting && holding.length > 0 && !held.includes(INSTANCE_FINALIZER))
      await patched(
        path,
        collection,
        finalizerPatch(object, [...held, INSTANCE_FINALIZER]),
        definitionsOf,
        `mark ${key}`,
      )
    const status = definitionStatus(object, dialectOf(key), verdict, clock.now())
    if (status !== undefined)
      await patched(`${path}/status`, collection, { status }, definitionsOf, `write the status of ${key}`)
  }

  /** Reports whether this Composition serves the definition. */
  const isFor = (name: string, definition: Foreign): boolean => {
    const composition = definitionObjects().find(({ object }) => definitionKey(object) === name)?.object
    const wanted = recordOf(at(composition, 'spec', 'compositeTypeRef'))
    const group = String(wanted.apiVersion).split('/')[0]
    return wanted.kind === at(definition, 'spec', 'names', 'kind') && group === at(definition, 'spec', 'group')
  }

  const definitionObjects = () =>
    definitionPlaces.flatMap((place) => {
      const collection = collectionIn(place, home)
      return definitionsOf
        .objects(collection)
        .map((object) => ({ collection, object: { apiVersion: place.apiVersion, ...object } as Foreign }))
    })

  /** Returns false if something could not be read yet. */
  const look = async (signal: AbortSignal): Promise<boolean> => {
    if (clock.monotonicMs() - lookedMs >= LOOK_MS) {
      const found = await servedDefinitions(client)
      if ('trouble' in found) {
        if (!signal.aborted) options.warn(found.trouble)
        return false
      }
      definitionPlaces = found
      servedApis = undefined
      lookedMs = clock.monotonicMs()
      definitionsOf.follow(
        found.map((place) => collectionIn(place, home)),
        signal,
      )
    }
    if (!definitionPlaces.every((place) => definitionsOf.synced(collectionIn(place, home)))) return false
    const objects = definitionObjects()
    const stamp = objects.map(({ object }) => stampOf({ object })).join('\n')
    if (read?.stamp !== stamp) {
      const definitions = objects.map(({ object }) => object)
      read = { stamp, definitions, found: await definedApis(options.composer, definitions) }
    }
    const { found, definitions } = read
    if (servedApis?.stamp !== stamp) servedApis = { stamp, found: await serveAll(found) }
    const apis = servedApis.found
    const places = apis.flatMap(({ place, api }) => (place !== undefined && isFirstVersion(api, apis) ? [place] : []))
    const collections = places.flatMap((place) => collectionsOf(place, options))
    instancesOf.follow(collections, signal)
    const all = placedInstances(apis)
    for (const known of [expanded, projections])
      for (const path of known.keys()) if (!all.some((one) => one.path === path)) known.delete(path)
    const complete = source.synced() && collections.every((each) => instancesOf.synced(each))
    if (found.readsWorld && clock.monotonicMs() - externalsReadMs >= LOOK_MS) {
      await externals.read()
      externalsReadMs = clock.monotonicMs()
    }
    if (complete) {
      const seen = { found, definitions, stamp, objects: indexObjects(source.all()) }
      await inParallel(all, AT_ONCE, (one) => reconcile(one, seen))
    }
    // An unlisted kind may have instances: then its definition stays.
    if (complete || apis.some(({ trouble }) => trouble !== undefined))
      await inParallel(objects, AT_ONCE, async ({ object, collection }) => {
        if (complete || at(object, 'metadata', 'deletionTimestamp') === undefined)
          await tellDefinition(object, collection, { found, apis, all })
      })
    if (apis.some(({ place }) => place === undefined)) servedApis = undefined
    // Read newly requested objects at once.
    if (externals.unread() && (await externals.read())) changed = true
    return complete && servedApis !== undefined
  }

  return {
    async run(signal) {
      const unfollow = source.follow(onChange)
      try {
        while (!signal.aborted) {
          changed = false
          const settled = await look(signal).catch((error: unknown) => {
            options.warn(`own APIs: ${error instanceof Error ? error.message : String(error)}`)
            return false
          })
          if (signal.aborted) return
          if (!changed) {
            const over = new AbortController()
            wake = () => over.abort()
            await clock.sleep(settled ? LOOK_MS : SOON_MS, AbortSignal.any([signal, over.signal]))
            wake = () => {}
          }
          await clock.sleep(GATHER_MS, signal)
        }
      } finally {
        unfollow()
      }
    },
  }
}

function isFirstVersion(api: DescribedApi, apis: readonly ServedApi[]): boolean {
  const same = apis.filter(
    (one) => one.place !== undefined && one.api.kind === api.kind && groupOf(one.api) === groupOf(api),
  )
  return (same.find((one) => one.api.serving.stored) ?? same[0])?.api === api
}

function versionOf(object: Foreign): unknown {
  return [uidOf(object), at(object, 'metadata', 'resourceVersion')]
}

function collectionsOf(place: KindPlace, { grants, home }: OwnApisOptions): readonly string[] {
  return place.namespaced
    ? [home, ...grants.keys()].map((one) => collectionIn(place, one))
    : [collectionIn(place, home)]
}

/** Returns the fields of an object that expressions may read: without times of conditions. */
function valuesIn({ object }: DeclaredObject): string {
  const status = recordOf(object.status)
  const conditions = recordsOf(status.conditions).map(({ lastTransitionTime: _, ...one }) => one)
  return JSON.stringify([uidOf(object), { ...status, conditions }])
}

/** Returns the waiting documents of an instance. Keys are of objects in the instance's namespace. */
function waitingIn(made: readonly MadeObject[], namespace: string | undefined): InstanceFacts['waiting'] {
  const waits = made.filter((one) => one.waits !== undefined)
  if (waits.length === 0) return undefined
  const keys = waits.flatMap((one) => one.keys)
  const spaced = keys.map((key) => {
    const [kind, name, more] = key.split('/')
    return more === undefined && namespace !== undefined ? `${kind}/${namespace}/${name}` : key
  })
  return {
    keys: new Set([...keys, ...spaced]),
    unnamed: waits.some((one) => one.keys.length === 0),
    texts: waits.flatMap(({ waits: all = [] }) => all.map((one) => `${one.key ?? one.instance}: ${showWaiting(one)}`)),
  }
}
