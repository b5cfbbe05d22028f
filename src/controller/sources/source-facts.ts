import { defined } from '../../lib/defined.ts'
import type { CommitFacts } from '../../source/git/commit-facts.ts'
import type { Followed, RepositoryProblem } from '../../source/git/repository.ts'
import type { Revision } from '../../source/git/revision.ts'

/** The state of one source, as plain data. Each cause of trouble has its own field, so that none hides another. */
export interface SourceFacts {
  /** The current one. */
  revision?: Revision
  facts?: CommitFacts
  /** Read but not followed: the newest, or one that waits until it is whole. */
  waiting?: {
    readonly revision: Revision
    readonly facts?: CommitFacts
    /** Valid: it waits for a person. */
    readonly whole?: boolean
  }
  /** Why the newest commit is not followed. A look that fails to reach the source keeps it. */
  trouble?: RepositoryProblem
  /** Why the last look failed to reach the source. */
  away?: RepositoryProblem
  /** Number of requested looks, and how many of them preceded the start of the last look. */
  readonly wanted: number
  readonly answered: number
}

export type SourceHappening =
  | { readonly is: 'wanted' }
  /** `asked`: how many looks were wanted when this one began. */
  | { readonly is: 'looked'; readonly saw: Followed; readonly asked: number }
  | { readonly is: 'accepted'; readonly revision: Revision }
  | { readonly is: 'refused'; readonly problem: RepositoryProblem }
  | { readonly is: 'judged'; readonly whole: boolean }

export const UNSEEN: SourceFacts = { wanted: 0, answered: 0 }

/** Returns what is known of a source after one more happening. Pure. */
export function nextFacts(before: SourceFacts, happening: SourceHappening): SourceFacts {
  switch (happening.is) {
    case 'wanted':
      return { ...before, wanted: before.wanted + 1 }
    case 'looked':
      return { ...looked(before, happening.saw), answered: happening.asked }
    case 'judged':
      return before.waiting === undefined
        ? before
        : { ...before, waiting: { ...before.waiting, whole: happening.whole } }
    case 'refused':
      return { ...before, trouble: happening.problem }
    case 'accepted': {
      const { waiting, facts: _facts, trouble, ...rest } = before
      // With `keepGoing`, the trouble of a partly followed revision stays beside it.
      const over = trouble?.commit === happening.revision.id
      return {
        ...rest,
        revision: happening.revision,
        ...defined({ facts: waiting?.facts, trouble: over ? undefined : trouble }),
      }
    }
  }
}

function looked(before: SourceFacts, saw: Followed): SourceFacts {
  const { away: _away, ...reached } = before
  switch (saw.is) {
    case 'same': {
      // The newest commit is followed, so trouble with another one is over.
      const { trouble: _trouble, ...calm } = reached
      return reached.waiting === undefined ? calm : reached
    }
    case 'kept': {
      const { is: _is, ...problem } = saw
      return withProblem(reached, problem)
    }
    case 'new': {
      const { trouble: _trouble, ...rest } = reached
      const begun = rest.revision === undefined ? saw.before : undefined
      const waiting = { revision: saw.revision, ...defined({ facts: saw.facts }) }
      const next = { ...rest, ...begun, waiting }
      return saw.trouble === undefined ? next : { ...next, ...placed(saw.trouble) }
    }
  }
}

function withProblem(before: SourceFacts, problem: RepositoryProblem): SourceFacts {
  if (problem.reason === 'unreachable') return { ...before, away: problem }
  // The waiting commit is older than the refused one: drop it.
  const { waiting: _waiting, ...rest } = before
  return { ...rest, trouble: problem }
}

function placed({ reason, message, commit, problems }: RepositoryProblem): Pick<SourceFacts, 'away' | 'trouble'> {
  const problem = { reason, message, ...defined({ commit, problems }) }
  return reason === 'unreachable' ? { away: problem } : { trouble: problem }
}

/** Reports whether a look was requested after the last one started: that look may have missed a push. Pure. */
export function isWanted({ wanted, answered }: SourceFacts): boolean {
  return wanted > answered
}
