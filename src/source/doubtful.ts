import type { FieldProblem } from '../kinds/kind.ts'
import { findKind } from '../kinds/registry.ts'
import { FAILED } from '../lib/failed-on.ts'
import type { Declaration, Problem, ResourceKey } from '../model/declaration.ts'
import { envelopeOf, type JudgedObject } from './judge.ts'
import { objectsOf, readDocuments } from './manifest.ts'
import { isTouched, remainderOf } from './remainder.ts'
import { type FileAt, fieldProblemAt, originOf } from './yaml/problem-at.ts'

/** A refused declaration without its wrong fields: only for finding further mistakes, never applied. */
export interface Doubtful {
  readonly declaration: Declaration
  /** Further problems of the declaration's fields. */
  readonly problems: readonly Problem[]
  /** All values of known fields remain, so problems of other objects that follow from it are real. */
  readonly whole: boolean
  /** Returns a problem with its place; undefined if the left-out fields cause it. */
  problemAt(problem: FieldProblem): Problem | undefined
  /** The plain data of `problemAt`. */
  readonly left: LeftOut
}

/** The parts left out of a refused declaration, with their places. */
export interface LeftOut {
  readonly touched: readonly FieldProblem['path'][]
  readonly whole: boolean
  readonly document: JudgedObject['document']
  readonly base: JudgedObject['base']
  readonly key: ResourceKey
  readonly apiVersion: string
  readonly kind: string
  readonly at: FileAt
}

/** Gives findings about a refused declaration their places. Pure. */
export function placingDoubtful({ touched, whole, document, base, key, apiVersion, kind, at }: LeftOut) {
  const known = findKind(apiVersion, kind)
  const judged = { document, base, key, ...(known === undefined ? {} : { kind: known }) }
  // A field that is missing now may be the one that was left out, misnamed or misplaced.
  const follows = ({ code }: FieldProblem) => code === FAILED || (code === 'missing-field' && !whole)
  return (problem: FieldProblem): Problem | undefined =>
    follows(problem) || isTouched(problem, touched) ? undefined : fieldProblemAt(judged, problem, at)
}

export function doubtfulOf(judged: JudgedObject, at: FileAt): Doubtful | undefined {
  const { kind, key, composedBy } = judged
  if (kind === undefined || key === undefined || composedBy !== undefined) return undefined
  try {
    const base = judged.base.join('.')
    const object = readDocuments(judged.document.text)
      .flatMap(({ value }) => objectsOf(value))
      .find((one) => one.base.join('.') === base)
    if (object === undefined) return undefined
    const apiVersion = String(object.value.apiVersion)
    const { manifest } = envelopeOf(object.value, apiVersion, kind)
    if (manifest === undefined) return undefined
    const errors = judged.problems.filter(({ severity }) => severity !== 'warning')
    const isValid = judged.outcome === 'declared' || kind.schema.safeParse(manifest.spec).success
    const paths = errors.map(({ path }) => path)
    const left = isValid
      ? { spec: kind.schema.parse(manifest.spec), touched: paths, whole: true }
      : remainderOf(kind, manifest, paths)
    if (left === undefined) return undefined
    const { document } = judged
    const { touched, whole } = left
    const out: LeftOut = { touched, whole, document, base: judged.base, key, apiVersion, kind: kind.kind, at }
    const problemAt = placingDoubtful(out)
    const checked = isValid ? [] : (kind.check?.(left.spec, { ...manifest, spec: left.spec }) ?? [])
    return {
      declaration: {
        key,
        apiVersion,
        kind: kind.kind,
        name: manifest.metadata.name,
        labels: manifest.metadata.labels,
        annotations: manifest.metadata.annotations,
        ...(manifest.metadata.namespace === undefined ? {} : { namespace: manifest.metadata.namespace }),
        spec: left.spec,
        policy: kind.policy(left.spec, manifest),
        origin: originOf(judged, at),
        generation: '',
      },
      problems: checked.flatMap((problem) => problemAt(problem) ?? []),
      whole: left.whole,
      problemAt,
      left: out,
    }
  } catch {
    // Ignore a remainder that cannot be judged: the first problems are reported already.
    return undefined
  }
}
