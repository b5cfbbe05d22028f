import type { Document } from 'yaml'
import { LIMITS } from './limits.ts'
import { yamlLibrary } from './yaml-library.ts'

/**
 * Reports whether a document is too deep, or has lists or maps as keys. Each level of such keys is turned into text
 * again: a few hundred levels take seconds, a thousand take minutes.
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
