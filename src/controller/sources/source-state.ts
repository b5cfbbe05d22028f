import { cleanText } from '../../lib/clean-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Problem, showOrigin } from '../../model/declaration.ts'
import type { SourceView, WaitingRow } from '../../model/estate-view.ts'
import type { Grant } from '../../model/grant.ts'
import { maskMessage } from '../../model/masked/secret-text.ts'
import type { CommitFacts } from '../../source/git/commit-facts.ts'
import type { Followed, RepositoryFollower, RepositoryProblem } from '../../source/git/repository.ts'
import type { Revision } from '../../source/git/revision.ts'
import type { InForce } from './merge.ts'
import { isWanted, nextFacts, type SourceFacts, type SourceHappening } from './source-facts.ts'

/** A source as the controller is given it. */
export interface Source {
  readonly name: string
  /** For people: address without secrets. */
  readonly remote: string
  readonly ref: string
  readonly pollMs: number
  /** Names that its objects may use. Absent: all. */
  readonly grant?: Grant
  /** Valid objects of a revision count although others have errors; nothing is deleted because of it then. */
  readonly keepGoing?: boolean
  /** A new revision is followed when a person approves its plan. */
  readonly manual?: boolean
  /** Objects are independent: a wrong one is refused by name and does not affect the others. */
  readonly alone?: boolean
  /** Starts to follow it, from the commit that was followed before this process started. */
  open(options: {
    readonly lastGood?: string
    mayReturnTo(commit: string): boolean
    inForce?(): string | undefined
    newest?(): string | undefined
  }): RepositoryFollower
}

/** A source, its state, and the time of its next look. */
export interface SourceState extends SourceFacts {
  readonly source: Source
  readonly followed: RepositoryFollower
  /** The plan of the waiting revision. */
  plan?: WaitingPlan
  lookedMs?: number
  /** On the monotonic clock. */
  dueMs: number
}

/** Notes a happening. */
export function note(state: SourceState, happening: SourceHappening): void {
  const next = nextFacts(state, happening)
  for (const name of ['revision', 'facts', 'waiting', 'trouble', 'away'] as const)
    if (!(name in next)) delete state[name]
  Object.assign(state, next)
}

/** The plan of a commit that waits for a person. */
export interface WaitingPlan {
  readonly commit: string
  /** The hash by which it is approved. Absent: there is no plan. */
  readonly hash?: string
  /** In one line. */
  readonly summary: string
  /** In the form of `croft plan`. */
  readonly text: string
  readonly rows?: readonly WaitingRow[]
  readonly sinceMs: number
}

export type PollResult =
  | { readonly was: 'same' }
  | { readonly was: 'new' }
  | { readonly was: 'trouble'; readonly message: string; readonly again: boolean }

/** Looks at one source. A failure is trouble of this source alone: the others go on, and it is retried when due. */
async function seenOf({ followed }: SourceState, signal: AbortSignal): Promise<Followed> {
  try {
    return await followed.look(signal)
  } catch (error) {
    if (signal.aborted) throw error
    const why = error instanceof Error ? cleanText(error.message, 200) : 'unknown error'
    return { is: 'kept', reason: 'broken', message: `it could not be looked at: ${why}` }
  }
}

/** Looks at one source and records the result. */
export async function lookAt(state: SourceState, clock: Clock, signal: AbortSignal): Promise<PollResult> {
  const asked = state.wanted
  const told = [state.trouble?.message, state.away?.message]
  const seen = await seenOf(state, signal)
  note(state, { is: 'looked', saw: seen, asked })
  state.lookedMs = clock.now()
  const nowMs = clock.monotonicMs()
  const pollMs = Math.min(nowMs + state.source.pollMs, state.followed.dueMs?.() ?? Number.POSITIVE_INFINITY)
  state.dueMs = isWanted(state) ? nowMs : pollMs
  if (seen.is === 'kept') return { was: 'trouble', message: seen.message, again: told.includes(seen.message) }
  return { was: seen.is }
}

/** Follows this revision from now on. */
export function putInForce(state: SourceState, revision: Revision): void {
  note(state, { is: 'accepted', revision })
  delete state.plan
}

/** Says in one line why a revision is not followed; the places are beside it. */
export function notWhole(state: SourceState, problems: readonly Problem[]): RepositoryProblem {
  const [first] = problems
  const place = first === undefined ? '' : `, the first at ${showOrigin(first.origin)}: ${first.message}`
  const errors = problems.length === 1 ? '1 error' : `${problems.length} errors`
  const short = (id: string | undefined) => id?.slice(0, 12) ?? ''
  const commit = state.waiting?.revision.id
  return {
    reason: 'broken',
    message: `revision ${short(commit)} has ${errors}${place}; revision ${short(state.revision?.id)} stays in force`,
    problems,
    ...(commit === undefined ? {} : { commit }),
  }
}

/** Returns the current revisions of the sources that have been read. */
export function inForceOf(states: readonly SourceState[]): readonly InForce[] {
  return states.flatMap(({ source: { name, grant }, revision }) =>
    revision === undefined ? [] : [{ source: name, revision, ...(grant === undefined ? {} : { grant }) }],
  )
}

export function sourceView({ source, revision, facts, trouble, away, waiting, plan }: SourceState): SourceView {
  const wrong = [away, trouble].flatMap((one) => one?.message ?? [])
  return {
    name: source.name,
    remote: source.remote,
    ref: source.ref,
    ...(revision === undefined ? {} : { commit: revision.id }),
    ...(facts === undefined ? {} : { subject: facts.subject, author: facts.author, committedMs: facts.committedMs }),
    ...(wrong.length === 0 ? {} : { trouble: wrong.map(maskMessage).join('; and ') }),
    ...(away === undefined ? {} : { unreachable: true as const }),
    ...(plan === undefined ? {} : { waiting: waitingView(plan, waiting?.facts) }),
  }
}

function waitingView(
  { commit, hash, summary, text, rows, sinceMs }: WaitingPlan,
  facts: CommitFacts | undefined,
): NonNullable<SourceView['waiting']> {
  return {
    commit,
    summary,
    text,
    sinceMs,
    ...(hash === undefined ? {} : { plan: hash }),
    ...(rows === undefined ? {} : { rows }),
    ...(facts === undefined ? {} : { subject: facts.subject, author: facts.author }),
  }
}

/** Returns the problems of revisions that are not followed. With several sources, each place names its source. */
export function keptProblems(states: readonly SourceState[]): readonly Problem[] {
  return states.flatMap(({ source, trouble: kept }) =>
    (kept?.problems ?? []).map((problem) => {
      const { origin } = problem
      const named = states.length === 1 || origin.file.startsWith(`${source.name}:`)
      return named ? problem : { ...problem, origin: { ...origin, file: `${source.name}:${origin.file}` } }
    }),
  )
}
