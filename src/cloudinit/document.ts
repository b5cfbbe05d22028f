import { createHash } from 'node:crypto'
import type { SeedDocument, Tree, TreeMap } from '../model/seed.ts'

export interface SeedParts {
  readonly hostname: string
  readonly userData: TreeMap
  readonly networkConfig?: TreeMap
}

/**
 * The whole document with its hash. The instance id is made from the hash: a changed document is a new instance to
 * cloud-init, and the same document, however often it is delivered, the same one.
 */
export function seedDocument({ hostname, userData, networkConfig }: SeedParts): {
  readonly document: SeedDocument
  readonly hash: string
} {
  const parts = { hostname, userData, ...(networkConfig === undefined ? {} : { networkConfig }) }
  const hash = createHash('sha256')
    .update(JSON.stringify(inOrder(parts)))
    .digest('hex')
  const metaData = { 'instance-id': `croft-${hash.slice(0, 12)}`, 'local-hostname': hostname }
  return { document: { userData, metaData, ...(networkConfig === undefined ? {} : { networkConfig }) }, hash }
}

/** The order of keys means nothing in YAML, so it must not mean anything here. */
function inOrder(tree: Tree): Tree {
  if (Array.isArray(tree)) return (tree as readonly Tree[]).map(inOrder)
  if (tree === null || typeof tree !== 'object') return tree
  const keys = Object.keys(tree).sort()
  return Object.fromEntries(keys.map((key) => [key, inOrder((tree as TreeMap)[key] ?? null)]))
}
