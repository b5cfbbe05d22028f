import { composedOutsideGrant } from '../../controller/sources/composed-grant.ts'
import { fieldPath } from '../../kinds/fields/problem.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { at, type Foreign, nameOf, objectName, recordOf } from '../../kubernetes/objects.ts'
import type { Origin, ResourceKey } from '../../model/declaration.ts'
import { type ObjectReference, type PermittedRead, permitRead } from '../../model/foreign-object.ts'
import type { Grant } from '../../model/grant.ts'
import type { KnownObject } from '../../model/waiting.ts'
import type { ComposedApi, PlacedObject, TemplatePlace } from '../../source/compose/api.ts'
import { expandInstance, type MadeDocument } from '../../source/compose/expand-instance.ts'
import { readApis } from '../../source/compose/readers.ts'
import type { DeclaredObject } from '../objects.ts'

/** What the definitions of a cluster define together. */
export interface ReadDefinitions {
  readonly apis: ReadonlyMap<string, ComposedApi>
  /** What is wrong, by the key of the definition: `ResourceGraphDefinition/k3snode`. */
  readonly problems: ReadonlyMap<string, readonly string[]>
  /** One of them takes values from objects that are there. */
  readonly readsWorld: boolean
}

export function definitionKey(object: Foreign): string {
  return `${String(object.kind)}/${objectName(object) ?? ''}`
}

/** Reads definitions as files would be read. Pure. */
export function readDefinitions(objects: readonly Foreign[]): ReadDefinitions {
  const problems = new Map<string, string[]>()
  const complain = (place: TemplatePlace, problem: FieldProblem) => {
    if (problem.severity === 'warning') return
    problems.set(place.file, [...(problems.get(place.file) ?? []), toldAt(place, problem)])
  }
  const placed = objects.map((object): PlacedObject => placedObject(object, definitionKey(object)))
  const apis = readApis(placed, complain, originOf)
  return { apis, problems, readsWorld: [...apis.values()].some((api) => api.readsWorld === true) }
}

/** What is there besides the instance. */
export interface ExpansionContext {
  readonly apis: ReadDefinitions['apis']
  readonly home: string
  /** What was made for the instance before. */
  readonly children?: readonly Pick<DeclaredObject, 'key' | 'object'>[]
  /** What the namespace of the instance may name, where that is not the operator's own. */
  readonly grant?: Grant | undefined
  /** Objects that a definition only reads. */
  readonly external?: (reference: PermittedRead<ObjectReference>) => Foreign | undefined | string
}

/** What an instance becomes, or what is wrong with it. Pure. */
export function expandObject(
  object: Foreign,
  api: ComposedApi,
  { apis, home, children = [], external, grant }: ExpansionContext,
): { readonly made: readonly MadeDocument[] } | { readonly problem: string } {
  const wrong: string[] = []
  const file = `${api.kind}/${objectName(object) ?? ''}`
  const complain = (place: TemplatePlace, problem: FieldProblem) => {
    if (problem.severity === 'warning') return
    wrong.push(place.file === file ? toldAt(place, problem) : `${place.file}: ${toldAt(place, problem)}`)
  }
  const namespace = nameOf(at(object, 'metadata', 'namespace'))
  const byKey = new Map(children.map((child) => [child.key, child.object]))
  const known = (key: ResourceKey): KnownObject | undefined => {
    const [kind, name] = key.split('/')
    // What becomes an add-on says no namespace: it is made in that of the instance.
    const found = byKey.get(key) ?? byKey.get(`${kind}/${namespace}/${name}`)
    const status = found === undefined ? undefined : recordOf(found.status)
    return status === undefined || Object.keys(status).length === 0 ? undefined : { status }
  }
  const readable = (reference: ObjectReference) => {
    const read = permitRead(reference, grant)
    return 'refused' in read ? read.refused : external?.(read)
  }
  const scope = { apis, complain, originOf, home, known, external: readable }
  const made = expandInstance(placedObject(instanceOf(object), file), api, scope)
  const elsewhere = new Set(made.flatMap(({ keys, inCluster }) => (inCluster === true ? keys : [])))
  for (const wait of made.flatMap(({ waits = [] }) => waits))
    if (wait.after.some((key) => elsewhere.has(key)))
      wrong.push(
        `\${${wait.expression}} asks for an object of another cluster: croft reads it from files alone, not in the operator`,
      )
  for (const { judged, file: where } of made)
    for (const one of judged)
      for (const problem of [...one.problems, ...composedOutsideGrant(one, grant)])
        complain({ file: where, document: one.document, base: one.base }, problem)
  const [first] = wrong
  if (first !== undefined) return { problem: wrong.length === 1 ? first : `${first} (and ${wrong.length - 1} more)` }
  return { made }
}

/** What a person wrote of an instance, and what expressions may ask of it. */
function instanceOf(object: Foreign): Foreign {
  const metadata = recordOf(object.metadata)
  const { labels, annotations, uid } = metadata
  const namespace = nameOf(at(object, 'metadata', 'namespace'))
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name: objectName(object),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(uid === undefined ? {} : { uid }),
    },
    spec: recordOf(object.spec),
  }
}

/** An object has no lines: its fields say where. */
function placedObject(value: Foreign, file: string): PlacedObject {
  return { value, file, document: { text: '', line: 1 }, base: [] }
}

function originOf({ file }: TemplatePlace): Origin {
  return { file, line: 1, column: 1 }
}

function toldAt({ base }: Pick<TemplatePlace, 'base'>, { path, message, hint }: FieldProblem): string {
  const field = fieldPath([...base, ...path])
  return `${field === '' ? '' : `${field}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
}
