import type { ObjectsAt } from '../../kinds/kind.ts'
import { findKind } from '../../kinds/registry.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Declaration, Problem, ResourceKey } from '../../model/declaration.ts'
import type { UnreadPath } from '../../model/unread.ts'
import type { DefinedApi, LateInstances } from '../compose/api.ts'
import { type LateExpansion, withLate } from '../compose/late.ts'
import { type Doubtful, placingDoubtful } from '../doubtful.ts'
import type { DocumentPlace, ExpandedInstances, Ignored, Revision } from '../git/revision.ts'
import { fieldProblemAt, plainProblem } from '../yaml/problem-at.ts'

/** The data of a revision, without its functions. */
export interface PackedHead {
  readonly id: string
  readonly files: number
  readonly incomplete: boolean
  readonly unreadable: readonly ResourceKey[]
}

/** A part of a revision, small enough to be received without blocking. */
export interface RevisionPiece {
  readonly declarations?: readonly { readonly declaration: Declaration; readonly written?: DocumentPlace }[]
  readonly problems?: readonly Problem[]
  readonly ignored?: readonly Ignored[]
  readonly unread?: readonly UnreadPath[]
  /** Kinds that the files define, and documents that define them or became others. */
  readonly apis?: readonly DefinedApi[]
  readonly definitions?: readonly Ignored[]
  readonly doubtful?: readonly Omit<Doubtful, 'problemAt'>[]
  readonly late?: LateInstances
  /** The expansion of late instances, without the pieces of its revision. */
  readonly expanded?: Omit<ExpandedInstances, 'revision'> & { readonly head: PackedHead }
  /** Marks a piece of the expansion of late instances. */
  readonly ofLate?: true
  readonly objects?: { readonly place: string; readonly at: ObjectsAt; readonly more: boolean }
}

const PIECE = { declarations: 50, others: 500, objects: 50 }

/** The parts of a revision, one after another. */
export function* piecesOf(whole: Revision, places: readonly string[]): Generator<RevisionPiece> {
  const { base: revision = whole, instances, expanded } = whole.late ?? {}
  if (instances !== undefined) yield { late: instances }
  if (expanded !== undefined) yield* piecesOfExpanded(expanded)
  for (const declarations of inPieces(revision.declarations, PIECE.declarations))
    yield {
      declarations: declarations.map((declaration) => {
        const written = revision.written?.(declaration)
        return written === undefined ? { declaration } : { declaration, written }
      }),
    }
  for (const problems of inPieces(kept(revision.problems), PIECE.others)) yield { problems }
  for (const ignored of inPieces(revision.ignored, PIECE.others)) yield { ignored }
  for (const unread of inPieces(revision.unread ?? [], PIECE.others)) yield { unread }
  for (const { kind, apiVersion, summary, spec, origin } of revision.apis ?? [])
    yield { apis: [{ kind, apiVersion, summary, spec, origin }] }
  for (const definitions of inPieces(revision.expanded ?? [], PIECE.others)) yield { definitions }
  if (revision.problems.some(({ severity }) => severity === 'error'))
    for (const doubtful of inPieces(revision.doubtful?.() ?? [], PIECE.declarations))
      yield { doubtful: doubtful.map(({ problemAt: _, ...one }) => one) }
  for (const place of new Set(places)) {
    const at = revision.objectsAt?.(place)
    if (at === undefined) continue
    if ('problem' in at || at.objects.length === 0) yield { objects: { place, at, more: false } }
    else
      for (const objects of inPieces(at.objects, PIECE.objects))
        yield { objects: { place, at: { objects }, more: true } }
  }
}

export function* piecesOfExpanded({ revision, waiting, reads }: ExpandedInstances): Generator<RevisionPiece> {
  const { id, files, incomplete, unreadable } = revision
  yield { expanded: { head: { id, files, incomplete, unreadable }, waiting, reads } }
  for (const piece of piecesOf(revision, [])) yield { ...piece, ofLate: true }
}

/** Splits a list into pieces of limited count and limited size, because the receiver deserializes a piece in one go. */
function* inPieces<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  let piece: T[] = []
  let nodes = 0
  for (const one of all) {
    const more = nodesIn(one)
    if (piece.length >= size || (piece.length > 0 && nodes + more > LIMITS.pieceNodes)) {
      yield piece
      piece = []
      nodes = 0
    }
    piece.push(one)
    nodes += more
  }
  if (piece.length > 0) yield piece
}

function nodesIn(value: unknown): number {
  if (value === null || typeof value !== 'object') return 1
  let nodes = 1
  for (const one of Object.values(value)) nodes += nodesIn(one)
  return nodes
}

