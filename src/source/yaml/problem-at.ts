import type { Document, Node } from 'yaml'
import { SECRET_IN_MANIFEST } from '../../kinds/fields/explain.ts'
import { fieldPath } from '../../kinds/fields/problem.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import type { Declaration, Origin, Problem } from '../../model/declaration.ts'
import type { JudgedObject } from '../judge.ts'
import type { SourceDocument } from '../manifest.ts'
import { excerpt, printable } from './excerpt.ts'
import { documentTree, type YamlFinding } from './full-yaml.ts'
import { placeOf } from './text-of.ts'

export interface FileAt {
  readonly file: string
  readonly commit?: string
}

/** Parsed trees of the few documents that need positions: computing those is most of the cost of reading. */
const trees = new WeakMap<SourceDocument, Document | null>()

/** The part of a judged object that is needed to find a field. */
type LocatedObject = Pick<JudgedObject, 'document' | 'base' | 'key' | 'kind'>

/** Returns the place at which the object begins. */
export function originOf(judged: JudgedObject, at: FileAt): Origin {
  if (judged.base.length > 0) return originAt(judged.document, offsetOf(judged, [], 'key'), at)
  const { text, line } = judged.document
  const first = /^(?:--- +)?(?=[^\s#])(?!---\s*(?:#|$))/m.exec(text)
  const index = first === null ? 0 : first.index + first[0].length
  const place = placeOf(text, index)
  return { file: at.file, line: line + place.line - 1, column: place.column, ...commitOf(at) }
}

/** A problem at a field, with file, line, column and the lines of the source. */
export function fieldProblemAt(judged: LocatedObject, problem: FieldProblem, at: FileAt): Problem {
  const pointsAtKey = /^(?:unknown-field|not-kept|alias|missing-field|kind-not-kept)$/.test(problem.code)
  const origin = originAt(judged.document, offsetOf(judged, problem.path, pointsAtKey ? 'key' : 'value'), at)
  return finish(judged, origin, {
    code: problem.code,
    severity: problem.severity ?? 'error',
    message: problem.message,
    field: fieldPath(problem.path),
    hint: problem.hint,
  })
}

/** Returns the place of a field's value. */
export function fieldOriginAt(judged: LocatedObject, path: FieldProblem['path'], at: FileAt): Origin {
  return originAt(judged.document, offsetOf(judged, path, 'value'), at)
}

/** A problem whose field cannot be looked for: it has the place of its object. */
export function plainProblem(declaration: Declaration, problem: FieldProblem): Problem {
  return {
    code: problem.code,
    origin: declaration.origin,
    object: declaration.key,
    field: problem.path.join('.'),
    message: problem.message,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    severity: problem.severity ?? 'error',
  }
}

/** Reports a syntax problem. In a foreign file it is only a warning. */
export function findingAt(judged: JudgedObject, finding: YamlFinding, at: FileAt): Problem {
  const origin = originAt(judged.document, finding.offset, at)
  const severity = judged.outcome === 'ignored' ? 'warning' : 'error'
  return finish(judged, origin, { code: finding.code, severity, message: finding.message, hint: finding.hint })
}

function finish(
  judged: LocatedObject,
  origin: Origin,
  problem: { code: string; severity: Problem['severity']; message: string; field?: string; hint: string | undefined },
): Problem {
  const { text, line } = judged.document
  return {
    code: problem.code,
    origin,
    ...(judged.key === undefined ? {} : { object: judged.key }),
    ...(problem.field === undefined ? {} : { field: printable(problem.field.slice(0, 300)) }),
    message: printable(problem.message),
    ...(problem.hint === undefined ? {} : { hint: printable(problem.hint) }),
    ...(problem.code === SECRET_IN_MANIFEST
      ? {}
      : { excerpt: excerpt('\n'.repeat(line - 1) + text, origin.line, origin.column) }),
    severity: problem.severity,
  }
}

function offsetOf(judged: LocatedObject, path: FieldProblem['path'], want: 'key' | 'value'): number {
  let tree = trees.get(judged.document)
  if (tree === undefined) {
    tree = documentTree(judged.document.text) ?? null
    trees.set(judged.document, tree)
  }
  if (tree === null) return 0
  const place = locate(tree, [...judged.base, ...path], judged.kind?.aliases)
  return want === 'key' || !place.complete ? place.key : place.value
}

/** Returns the place of a field in one YAML document: its key, or the nearest position to where it should be. */
export function fieldPlace(
  text: string,
  path: FieldProblem['path'],
): { readonly line: number; readonly column: number } {
  const tree = documentTree(text)
  return placeOf(text, tree === undefined ? 0 : locate(tree, path).key)
}

function originAt(document: SourceDocument, offset: number, at: FileAt): Origin {
  const place = placeOf(document.text, Math.min(offset, document.text.length))
  return { file: at.file, line: document.line + place.line - 1, column: place.column, ...commitOf(at) }
}

function commitOf(at: FileAt): { readonly commit?: string } {
  return at.commit === undefined ? {} : { commit: at.commit }
}

interface YamlPosition {
  /** Offset of the key, and of the value behind it. */
  readonly key: number
  readonly value: number
  /** False when the path leads further than the document goes: the place is then the nearest thing around it. */
  readonly complete: boolean
}

/**
 * Finds a field's position in the source. As lenient as the kinds are: a list of one and its element are
 * interchangeable, and a field may have its alias.
 */
function locate(
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
