import { DEPENDS_ON, READY_WHEN } from '../../kinds/fields/annotations.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { findKind } from '../../kinds/registry.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type ComposedBy, type Problem, type ResourceKey, resourceKey, showOrigin } from '../../model/declaration.ts'
import type { FileOutcome } from '../assemble.ts'
import { type JudgedObject, judgeDocument } from '../judge.ts'
import { isFields, objectsOf, readDocuments } from '../manifest.ts'
import type { YamlFinding } from '../yaml/full-yaml.ts'
import { type FileAt, fieldProblemAt, findingAt, originOf } from '../yaml/problem-at.ts'
import type { ApiReader, ComposedApi, DefinedApi, PlacedObject, TemplatePlace } from './api.ts'
import type { ComposedDocument } from './expand-graph.ts'
import { typeOfExpression } from './expression-type.ts'
import { READERS } from './readers.ts'
import { ANYTHING, conform, type DocumentFields } from './shape.ts'

export interface Composition {
  readonly outcomes: readonly FileOutcome[]
  readonly apis: readonly DefinedApi[]
  readonly problems: readonly Problem[]
  /** Something could not be expanded: what is missing proves nothing. */
  readonly incomplete: boolean
}

type IgnoredDocument = JudgedObject & { readonly outcome: 'ignored' }

const DEPTH = 10
const CLUSTER = 'croft.dev/cluster'

/**
 * Puts instances of APIs that the files themselves define (kro's graphs, Crossplane's compositions) in the place of the
 * documents that they become. Pure: the same documents give the same documents, in whatever order they stand.
 */
export function compose(outcomes: readonly FileOutcome[], commit: string | undefined): Composition {
  if (!outcomes.some((one) => 'judged' in one && one.judged.some(isOfClaimedGroup)))
    return { outcomes, apis: [], problems: [], incomplete: false }
  const problems: Problem[] = []
  let incomplete = false
  const at = (file: string): FileAt => ({ file, ...defined({ commit }) })
  const complain = (place: TemplatePlace, found: FieldProblem) => {
    if (found.severity !== 'warning') incomplete = true
    problems.push(fieldProblemAt(place, found, at(place.file)))
  }
  const ignored = outcomes.flatMap((one) =>
    'judged' in one
      ? one.judged.flatMap((judged) => (judged.outcome === 'ignored' ? [{ judged, file: one.file }] : []))
      : [],
  )
  /** What is read here is no longer somebody else's. */
  const read = new Set<JudgedObject>()
  const placed = ({ judged, file }: (typeof ignored)[number]): PlacedObject | undefined => {
    read.add(judged)
    const { document, base } = judged
    const { value, findings } = objectIn(judged)
    for (const finding of findings) problems.push(findingAt(judged, finding, at(file)))
    if (findings.length > 0) incomplete = true
    return value === undefined || findings.length > 0 ? undefined : { value, file, document, base }
  }

  const apis: ComposedApi[] = []
  for (const reader of READERS) {
    const own = ignored.filter(({ judged }) => reader.reads(judged.apiVersion, judged.kindName))
    const objects = own.flatMap((one) => placed(one) ?? [])
    apis.push(...reader.read(objects, complain, (place) => originOf(asIgnored(place), at(place.file))))
  }
  const byKind = new Map<string, ComposedApi>()
  for (const api of apis.toSorted((a, b) => (showOrigin(a.origin) < showOrigin(b.origin) ? -1 : 1))) {
    const other = byKind.get(idOf(api))
    if (other === undefined) byKind.set(idOf(api), api)
    else
      complain(api.place, {
        code: 'duplicate-object',
        path: ['metadata', 'name'],
        message: `${api.kind} of ${api.apiVersion} is also defined at ${showOrigin(other.origin)}`,
      })
  }

  const made: FileOutcome[] = []
  for (const one of ignored) {
    const api = byKind.get(idOf({ apiVersion: one.judged.apiVersion, kind: one.judged.kindName }))
    if (api === undefined) {
      if (!read.has(one.judged) && isOfClaimedGroup(one.judged)) {
        read.add(one.judged)
        const { document, base, apiVersion, kindName } = one.judged
        complain({ file: one.file, document, base }, notUnderstood(apiVersion, kindName, READERS))
      }
      continue
    }
    const instance = placed(one)
    if (instance === undefined) continue
    made.push(...expand(instance, api, 0, []).outcomes)
  }

  function expand(
    instance: PlacedObject,
    api: ComposedApi,
    depth: number,
    above: readonly ComposedBy[],
  ): { readonly outcomes: readonly FileOutcome[]; readonly keys: readonly ResourceKey[] } {
    const nothing = { outcomes: [], keys: [] }
    const metadata = isFields(instance.value.metadata) ? instance.value.metadata : {}
    const { name } = metadata
    if (typeof name !== 'string' || name === '') {
      complain(instance, { code: 'missing-field', path: ['metadata', 'name'], message: 'metadata.name is missing' })
      return nothing
    }
    if (depth > DEPTH) {
      complain(instance, { code: 'bad-graph', path: [], message: `${api.kind} is made of itself` })
      return nothing
    }
    const { value: spec, problems: wrong } = conform(api.spec, instance.value.spec ?? {}, ['spec'])
    for (const one of wrong) complain(instance, one)
    if (wrong.length > 0) return nothing
    const expansion = api.expand({ ...instance.value, metadata, spec: spec as DocumentFields })
    const namespace = typeof metadata.namespace === 'string' ? metadata.namespace : undefined
    const by: ComposedBy = {
      instance: resourceKey(api.kind, name, namespace),
      definition: api.definition,
      origin: originOf(asIgnored(instance), at(instance.file)),
    }
    if ('problem' in expansion) {
      const { place = api.place, ...problem } = expansion.problem
      const where = problem.code === 'no-composition' ? instance : place
      complain(where, { ...problem, message: `${problem.message} (for ${by.instance})` })
      return nothing
    }
    const keysOf = new Map<string, ResourceKey[]>()
    const all: FileOutcome[] = []
    const keys: ResourceKey[] = []
    for (const [index, document] of expansion.documents.entries()) {
      const place: TemplatePlace = {
        ...(document.place ?? api.place),
        base: [...(document.place ?? api.place).base, ...document.path],
      }
      const after = document.uses.flatMap((id) => keysOf.get(id) ?? [])
      const nested = byKind.get(idOf(document.value))
      const copies = expansion.documents.filter(({ id }) => id === document.id)
      const part = copies.length === 1 ? document.id : `${document.id}-${copies.indexOf(document)}`
      const cluster = clusterIn(metadata) ?? clusterIn(isFields(api.metadata) ? api.metadata : {})
      const done =
        nested !== undefined
          ? expand({ ...place, value: document.value }, nested, depth + 1, [...above, by])
          : finish(
              document,
              { place, after, by, above, cluster, addon: `${name}-${part}`.toLowerCase().replaceAll('_', '-') },
              complain,
            )
      keysOf.set(document.id, [...(keysOf.get(document.id) ?? []), ...done.keys])
      all.push(...done.outcomes)
      keys.push(...done.keys)
      if (index > LIMITS.composedDocuments) break
    }
    return { outcomes: all, keys }
  }

  return {
    outcomes: [
      ...outcomes.map((one) =>
        'judged' in one ? { ...one, judged: one.judged.filter((judged) => !read.has(judged)) } : one,
      ),
      ...made,
    ],
    apis: [...byKind.values()].map(({ kind, apiVersion, summary, spec, origin }) => ({
      kind,
      apiVersion,
      summary,
      spec,
      origin,
    })),
    problems,
    incomplete,
  }
}