/** Keeps errors first: a thousand problems are too many to read. The list of refused objects is sent separately. */
function kept(problems: readonly Problem[]): readonly Problem[] {
  const errors = problems.filter(({ severity }) => severity === 'error')
  const rest = problems.filter(({ severity }) => severity !== 'error')
  return [...errors, ...rest].slice(0, LIMITS.problemsKept)
}

/** Expands late instances in the cage. Gets their expansion without observed values. */
export type ExpandLate = (instances: LateInstances, unseen: ExpandedInstances) => LateExpansion

/** Puts a revision together from its parts. */
export function unpack(head: PackedHead, pieces: readonly RevisionPiece[], expand?: ExpandLate): Revision {
  const base = unpackWhole(
    head,
    pieces.filter(({ ofLate }) => ofLate !== true),
  )
  const instances = pieces.find(({ late }) => late !== undefined)?.late
  const unseen = unpackExpanded(pieces)
  if (instances === undefined || unseen === undefined) return base
  const expansion = expand?.(instances, unseen) ?? { by: () => unseen, prepare: async () => {} }
  return withLate(base, instances, new Map(), expansion)
}

/** Assembles the expansion of late instances from its pieces. */
export function unpackExpanded(pieces: readonly RevisionPiece[]): ExpandedInstances | undefined {
  const { expanded } = pieces.find((piece) => piece.expanded !== undefined) ?? {}
  if (expanded === undefined) return undefined
  const { head, waiting, reads } = expanded
  const own = pieces.filter(({ ofLate }) => ofLate === true)
  return { revision: unpackWhole(head, own), waiting, reads }
}

function unpackWhole(head: PackedHead, pieces: readonly RevisionPiece[]): Revision {
  const written = new Map<ResourceKey, DocumentPlace>()
  const declarations: Declaration[] = []
  const problems: Problem[] = []
  const ignored: Ignored[] = []
  const unread: UnreadPath[] = []
  const apis: DefinedApi[] = []
  const definitions: Ignored[] = []
  const doubtful: Doubtful[] = []
  const places = new Map<string, ObjectsAt>()
  for (const piece of pieces) {
    for (const one of piece.declarations ?? []) {
      declarations.push(one.declaration)
      if (one.written !== undefined) written.set(one.declaration.key, one.written)
    }
    problems.push(...(piece.problems ?? []))
    ignored.push(...(piece.ignored ?? []))
    unread.push(...(piece.unread ?? []))
    apis.push(...(piece.apis ?? []))
    definitions.push(...(piece.definitions ?? []))
    doubtful.push(...(piece.doubtful ?? []).map((one) => ({ ...one, problemAt: placingDoubtful(one.left) })))
    if (piece.objects === undefined) continue
    const { place, at } = piece.objects
    const before = places.get(place)
    const joined = 'objects' in at && before !== undefined && 'objects' in before
    places.set(place, joined ? { objects: [...before.objects, ...at.objects] } : at)
  }
  const problemAt = placing(written)
  return {
    ...head,
    declarations,
    problems,
    ignored,
    ...(unread.length === 0 ? {} : { unread }),
    ...(apis.length === 0 ? {} : { apis }),
    ...(definitions.length === 0 ? {} : { expanded: definitions }),
    doubtful: () => doubtful,
    problemAt,
    locate: (declaration, path) => problemAt(declaration, { code: '', path, message: '' }).origin,
    text: (declaration) => written.get(declaration.key)?.document.text,
    written: (declaration) => written.get(declaration.key),
    objectsAt: (place) => places.get(place),
  }
}

/**
 * Finds a field's place by parsing its document again. This runs in the main process, where other work waits, so it
 * stops after a limited amount of text; later problems get the place of their object.
 */
function placing(written: ReadonlyMap<ResourceKey, DocumentPlace>): Revision['problemAt'] {
  const read = new Set<object>()
  let left: number = LIMITS.placedCharacters
  return (declaration, problem) => {
    const found = written.get(declaration.key)
    if (found === undefined) return plainProblem(declaration, problem)
    const { document, base } = found
    if (!read.has(document)) {
      if (document.text.length > left) return plainProblem(declaration, problem)
      left -= document.text.length
      read.add(document)
    }
    const kind = findKind(declaration.apiVersion, declaration.kind)
    const { file, commit } = declaration.origin
    const judged = { document, base, key: declaration.key, ...(kind === undefined ? {} : { kind }) }
    return fieldProblemAt(judged, problem, { file, ...(commit === undefined ? {} : { commit }) })
  }
}
