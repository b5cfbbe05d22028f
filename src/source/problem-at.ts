import type { Document } from 'yaml'
import { SECRET_IN_MANIFEST } from '../kinds/fields/explain.ts'
import type { FieldProblem } from '../kinds/kind.ts'
import type { Declaration } from '../model/declaration.ts'
import type { Origin } from '../model/origin.ts'
import type { Problem } from '../model/problem.ts'
import { excerpt, printable } from './excerpt.ts'
import { documentTree, type YamlFinding } from './full-yaml.ts'
import type { JudgedObject } from './judge.ts'
import { locate } from './locate.ts'
import type { SourceDocument } from './manifest.ts'
import { placeOf } from './text-of.ts'

export interface FileAt {
  readonly file: string
  readonly commit?: string
}

/** Trees are built only for documents that somebody asks about, which is nearly none: positions cost most of reading. */
const trees = new WeakMap<SourceDocument, Document | null>()

/** What is needed of a judged object to find a field of it. */
type LocatedObject = Pick<JudgedObject, 'document' | 'base' | 'key' | 'kind'>

/** Where the object itself begins. */
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
    field: problem.path
      .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
      .join(''),
    hint: problem.hint,
  })
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

/** A problem with the writing itself. */
export function findingAt(judged: JudgedObject, finding: YamlFinding, at: FileAt): Problem {
  const origin = originAt(judged.document, finding.offset, at)
  return finish(judged, origin, { code: finding.code, severity: 'error', message: finding.message, hint: finding.hint })
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

function originAt(document: SourceDocument, offset: number, at: FileAt): Origin {
  const place = placeOf(document.text, Math.min(offset, document.text.length))
  return { file: at.file, line: document.line + place.line - 1, column: place.column, ...commitOf(at) }
}

function commitOf(at: FileAt): { readonly commit?: string } {
  return at.commit === undefined ? {} : { commit: at.commit }
}
