import { DEPENDS_ON, READY_WHEN } from '../../kinds/fields/annotations.ts'
import { fieldPath } from '../../kinds/fields/problem.ts'
import type { FieldProblem, Kind } from '../../kinds/kind.ts'
import { findKind } from '../../kinds/registry.ts'
import { failedOn } from '../../lib/failed-on.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type ComposedBy, type Origin, type ResourceKey, resourceKey } from '../../model/declaration.ts'
import type { ObjectReference } from '../../model/foreign-object.ts'
import type { KnownObject, WaitingFor } from '../../model/waiting.ts'
import { type JudgedObject, judgeDocument } from '../judge.ts'
import { isFields } from '../manifest.ts'
import type { ComposedApi, ComposedDocument, LiveObjects, PlacedObject, TemplatePlace } from './api.ts'
import { typeOfExpression } from './expression-type.ts'
import { ANYTHING, conform, type DocumentFields } from './shape.ts'

/** One document made for an instance, as judged. */
export interface MadeDocument {
  /** Id of the definition's resource; for a nested instance's document, that instance's resource. */
  readonly id: string
  /** The resource of the definition, with a number where it makes several. */
  readonly part: string
  readonly manifest: DocumentFields
  readonly file: string
  readonly judged: readonly JudgedObject[]
  readonly keys: readonly ResourceKey[]
  /** Keys that must be made first. */
  readonly after: readonly ResourceKey[]
  /** Marks an object of a cluster, in an add-on. */
  readonly inCluster?: true
  /** What it waits for: it is not made yet, and an object with its key stays. Without a key, none is known. */
  readonly waits?: readonly WaitingFor[]
}

/** Everything that an expansion needs, other than the instance. */
export interface ExpansionScope {
  /** The namespace whose objects have the keys that they would have in a file. */
  readonly home?: string
  /** By `idOfApi`. */
  readonly apis: ReadonlyMap<string, ComposedApi>
  /** The observed object with a key. Absent if no objects were observed. */
  known?(key: ResourceKey): KnownObject | undefined
  /** Returns a foreign object, of this cluster where one is named, and records the instance that reads it. */
  external?(
    reference: ObjectReference,
    cluster: string | undefined,
    by: Pick<ComposedBy, 'instance' | 'origin'>,
  ): DocumentFields | undefined | string
  complain(place: TemplatePlace, problem: FieldProblem): void
  originOf(place: TemplatePlace): Origin
}

const DEPTH = 10
const CLUSTER = 'croft.dev/cluster'

export function idOfApi({ apiVersion, kind }: Readonly<{ apiVersion?: unknown; kind?: unknown }>): string {
  return `${String(apiVersion)} ${String(kind)}`
}

/** Returns an instance's documents in the order in which they are made, nested ones included, and its problems. */
export function expandInstance(
  instance: PlacedObject,
  api: ComposedApi,
  scope: ExpansionScope,
): readonly MadeDocument[] {
  try {
    return expandedAt(instance, api, { ...scope, left: LIMITS.composedDocuments }, 0).made
  } catch (error) {
    if (error instanceof TooManyNested) {
      const { name } = isFields(instance.value.metadata) ? instance.value.metadata : {}
      const message = `${api.kind}/${String(name)} makes more than ${LIMITS.composedDocuments} objects with the instances in it`
      scope.complain(instance, { code: 'too-many', path: [], message })
      return []
    }
    scope.complain(instance, { path: [], ...failedOn(`this ${api.kind}`, error) })
    return []
  }
}

/** Thrown if nested instances exceed the limit together, each being within it. */
class TooManyNested extends Error {}

/** The scope with the number of documents that one instance may still make, nested ones included. */
interface CountedScope extends ExpansionScope {
  left: number
}

interface ExpandedInstance {
  readonly made: readonly MadeDocument[]
  /** The status by its definition and the live objects. */
  readonly status: DocumentFields
}

const NOTHING: ExpandedInstance = { made: [], status: {} }

