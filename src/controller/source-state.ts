import type { Clock } from '../lib/clock.ts'
import type { SourceView } from '../model/estate-view.ts'
import type { Grant } from '../model/grant.ts'
import type { CommitFacts } from '../source/commit-facts.ts'
import type { FollowedRepository, Kept } from '../source/repository.ts'
import type { Revision } from '../source/revision.ts'
import type { InForce } from './merge.ts'

/** A source as the controller is given it. */
export interface Source {
  readonly name: string
  /** For people: address without secrets. */
  readonly remote: string
  readonly ref: string
  readonly pollMs: number
  /** What its objects may name. Absent: everything. */
  readonly grant?: Grant
  /** Begins to follow it, from the commit that was in force when we were last here. */
  open(options: { readonly lastGood?: string; mayReturnTo(commit: string): boolean }): FollowedRepository
}

/** What is in force from one source, and how the last look at it went. */
export interface SourceState {
  readonly source: Source
  readonly followed: FollowedRepository
  revision?: Revision
  facts?: CommitFacts
  trouble?: Kept
  lookedMs?: number
  /** By the clock that never jumps. */
  dueMs: number
}

export type LookResult =
  | { readonly was: 'same' }
  | { readonly was: 'new'; readonly commit: string }
  | { readonly was: 'trouble'; readonly message: string; readonly again: boolean }

/** Looks at one source and notes what came of it. */
export async function lookAt(state: SourceState, clock: Clock, signal: AbortSignal): Promise<LookResult> {
  const seen = await state.followed.look(signal)
  state.lookedMs = clock.now()
  state.dueMs = clock.monotonicMs() + state.source.pollMs
  if (seen.is === 'kept') return trouble(state, seen)
  if (seen.is === 'same') {
    delete state.trouble
    return { was: 'same' }
  }
  state.revision = seen.revision
  if (seen.facts === undefined) delete state.facts
  else state.facts = seen.facts
  if (seen.trouble === undefined) delete state.trouble
  else state.trouble = seen.trouble
  return { was: 'new', commit: seen.revision.id }
}

function trouble(state: SourceState, kept: Kept): LookResult {
  const again = state.trouble?.message === kept.message
  state.trouble = {
    reason: kept.reason,
    message: kept.message,
    ...(kept.commit === undefined ? {} : { commit: kept.commit }),
  }
  return { was: 'trouble', message: kept.message, again }
}

/** What counts now, of every source of which something has been read. */
export function inForceOf(states: readonly SourceState[]): readonly InForce[] {
  return states.flatMap(({ source: { name, grant }, revision }) =>
    revision === undefined ? [] : [{ source: name, revision, ...(grant === undefined ? {} : { grant }) }],
  )
}

export function sourceView({ source, revision, facts, trouble: kept }: SourceState): SourceView {
  return {
    name: source.name,
    remote: source.remote,
    ref: source.ref,
    ...(revision === undefined ? {} : { commit: revision.id }),
    ...(facts === undefined ? {} : { subject: facts.subject, author: facts.author, committedMs: facts.committedMs }),
    ...(kept === undefined ? {} : { trouble: kept.message }),
  }
}
