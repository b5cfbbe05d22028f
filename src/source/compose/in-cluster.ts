import { fieldPath } from '../../kinds/fields/problem.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import type { Origin, Policy, ResourceKey } from '../../model/declaration.ts'
import { type ObjectReference, permitRead } from '../../model/foreign-object.ts'
import type { Grant } from '../../model/grant.ts'
import type { KnownObject, WaitingFor } from '../../model/waiting.ts'
import type { ComposedApi, PlacedObject, TemplatePlace } from './api.ts'
import { expandInstance, idOfApi, type MadeDocument } from './expand-instance.ts'
import { readApis } from './readers.ts'
import type { DocumentFields } from './shape.ts'

/* Definitions and instances that are objects of a cluster. What goes in and comes out is plain data: the cage does this. */

/** A definition without its computations. */
export type DescribedApi = Pick<
  ComposedApi,
  'kind' | 'apiVersion' | 'summary' | 'spec' | 'definition' | 'serving' | 'order' | 'readsWorld'
>

/** All APIs that the definitions of a cluster define. */
export interface DescribedDefinitions {
  readonly apis: readonly DescribedApi[]
  /** Problems by the key of the definition: `ResourceGraphDefinition/k3snode`. */
  readonly problems: ReadonlyMap<string, readonly string[]>
}

/** Asks what an instance becomes. */
export interface ExpandQuestion {
  readonly ask: 'expand'
  readonly instance: DocumentFields
  /** The namespace whose objects have the keys that they would have in a file. */
  readonly home: string
  /** Objects made for the instance earlier, with their status. */
  readonly children: ReadonlyMap<ResourceKey, DocumentFields>
  /** Grant of the instance's namespace, if that is not the operator's. */
  readonly grant?: Grant
  /** Objects that a definition only reads, by `readKey`. A text says why an object cannot be read. */
  readonly externals: ReadonlyMap<string, DocumentFields | string>
}

/** Asks what the status of an instance shows of what was made for it, by the id of its part. */
export interface StatusQuestion {
  readonly ask: 'status'
  readonly instance: DocumentFields
  readonly made: ReadonlyMap<string, readonly DocumentFields[]>
}

export type ClusterQuestion = ExpandQuestion | StatusQuestion

export type MadeObject = Pick<MadeDocument, 'id' | 'part' | 'manifest' | 'keys' | 'waits'>

/** A document's declaration, as judged; the caller decides whether it may be declared there. */
export interface MadeDeclaration {
  readonly place: string
  readonly base: FieldProblem['path']
  readonly kind: string
  readonly key: ResourceKey
  readonly name: string
  readonly spec: unknown
  readonly policy: Policy
}

export interface ExpansionAnswer {
  readonly answer: 'expanded'
  readonly made: readonly MadeObject[]
  readonly wrong: readonly string[]
  readonly declared: readonly MadeDeclaration[]
  /** Objects that the definition reads. */
  readonly reads: readonly ObjectReference[]
}

export type ClusterAnswer =
  | ExpansionAnswer
  | { readonly answer: 'status'; readonly status: DocumentFields }
  /** Unknown, with the reason. */
  | { readonly answer: 'none'; readonly why: string }

/** Answers questions about instances where that can be ended. Rejects where the definitions themselves cannot be read. */
export interface Composer {
  define(definitions: readonly DocumentFields[]): Promise<DescribedDefinitions>
  ask(definitions: readonly DocumentFields[], question: ClusterQuestion): Promise<ClusterAnswer>
}

export function definitionKey(object: DocumentFields): string {
  return `${String(object.kind)}/${nameIn(object)}`
}

/** The key of an object that is only read, in the questions of an instance. */
export function readKey({ apiVersion, kind, namespace, name, reader }: ObjectReference): string {
  return JSON.stringify([apiVersion, kind, namespace, name, reader])
}

/** Definitions as they were read, with what they compute. */
export interface ReadDefinitions {
  readonly apis: ReadonlyMap<string, ComposedApi>
  readonly problems: ReadonlyMap<string, readonly string[]>
}

/** Reads definitions as files would be read. Pure. */
export function readDefinitions(objects: readonly DocumentFields[]): ReadDefinitions {
  const problems = new Map<string, string[]>()
  const complain = (place: TemplatePlace, problem: FieldProblem) => {
    if (problem.severity === 'warning') return
    problems.set(place.file, [...(problems.get(place.file) ?? []), toldAt(place, problem)])
  }
  const placed = objects.map((object): PlacedObject => placedObject(object, definitionKey(object)))
  return { apis: readApis(placed, complain, originOf), problems }
}

