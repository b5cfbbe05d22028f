import type { Document } from 'yaml'
import { LIMITS } from './limits.ts'
import { yamlLibrary } from './yaml-library.ts'

/**
 * Is a text deeper than anybody writes, or has it keys that are lists or maps? Such keys become text, each level of them
 * anew: a few hundred levels take seconds, a thousand take minutes.
 */
export function isTangled(document: Document): boolean {
  const { isCollection, visit } = yamlLibrary()
  let tangled = false
  visit(document, {
    Node(_, __, path) {
      // A pair and its value are two steps.
      if (path.length <= 2 * LIMITS.yamlDepth) return undefined
      tangled = true
      return visit.BREAK
    },
    Pair(_, { key }) {
      if (!isCollection(key)) return undefined
      tangled = true
      return visit.BREAK
    },
  })
  return tangled
}
