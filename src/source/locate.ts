import type { Document, Node } from 'yaml'
import { yamlLibrary } from '../lib/yaml-library.ts'

export interface YamlPosition {
  /** Offset of the key, and of the value behind it. */
  readonly key: number
  readonly value: number
  /** False when the path leads further than the document goes: the place is then the nearest thing around it. */
  readonly complete: boolean
}

/**
 * Where a field stands in the source. Reads as forgivingly as the kinds do: a list of one stands for its element and
 * an element for a list of one, and a field may stand under its other name.
 */
export function locate(
  document: Document,
  path: readonly (string | number)[],
  aliases: Readonly<Record<string, string>> = {},
): YamlPosition {
  const { isMap, isSeq } = yamlLibrary()
  let node = followed(document.contents, document)
  let place: YamlPosition = { key: offset(node), value: offset(node), complete: true }
  for (const step of path) {
    if (isSeq(node) && typeof step === 'string' && node.items.length === 1) node = followed(node.items[0], document)
    if (isMap(node) && step === 0) continue
    if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
      node = followed(node.items[step], document)
      place = { key: offset(node), value: offset(node), complete: true }
      continue
    }
    const pair = isMap(node) ? pairOf(node.items, step, aliases) : undefined
    if (pair === undefined) return { ...place, complete: false }
    const value = followed(pair.value, document)
    const keyAt = offset(pair.key as Node)
    place = { key: keyAt, value: value === undefined ? keyAt : offset(value), complete: true }
    node = value
  }
  return place
}

function pairOf(
  items: readonly { readonly key: unknown; readonly value: unknown }[],
  step: string | number,
  aliases: Readonly<Record<string, string>>,
) {
  const { isScalar } = yamlLibrary()
  const named = (name: string) => items.find((pair) => isScalar(pair.key) && String(pair.key.value) === name)
  const alias = Object.hasOwn(aliases, step) ? aliases[step] : undefined
  return named(String(step)) ?? (alias === undefined ? undefined : named(alias))
}

function followed(node: unknown, document: Document): Node | undefined {
  const { isAlias, isMap, isScalar, isSeq } = yamlLibrary()
  const target = isAlias(node) ? node.resolve(document) : node
  return isMap(target) || isSeq(target) || isScalar(target) ? target : undefined
}

function offset(node: Node | undefined | null): number {
  return node?.range?.[0] ?? 0
}
