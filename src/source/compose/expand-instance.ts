import { DEPENDS_ON, READY_WHEN } from '../../kinds/fields/annotations.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { findKind } from '../../kinds/registry.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type ComposedBy, type Origin, type ResourceKey, resourceKey } from '../../model/declaration.ts'
import { type JudgedObject, judgeDocument } from '../judge.ts'
import { isFields } from '../manifest.ts'
import type { ComposedApi, ComposedDocument, PlacedObject, TemplatePlace } from './api.ts'
import { typeOfExpression } from './expression-type.ts'
import { ANYTHING, conform, type DocumentFields } from './shape.ts'

/** One document that an instance became, and what it was judged to be. */
export interface MadeDocument {
  /** The resource of the definition that it was made from; of what an instance in it became, that instance's. */
  readonly id: string
  /** The resource of the definition, with a number where it makes several. */
  readonly part: string
  readonly manifest: DocumentFields
  readonly file: string
  readonly judged: readonly JudgedObject[]
  readonly keys: readonly ResourceKey[]
  /** What it is made after. */
  readonly after: readonly ResourceKey[]
}

/** What is known besides the instance. */
export interface ExpansionScope {
  /** The namespace whose objects have the keys that they would have in a file. */
  readonly home?: string
  /** By `idOfApi`. */
  readonly apis: ReadonlyMap<string, ComposedApi>
  complain(place: TemplatePlace, problem: FieldProblem): void
  originOf(place: TemplatePlace): Origin
}

const DEPTH = 10
const CLUSTER = 'croft.dev/cluster'

export function idOfApi({ apiVersion, kind }: Readonly<{ apiVersion?: unknown; kind?: unknown }>): string {
  return `${String(apiVersion)} ${String(kind)}`
}

/** What an instance becomes, in the order in which it is made; instances among it in turn. What is wrong is told. */
export function expandInstance(
  instance: PlacedObject,
  api: ComposedApi,
  scope: ExpansionScope,
  depth = 0,
): readonly MadeDocument[] {
  const { complain } = scope
  const metadata = isFields(instance.value.metadata) ? instance.value.metadata : {}
  const { name } = metadata
  if (typeof name !== 'string' || name === '') {
    complain(instance, { code: 'missing-field', path: ['metadata', 'name'], message: 'metadata.name is missing' })
    return []
  }
  if (depth > DEPTH) {
    complain(instance, { code: 'bad-graph', path: [], message: `${api.kind} is made of itself` })
    return []
  }
  const { value: spec, problems: wrong } = conform(api.spec, instance.value.spec ?? {}, ['spec'])
  for (const one of wrong) complain(instance, one)
  if (wrong.length > 0) return []
  const expansion = api.expand({ ...instance.value, metadata, spec: spec as DocumentFields })
  const { namespace: said } = metadata
  const namespace = typeof said === 'string' && said !== scope.home ? said : undefined
  const by: ComposedBy = {
    instance: resourceKey(api.kind, name, namespace),
    definition: api.definition,
    origin: scope.originOf(instance),
  }
  if ('problem' in expansion) {
    const { place = api.place, ...problem } = expansion.problem
    const where = problem.code === 'no-composition' ? instance : place
    complain(where, { ...problem, message: `${problem.message} (for ${by.instance})` })
    return []
  }
  const keysOf = new Map<string, ResourceKey[]>()
  const all: MadeDocument[] = []
  const cluster = clusterIn(metadata) ?? clusterIn(isFields(api.metadata) ? api.metadata : {})
  for (const [index, document] of expansion.documents.entries()) {
    const place: TemplatePlace = {
      ...(document.place ?? api.place),
      base: [...(document.place ?? api.place).base, ...document.path],
    }
    const after = document.uses.flatMap((id) => keysOf.get(id) ?? [])
    const nested = scope.apis.get(idOfApi(document.value))
    const copies = expansion.documents.filter(({ id }) => id === document.id)
    const part = copies.length === 1 ? document.id : `${document.id}-${copies.indexOf(document)}`
    const addon = `${name}-${part}`.toLowerCase().replaceAll('_', '-')
    const done =
      nested !== undefined
        ? expandInstance({ ...place, value: document.value }, nested, scope, depth + 1).map((one) => ({
            ...one,
            id: document.id,
            part: `${part}.${one.part}`,
          }))
        : finish(atHome(document, scope.home), { place, after, by, cluster, addon, part }, complain)
    keysOf.set(document.id, [...(keysOf.get(document.id) ?? []), ...done.flatMap(({ keys }) => keys)])
    all.push(...done)
    if (index > LIMITS.composedDocuments) break
  }
  return all
}

interface Finishing {
  readonly place: TemplatePlace
  readonly after: readonly ResourceKey[]
  readonly by: ComposedBy
  readonly cluster: string | undefined
  /** The name of the add-on that an object of Kubernetes becomes. */
  readonly addon: string
  readonly part: string
}

/** A document of an instance, judged as if it had been written: at the place of its template. */
function finish(
  document: ComposedDocument,
  { place, after, by, cluster, addon, part }: Finishing,
  complain: (place: TemplatePlace, problem: FieldProblem) => void,
): readonly MadeDocument[] {
  const { apiVersion, kind } = document.value
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
  return [{ id: document.id, part, manifest: ordered, file: place.file, judged, keys, after }]
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

/** The document with what it is made after, said as a person would say it. */
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
