import type { FieldProblem } from '../../kinds/kind.ts'
import { at, type Foreign, nameOf, objectName, recordOf } from '../../kubernetes/objects.ts'
import type { Origin } from '../../model/declaration.ts'
import type { ComposedApi, PlacedObject, TemplatePlace } from '../../source/compose/api.ts'
import { expandInstance, type MadeDocument } from '../../source/compose/expand-instance.ts'
import { readApis } from '../../source/compose/readers.ts'

/** What the definitions of a cluster define together. */
export interface ReadDefinitions {
  readonly apis: ReadonlyMap<string, ComposedApi>
  /** What is wrong, by the key of the definition: `ResourceGraphDefinition/k3snode`. */
  readonly problems: ReadonlyMap<string, readonly string[]>
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
  return { apis: readApis(placed, complain, originOf), problems }
}

/** What an instance becomes, or what is wrong with it. Pure. */
export function expandObject(
  object: Foreign,
  api: ComposedApi,
  { apis, home }: { readonly apis: ReadDefinitions['apis']; readonly home: string },
): { readonly made: readonly MadeDocument[] } | { readonly problem: string } {
  const wrong: string[] = []
  const file = `${api.kind}/${objectName(object) ?? ''}`
  const complain = (place: TemplatePlace, problem: FieldProblem) => {
    if (problem.severity === 'warning') return
    wrong.push(place.file === file ? toldAt(place, problem) : `${place.file}: ${toldAt(place, problem)}`)
  }
  const made = expandInstance(placedObject(instanceOf(object), file), api, { apis, complain, originOf, home })
  for (const { judged, file: where } of made)
    for (const one of judged)
      for (const problem of one.problems) complain({ file: where, document: one.document, base: one.base }, problem)
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
  const field = [...base, ...path]
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')
  return `${field === '' ? '' : `${field}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
}