function expandedAt(instance: PlacedObject, api: ComposedApi, scope: CountedScope, depth: number): ExpandedInstance {
  const { complain } = scope
  const metadata = isFields(instance.value.metadata) ? instance.value.metadata : {}
  const { name } = metadata
  if (typeof name !== 'string' || name === '') {
    complain(instance, { code: 'missing-field', path: ['metadata', 'name'], message: 'metadata.name is missing' })
    return NOTHING
  }
  if (depth > DEPTH) {
    complain(instance, { code: 'bad-graph', path: [], message: `${api.kind} is made of itself` })
    return NOTHING
  }
  const { value: spec, problems: wrong } = conform(api.spec, instance.value.spec ?? {}, ['spec'])
  for (const one of wrong) complain(instance, one)
  if (wrong.length > 0) return NOTHING
  const cluster = clusterIn(metadata) ?? clusterIn(isFields(api.metadata) ? api.metadata : {})
  const addonOf = (part: string) => `${name}-${part}`.toLowerCase().replaceAll('_', '-')
  const place = ({
    path,
    place: own = api.place,
  }: {
    readonly path: ComposedDocument['path']
    readonly place?: TemplatePlace
  }) => ({
    ...own,
    base: [...own.base, ...path],
  })
  const nestedBy = new Map<DocumentFields, ExpandedInstance>()
  const nestedIn = (document: Pick<ComposedDocument, 'value' | 'path'>, nested: ComposedApi): ExpandedInstance => {
    const before = nestedBy.get(document.value)
    const found = before ?? expandedAt({ ...place(document), value: document.value }, nested, scope, depth + 1)
    nestedBy.set(document.value, found)
    return found
  }
  const seen = new Map<string, DocumentFields[]>()
  const keysOf = new Map<string, ResourceKey[]>()
  const { namespace: said } = metadata
  const namespace = typeof said === 'string' && said !== scope.home ? said : undefined
  const by: ComposedBy = {
    instance: resourceKey(api.kind, name, namespace),
    definition: api.definition,
    origin: scope.originOf(instance),
  }
  const live: LiveObjects = {
    made({ id, value, path, index, count }) {
      const nested = scope.apis.get(idOfApi(value))
      const kind = kindIn(value)
      const find = (): DocumentFields | undefined => {
        if (nested !== undefined) return { ...value, status: nestedIn({ value, path }, nested).status }
        if (kind === undefined)
          return scope.known?.(resourceKey('Addon', addonOf(count === 1 ? id : `${id}-${index}`)))?.object
        const known = scope.known?.(keyIn(value, kind, scope.home))
        return known?.status === undefined ? undefined : { ...value, status: known.status }
      }
      const found = find()
      if (found !== undefined) seen.set(id, [...(seen.get(id) ?? []), found])
      return found
    },
    external(reference, id) {
      const { kind, namespace, name: other } = reference
      keysOf.set(id, [resourceKey(kind, other, namespace)])
      return scope.external?.(reference, cluster, by)
    },
  }
  const whole = { ...instance.value, metadata, spec: spec as DocumentFields }
  const expansion = api.expand(whole, live)
  if ('problem' in expansion) {
    const { place = api.place, ...problem } = expansion.problem
    const where = problem.code === 'no-composition' ? instance : place
    complain(where, { ...problem, message: `${problem.message} (for ${by.instance})` })
    return NOTHING
  }
  scope.left -= expansion.documents.length
  if (scope.left < 0) throw new TooManyNested()
  const externals = new Set(api.externals)
  const all: MadeDocument[] = []
  for (const [index, document] of expansion.documents.entries()) {
    const at = place(document)
    const after = document.uses.flatMap((id) => (externals.has(id) ? [] : (keysOf.get(id) ?? [])))
    const nested = scope.apis.get(idOfApi(document.value))
    const copies = expansion.documents.filter(({ id }) => id === document.id)
    const part = copies.length === 1 ? document.id : `${document.id}-${copies.indexOf(document)}`
    const done =
      nested !== undefined && document.missing === undefined
        ? nestedIn(document, nested).made.map((one) => asPart(one, document.id, `${part}.${one.part}`, after))
        : finish(
            atHome(document, scope.home),
            {
              place: at,
              after,
              by,
              cluster,
              addon: addonOf(part),
              part,
              keysOf,
              isNested: nested !== undefined,
            },
            complain,
          )
    keysOf.set(document.id, [...(keysOf.get(document.id) ?? []), ...done.flatMap(({ keys }) => keys)])
    all.push(...done)
    if (index > LIMITS.composedDocuments) break
  }
  return { made: all, status: api.statusOf(whole, seen) }
}

interface Finishing {
  readonly place: TemplatePlace
  readonly after: readonly ResourceKey[]
  readonly by: ComposedBy
  readonly cluster: string | undefined
  /** The name of the add-on that an object of Kubernetes becomes. */
  readonly addon: string
  readonly part: string
  /** Keys of what the instance becomes, by id. */
  readonly keysOf: ReadonlyMap<string, readonly ResourceKey[]>
  /** Set if the document is itself an instance. */
  readonly isNested: boolean
}

