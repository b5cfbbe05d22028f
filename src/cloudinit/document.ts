import { createHash } from 'node:crypto'
import type { SeedDocument, Tree, TreeMap } from '../model/vm.ts'

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
    .update(JSON.stringify(inOrder({ ...parts, userData: withoutPrograms(userData) })))
    .digest('hex')
  const metaData = { 'instance-id': `croft-${hash.slice(0, 12)}`, 'local-hostname': hostname }
  return { document: { userData, metaData, ...(networkConfig === undefined ? {} : { networkConfig }) }, hash }
}

/** Directory of croft's programs on a machine. */
const PROGRAMS = '/usr/local/lib/croft/'

/**
 * Removes croft's programs: a newer croft updates them on running machines, so they must not change the document's
 * hash.
 */
function withoutPrograms(userData: TreeMap): TreeMap {
  const files = userData.write_files
  if (!Array.isArray(files)) return userData
  const stripped = (files as readonly Tree[]).map((file): Tree => {
    const { path, content: _content, ...rest } = file as { readonly path?: Tree; readonly content?: Tree }
    return typeof path === 'string' && path.startsWith(PROGRAMS) ? { path, ...rest } : file
  })
  return { ...userData, write_files: stripped }
}

/** The order of keys means nothing in YAML, so it must not mean anything here. */
function inOrder(tree: Tree): Tree {
  if (Array.isArray(tree)) return (tree as readonly Tree[]).map(inOrder)
  if (tree === null || typeof tree !== 'object') return tree
  const keys = Object.keys(tree).sort()
  return Object.fromEntries(keys.map((key) => [key, inOrder((tree as TreeMap)[key] ?? null)]))
}
