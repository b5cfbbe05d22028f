import type { Secret, SecretReference } from '../model/secret.ts'
import { type SeedDocument, type Tree, type TreeMap, valueFrom } from '../model/vm.ts'

/** Every secret that a document refers to, each once. */
export function secretsIn(document: SeedDocument): readonly SecretReference[] {
  const found = new Map<string, SecretReference>()
  const search = (tree: Tree) => {
    const reference = valueFrom(tree)
    if (reference !== undefined) found.set(nameOf(reference), reference)
    else if (Array.isArray(tree)) for (const item of tree as readonly Tree[]) search(item)
    else if (tree !== null && typeof tree === 'object') for (const item of Object.values(tree as TreeMap)) search(item)
  }
  search(document.userData)
  return [...found.values()]
}

/** The document with values in place of references: to be turned into an image at once, and kept nowhere. */
export function withSecrets(document: SeedDocument, secrets: ReadonlyMap<string, Secret>): SeedDocument {
  const replace = (tree: Tree): Tree => {
    const reference = valueFrom(tree)
    if (reference !== undefined) {
      const secret = secrets.get(nameOf(reference))
      if (secret === undefined) throw new Error('a secret of the document was not resolved')
      return secret.reveal()
    }
    if (Array.isArray(tree)) return (tree as readonly Tree[]).map(replace)
    if (tree === null || typeof tree !== 'object') return tree
    return replaceIn(tree as TreeMap)
  }
  const replaceIn = (map: TreeMap): TreeMap =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, replace(value)]))
  return { ...document, userData: replaceIn(document.userData) }
}

export function nameOf(reference: SecretReference): string {
  return JSON.stringify(reference)
}
