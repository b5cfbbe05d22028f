import type { Node, Pair, Scalar } from 'yaml'
import { LIMITS } from '../../lib/limits.ts'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { documentTree } from './full-yaml.ts'

/** A scalar of a document with its place in the text. */
export interface Leaf {
  /** `spec.forProvider.memory.0.dedicated` */
  readonly path: string
  readonly value: unknown
  readonly start: number
  readonly end: number
  readonly quote: '' | '"' | "'"
}

/** Every scalar below `spec`, in the order of the text. Blocks of text and aliases are left out: they are not edited. */
export function leavesOf(text: string): readonly Leaf[] {
  const tree = documentTree(text)
  if (tree === undefined) return []
  const { isMap, isScalar, isSeq } = yamlLibrary()
  const leaves: Leaf[] = []
  const walk = (node: unknown, path: string): void => {
    if (leaves.length >= LIMITS.editedLeaves) return
    if (isMap(node)) {
      for (const pair of node.items as Pair<Node, Node>[])
        walk(pair.value, `${path}.${isScalar(pair.key) ? String(pair.key.value) : '?'}`)
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item, `${path}.${index}`)
    } else if (isScalar(node)) {
      const leaf = leafOf(node, path.slice(1))
      if (leaf !== undefined) leaves.push(leaf)
    }
  }
  walk(tree.contents, '')
  return leaves.filter((leaf) => leaf.path.startsWith('spec.'))
}

function leafOf(node: Scalar, path: string): Leaf | undefined {
  const { range, type } = node
  if (range === undefined || range === null || type === 'BLOCK_FOLDED' || type === 'BLOCK_LITERAL') return undefined
  const quote = type === 'QUOTE_DOUBLE' ? '"' : type === 'QUOTE_SINGLE' ? "'" : ''
  return { path, value: node.value, start: range[0], end: range[1], quote }
}

/** The text with one scalar replaced. Everything else stays as it was, comments, order and spaces too. */
export function withLeaf(text: string, leaf: Leaf, value: string | number | boolean): string {
  const written = typeof value === 'string' ? quoted(value, leaf.quote) : `${leaf.quote}${value}${leaf.quote}`
  return `${text.slice(0, leaf.start)}${written}${text.slice(leaf.end)}`
}

function quoted(value: string, quote: Leaf['quote']): string {
  if (quote === "'") return `'${value.replaceAll("'", "''")}'`
  const plain = /^[A-Za-z_/][A-Za-z0-9_./-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off)$/i.test(value)
  return quote === '"' || !plain ? JSON.stringify(value) : value
}