/** Makes a document again, with further dependencies. */
type Remake = (after: readonly ResourceKey[]) => MadeDocument

/** How to remake a document: an instance is expanded before its dependencies are known. */
const REMAKES = new WeakMap<MadeDocument, Remake>()

/** Returns a nested instance's document as part of the outer one: its dependencies come before all of them. */
function asPart(one: MadeDocument, id: string, part: string, after: readonly ResourceKey[]): MadeDocument {
  const again = REMAKES.get(one)
  const made = { ...(after.length === 0 ? one : (again?.(after) ?? one)), id, part }
  if (again !== undefined) REMAKES.set(made, (more) => ({ ...again([...after, ...more]), id, part }))
  return made
}

function finish(
  document: ComposedDocument,
  finishing: Finishing,
  complain: (place: TemplatePlace, problem: FieldProblem) => void,
): readonly MadeDocument[] {
  const made = judgedAsWritten(document, finishing, complain)
  for (const one of made)
    REMAKES.set(one, (after) => {
      const [again] = judgedAsWritten(document, { ...finishing, after: [...after, ...finishing.after] }, () => {})
      return again ?? one
    })
  return made
}

/** A document of an instance, judged as if it had been written: at the place of its template. */
function judgedAsWritten(
  document: ComposedDocument,
  { place, after, by, cluster, addon, part, keysOf, isNested }: Finishing,
  complain: (place: TemplatePlace, problem: FieldProblem) => void,
): readonly MadeDocument[] {
  const { apiVersion, kind } = document.value
  if (isNested) return [waitingDocument(document, undefined, { place, after, by, part, keysOf })]
  const known = typeof apiVersion === 'string' && typeof kind === 'string' ? findKind(apiVersion, kind) : undefined
  const ours =
    known !== undefined ||
    (typeof apiVersion === 'string' && /(?:^|\.)(?:croft\.dev|crossplane\.io)\//.test(apiVersion))
  if (!ours && cluster === undefined) {
    complain(place, {
      code: 'no-cluster',
      path: ['kind'],
      message: `${String(kind)} is an object of a cluster, and nothing says of which (for ${by.instance})`,
      hint: `put the annotation ${CLUSTER} with the name of a Cluster on ${by.instance} or on ${by.definition}`,
    })
    return []
  }
  if (document.missing !== undefined) {
    const key = ours
      ? known === undefined || objectNameIn(document.value) === undefined
        ? undefined
        : keyIn(document.value, known, undefined)
      : resourceKey('Addon', addon)
    const wrong = ours ? fieldsNobodyKnows(document.value, place, by) : []
    return [waitingDocument(document, key, { place, after, by, part, keysOf }, wrong)]
  }
  const value = ours ? document.value : asAddon(document, cluster ?? '', addon)
  const ordered = withOrder(value, after, ours ? document.readyWhen : [])
  const judged = judgeDocument({ document: place.document, value: ordered, findings: [] }).map((one): JudgedObject => {
    const problems = one.problems.map((problem) => ({ ...problem, message: `${problem.message} (for ${by.instance})` }))
    return { ...one, base: place.base, problems, composedBy: by }
  })
  if (judged.some(({ outcome }) => outcome === 'ignored'))
    complain(place, {
      code: 'kind-not-kept',
      path: ['kind'],
      message: `croft does not keep ${String(kind)} of ${String(apiVersion)} (for ${by.instance})`,
    })
  const keys = judged.flatMap(({ key }) => (key === undefined ? [] : [key]))
  const inCluster = ours ? {} : { inCluster: true as const }
  return [{ id: document.id, part, manifest: ordered, file: place.file, judged, keys, after, ...inCluster }]
}

/** Reports fields that the kind does not have. They are mistakes even while values are still missing. */
function fieldsNobodyKnows(value: DocumentFields, place: TemplatePlace, by: ComposedBy): readonly FieldProblem[] {
  return judgeDocument({ document: place.document, value, findings: [] })
    .flatMap(({ problems }) => problems)
    .filter(({ code }) => code === 'unknown-field')
    .map((problem) => ({ ...problem, message: `${problem.message} (for ${by.instance})` }))
}

/** Returns a document with missing values: it is not made, and does not count as removed. */
function waitingDocument(
  { id, value, path: own, missing = [] }: ComposedDocument,
  key: ResourceKey | undefined,
  { place, after, by, part, keysOf }: Pick<Finishing, 'place' | 'after' | 'by' | 'part' | 'keysOf'>,
  problems: readonly FieldProblem[] = [],
): MadeDocument {
  const { document, base, file } = place
  const waits = missing.map(({ expression, path, of, why }): WaitingFor => {
    return {
      ...(key === undefined ? {} : { key }),
      instance: by.instance,
      field: fieldPath(own.every((step, index) => path[index] === step) ? path.slice(own.length) : path.slice(-2)),
      expression,
      after: [...new Set(of.flatMap((one) => keysOf.get(one) ?? [one]))],
      ...(why === undefined ? {} : { why }),
    }
  })
  const judged: JudgedObject = {
    outcome: 'refused',
    document,
    base,
    problems,
    findings: [],
    ...(key === undefined ? {} : { key }),
    composedBy: by,
  }
  return { id, part, manifest: value, file, judged: [judged], keys: key === undefined ? [] : [key], after, waits }
}

function kindIn({ apiVersion, kind }: DocumentFields): Kind | undefined {
  return typeof apiVersion === 'string' && typeof kind === 'string' ? findKind(apiVersion, kind) : undefined
}

function objectNameIn({ metadata }: DocumentFields): string | undefined {
  const { name } = isFields(metadata) ? metadata : {}
  return typeof name === 'string' ? name : undefined
}

/** The key that a document of one of croft's kinds has. */
function keyIn(value: DocumentFields, kind: Kind, home: string | undefined): ResourceKey {
  const { namespace } = isFields(value.metadata) ? value.metadata : {}
  const counts = kind.namespaced === undefined || kind.namespaced(String(value.apiVersion))
  const own = counts && typeof namespace === 'string' && namespace !== home ? namespace : undefined
  return resourceKey(kind.kind, objectNameIn(value) ?? '', own)
}

function atHome(document: ComposedDocument, home: string | undefined): ComposedDocument {
  const { metadata } = document.value
  if (home === undefined || !isFields(metadata) || metadata.namespace !== home) return document
  const { namespace: _, ...rest } = metadata
  return { ...document, value: { ...document.value, metadata: rest } }
}

/** An object of Kubernetes becomes an add-on of its cluster. */
function asAddon({ value, readyWhen }: ComposedDocument, cluster: string, name: string): DocumentFields {
  const metadata = isFields(value.metadata) ? value.metadata : {}
  const { namespace } = metadata
  const ready = readyWhen.map((expression) => {
    const typed = typeOfExpression(expression, { self: ANYTHING })
    return {
      kind: value.kind,
      name: metadata.name,
      ...(namespace === undefined ? {} : { namespace }),
      expression: 'problem' in typed ? expression : typed.renamed('self', 'object'),
    }
  })
  return {
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Addon',
    metadata: { name },
    spec: { cluster, objects: [value], ...(ready.length === 0 ? {} : { ready }) },
  }
}

/** Adds the document's dependencies in the form that a manifest would have. */
function withOrder(value: DocumentFields, after: readonly ResourceKey[], readyWhen: readonly string[]): DocumentFields {
  const kind = findKind(String(value.apiVersion), String(value.kind))
  if (kind?.orderedBy === undefined || (after.length === 0 && readyWhen.length === 0)) return value
  const keys = [...new Set(after)].sort()
  if (kind.orderedBy.dependsOn[0] === 'spec') {
    const spec = isFields(value.spec) ? value.spec : {}
    const dependsOn = [...new Set([...listIn(spec.dependsOn), ...keys])]
    const expressions = [...listIn(spec.readyWhen), ...readyWhen]
    return {
      ...value,
      spec: {
        ...spec,
        ...(dependsOn.length === 0 ? {} : { dependsOn }),
        ...(expressions.length === 0 ? {} : { readyWhen: expressions }),
      },
    }
  }
  const metadata = isFields(value.metadata) ? value.metadata : {}
  const annotations = isFields(metadata.annotations) ? metadata.annotations : {}
  const said = [annotations[DEPENDS_ON], ...keys].filter((one) => typeof one === 'string')
  const expressions = [annotations[READY_WHEN], ...readyWhen].filter((one) => typeof one === 'string')
  return {
    ...value,
    metadata: {
      ...metadata,
      annotations: {
        ...annotations,
        ...(said.length === 0 ? {} : { [DEPENDS_ON]: said.join(', ') }),
        ...(expressions.length === 0
          ? {}
          : {
              [READY_WHEN]: expressions.map((one) => (expressions.length === 1 ? one : `(${one})`)).join(' && '),
            }),
      },
    },
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function clusterIn(metadata: DocumentFields): string | undefined {
  const annotations = isFields(metadata.annotations) ? metadata.annotations : {}
  const name = annotations[CLUSTER]
  return typeof name === 'string' ? name : undefined
}