export function describedDefinitions({ apis, problems }: ReadDefinitions): DescribedDefinitions {
  return {
    apis: [...apis.values()].map(
      ({ kind, apiVersion, summary, spec, definition, serving, order, readsWorld = false }) => ({
        kind,
        apiVersion,
        summary,
        spec,
        definition,
        serving,
        order,
        readsWorld,
      }),
    ),
    problems,
  }
}

/** Answers one question. Pure. */
export function answerInCluster({ apis }: ReadDefinitions, question: ClusterQuestion): ClusterAnswer {
  const api = apis.get(idOfApi(question.instance))
  if (api === undefined) return { answer: 'none', why: 'its definition is gone' }
  return question.ask === 'status'
    ? { answer: 'status', status: api.statusOf(question.instance, question.made) }
    : expand(question, api, apis)
}

function expand(question: ExpandQuestion, api: ComposedApi, apis: ReadDefinitions['apis']): ExpansionAnswer {
  const { instance, home, children, externals, grant } = question
  const wrong: string[] = []
  const file = `${api.kind}/${nameIn(instance)}`
  const complain = (place: TemplatePlace, problem: FieldProblem) => {
    if (problem.severity === 'warning') return
    wrong.push(place.file === file ? toldAt(place, problem) : `${place.file}: ${toldAt(place, problem)}`)
  }
  const namespace = fieldsOf(instance.metadata).namespace
  const known = (key: ResourceKey): KnownObject | undefined => {
    const [kind, name] = key.split('/')
    // An add-on's key has no namespace: look in that of the instance.
    const found = children.get(key) ?? children.get(`${kind}/${String(namespace)}/${name}`)
    const status = found === undefined ? undefined : fieldsOf(found.status)
    return status === undefined || Object.keys(status).length === 0 ? undefined : { status }
  }
  const reads = new Map<string, ObjectReference>()
  const external = (reference: ObjectReference) => {
    const read = permitRead(reference, grant)
    if ('refused' in read) return read.refused
    reads.set(readKey(read), reference)
    return externals.get(readKey(read))
  }
  const made = expandInstance(placedObject(instance, file), api, {
    apis,
    complain,
    originOf,
    home,
    known,
    external,
  })
  const elsewhere = new Set(made.flatMap(({ keys, inCluster }) => (inCluster === true ? keys : [])))
  const waits: readonly WaitingFor[] = made.flatMap((one) => one.waits ?? [])
  for (const wait of waits)
    if (wait.after.some((key) => elsewhere.has(key)))
      wrong.push(
        `\${${wait.expression}} asks for an object of another cluster: croft reads it from files alone, not in the operator`,
      )
  const declared: MadeDeclaration[] = []
  for (const { judged, file: where } of made)
    for (const one of judged) {
      const place = { file: where, document: one.document, base: one.base }
      for (const problem of one.problems) complain(place, problem)
      if (one.outcome !== 'declared') continue
      const { key, kind, metadata, spec, policy, base } = one
      declared.push({ place: where, base, kind: kind.kind, key, name: metadata.name, spec, policy })
    }
  return {
    answer: 'expanded',
    made: made.map(({ id, part, manifest, keys, waits: own }) => ({
      id,
      part,
      manifest,
      keys,
      ...(own === undefined ? {} : { waits: own }),
    })),
    wrong,
    declared,
    reads: [...reads.values()],
  }
}

/** An object has no lines, only fields. */
function placedObject(value: DocumentFields, file: string): PlacedObject {
  return { value, file, document: { text: '', line: 1 }, base: [] }
}

function originOf({ file }: TemplatePlace): Origin {
  return { file, line: 1, column: 1 }
}

/** Returns a problem in the form for an object's status. */
export function toldAt({ base }: Pick<TemplatePlace, 'base'>, { path, message, hint }: FieldProblem): string {
  const field = fieldPath([...base, ...path])
  return `${field === '' ? '' : `${field}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
}

function nameIn(object: DocumentFields): string {
  const { name } = fieldsOf(object.metadata)
  return typeof name === 'string' ? name : ''
}

function fieldsOf(value: unknown): DocumentFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as DocumentFields) : {}
}
