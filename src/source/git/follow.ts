import { type Problem, showOrigin } from '../../model/declaration.ts'

/** The facts of a revision that decide whether to follow it. */
export interface RevisionFacts {
  readonly id: string
  readonly declarations: number
  /** Number of declared but refused objects: they exist and are not followed. */
  readonly refused: number
  /** Some file could not be read at all. */
  readonly incomplete: boolean
  /** The first thing that is wrong, with its place, for a message. */
  readonly wrong?: string
}

/** The result of the last look at the repository. */
export type Polled =
  | { readonly saw: 'revision'; readonly revision: RevisionFacts }
  | { readonly saw: 'nothing'; readonly message: string }

/** The revision to follow. */
export type Following =
  | { readonly follow: 'new' }
  | { readonly follow: 'last-good'; readonly reason: 'unreachable' | 'broken' | 'empty'; readonly message: string }
  /** There is no revision: change nothing. */
  | { readonly follow: 'nothing'; readonly reason: 'unreachable' | 'empty'; readonly message: string }

/**
 * Decides whether to follow a revision. The last good one stays until a better one comes: an unreachable repository, an
 * unreadable file and a tree that suddenly lost everything look like deletions and are not. Whether single refused
 * objects hold a revision back is decided by the caller, which knows all sources. A broken first revision is followed
 * as far as it can be read, and nothing may be deleted because of it.
 */
export function judgeRevision(lastGood: RevisionFacts | undefined, look: Polled): Following {
  if (look.saw === 'nothing') {
    return lastGood === undefined
      ? { follow: 'nothing', reason: 'unreachable', message: look.message }
      : {
          follow: 'last-good',
          reason: 'unreachable',
          message: `${look.message}; what is in force stays in force`,
        }
  }
  const { revision } = look
  const empty = revision.declarations + revision.refused === 0
  if (lastGood === undefined) {
    return empty
      ? {
          follow: 'nothing',
          reason: 'empty',
          message: `no manifest (.yaml, .yml or .json) at revision ${revision.id}; is it the right directory or path?`,
        }
      : { follow: 'new' }
  }
  if (empty && lastGood.declarations + lastGood.refused > 0) {
    const message = `revision ${revision.id} declares nothing, where ${lastGood.id} declared ${lastGood.declarations}; ${lastGood.id} stays in force`
    return { follow: 'last-good', reason: 'empty', message }
  }
  if (revision.incomplete) {
    const message = `revision ${revision.id} cannot be read as a whole${revision.wrong === undefined ? '' : ` (${revision.wrong})`}; revision ${lastGood.id} stays in force`
    return { follow: 'last-good', reason: 'broken', message }
  }
  return { follow: 'new' }
}

/** The facts of a revision that was read. */
export function factsOf(revision: {
  readonly id: string
  readonly declarations: readonly unknown[]
  readonly unreadable: readonly unknown[]
  readonly incomplete: boolean
  readonly problems: readonly Problem[]
}): RevisionFacts {
  const first = revision.problems.find(({ severity }) => severity === 'error')
  return {
    id: revision.id,
    declarations: revision.declarations.length,
    refused: revision.unreadable.length,
    incomplete: revision.incomplete,
    ...(first === undefined ? {} : { wrong: `${showOrigin(first.origin)}: ${first.message}` }),
  }
}
