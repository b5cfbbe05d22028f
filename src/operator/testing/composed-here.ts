import {
  answerInCluster,
  type Composer,
  describedDefinitions,
  type ReadDefinitions,
  readDefinitions,
} from '../../source/compose/in-cluster.ts'
import type { DocumentFields } from '../../source/compose/shape.ts'

const read = new WeakMap<readonly DocumentFields[], ReadDefinitions>()

function readOnce(definitions: readonly DocumentFields[]): ReadDefinitions {
  const known = read.get(definitions) ?? readDefinitions(definitions)
  read.set(definitions, known)
  return known
}

/** Composes in this process, at once, under a virtual clock. What goes in and out is copied, as between processes. */
export const composedHere: Composer = {
  define: async (definitions) => structuredClone(describedDefinitions(readOnce(definitions))),
  ask: async (definitions, question) =>
    structuredClone(answerInCluster(readOnce(definitions), structuredClone(question))),
}
