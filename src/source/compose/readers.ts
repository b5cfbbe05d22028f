import type { ApiReader } from './api.ts'
import { compositions } from './compositions.ts'
import { expandGraph } from './expand-graph.ts'
import { readGraph } from './graph.ts'

/** kro's graphs. */
const graphs: ApiReader = {
  group: 'kro.run',
  kinds: ['ResourceGraphDefinition'],
  reads: (apiVersion, kind) => apiVersion === 'kro.run/v1alpha1' && kind === 'ResourceGraphDefinition',
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
          expand: (instance) => expandGraph(graph, instance),
        },
      ]
    }),
}

/** Every way to define kinds that croft reads. */
export const READERS: readonly ApiReader[] = [graphs, compositions]
