import type { FieldProblem } from '../../kinds/kind.ts'
import { type Origin, showOrigin } from '../../model/declaration.ts'
import type { ApiReader, ComposedApi, PlacedObject, TemplatePlace } from './api.ts'
import { compositions } from './compositions.ts'
import { expandGraph, statusOfGraph } from './expand-graph.ts'
import { idOfApi } from './expand-instance.ts'
import { kindOfGraph, readGraph } from './graph.ts'

/** kro's graphs. */
const graphs: ApiReader = {
  group: 'kro.run',
  kinds: ['ResourceGraphDefinition'],
  reads: (apiVersion, kind) => apiVersion === 'kro.run/v1alpha1' && kind === 'ResourceGraphDefinition',
  defines: kindOfGraph,
  read: (objects, complain, originOf) =>
    objects.flatMap((object) => {
      const { value, ...place } = object
      const { graph, problems } = readGraph(value)
      for (const problem of problems) complain(place, problem)
      if (graph === undefined) return []
      const { kind, apiVersion, spec, name } = graph
      return [
        {
          kind,
          apiVersion,
          spec,
          summary: `Defined by the graph ${name}: ${graph.resources.map(({ id }) => id).join(', ')}.`,
          definition: `ResourceGraphDefinition/${name}`,
          metadata: value.metadata,
          place,
          origin: originOf(place),
          serving: graph.serving,
          order: graph.resources.map(({ id }) => id),
          externals: graph.resources.flatMap(({ id, external }) => (external ? [id] : [])),
          readsWorld: graph.resources.some(({ late, external }) => external || late.size > 0),
          expand: (instance, live) => expandGraph(graph, instance, live),
          statusOf: (instance, made) => statusOfGraph(graph, instance, made),
        },
      ]
    }),
}

/** Every way to define kinds that croft reads. */
export const READERS: readonly ApiReader[] = [graphs, compositions]

/** Returns all APIs that these objects define, by version and kind. Reports duplicates. */
export function readApis(
  objects: readonly PlacedObject[],
  complain: (place: TemplatePlace, problem: FieldProblem) => void,
  originOf: (place: TemplatePlace) => Origin,
): ReadonlyMap<string, ComposedApi> {
  const apis = READERS.flatMap((reader) => {
    const own = objects.filter(({ value }) => reader.reads(String(value.apiVersion), String(value.kind)))
    return reader.read(own, complain, originOf)
  })
  const byKind = new Map<string, ComposedApi>()
  for (const api of apis.toSorted((a, b) => (showOrigin(a.origin) < showOrigin(b.origin) ? -1 : 1))) {
    const other = byKind.get(idOfApi(api))
    if (other === undefined) byKind.set(idOfApi(api), api)
    else
      complain(api.place, {
        code: 'duplicate-object',
        path: ['metadata', 'name'],
        message: `${api.kind} of ${api.apiVersion} is also defined at ${showOrigin(other.origin)}`,
      })
  }
  return byKind
}