interface Finishing {
  readonly place: TemplatePlace
  readonly after: readonly ResourceKey[]
  readonly by: ComposedBy
  readonly above: readonly ComposedBy[]
  readonly cluster: string | undefined
  /** The name of the add-on that an object of Kubernetes becomes. */
  readonly addon: string
}

/** A document of an instance, judged as if it had been written: at the place of its template. */
function finish(
  document: ComposedDocument,
  { place, after, by, cluster, addon }: Finishing,
  complain: (place: TemplatePlace, problem: FieldProblem) => void,
): { readonly outcomes: readonly FileOutcome[]; readonly keys: readonly ResourceKey[] } {
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
    return { outcomes: [], keys: [] }
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
  return {
    outcomes: [{ file: place.file, judged }],
    keys: judged.flatMap(({ key }) => (key === undefined ? [] : [key])),
  }
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

const CLAIMED = /^(?:kro\.run|apiextensions\.crossplane\.io)\//

function isOfClaimedGroup(judged: JudgedObject): judged is IgnoredDocument {
  return judged.outcome === 'ignored' && CLAIMED.test(judged.apiVersion)
}

/** Of a group that croft reads: what it makes nothing of is named. An instance without its definition proves nothing. */
function notUnderstood(apiVersion: string, kind: string, readers: readonly ApiReader[]): FieldProblem {
  const group = apiVersion.split('/')[0] ?? ''
  const known = readers.flatMap((reader) => (reader.group === group ? reader.kinds : []))
  const instance = group === 'kro.run' && kind !== 'GraphRevision'
  return {
    code: instance ? 'unknown-kind' : 'kind-not-kept',
    path: ['kind'],
    severity: instance ? 'error' : 'warning',
    message: instance
      ? `no ResourceGraphDefinition here defines ${kind} of ${apiVersion}, so croft cannot expand it`
      : `croft reads ${known.join(' and ')} of ${group} and does not read ${kind}: this object is left alone`,
  }
}

function idOf({ apiVersion, kind }: Readonly<{ apiVersion?: unknown; kind?: unknown }>): string {
  return `${String(apiVersion)} ${String(kind)}`
}

function objectIn({ document, base }: JudgedObject): {
  readonly value: DocumentFields | undefined
  readonly findings: readonly YamlFinding[]
} {
  const [read] = readDocuments(document.text)
  const found = objectsOf(read?.value).find((one) => one.base.join() === base.join())
  return { value: found?.value, findings: read?.findings ?? [] }
}

function asIgnored({ document, base }: TemplatePlace): JudgedObject {
  return { outcome: 'ignored', document, base, problems: [], findings: [], apiVersion: '', kindName: '' }
}
