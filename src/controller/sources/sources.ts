import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import type { Problem } from '../../model/declaration.ts'
import type { CommitView } from '../../model/estate-view.ts'
import type { NewEvent } from '../../model/record.ts'
import type { Store } from '../../store/port.ts'
import { openCommitLog } from './commit-log.ts'
import type { InForce } from './merge.ts'
import { UNSEEN } from './source-facts.ts'
import { inForceOf, lookAt, note, notWhole, putInForce, type Source, type SourceState } from './source-state.ts'
import { wholeOnly } from './whole.ts'

type ErrorsIn = (parts: readonly InForce[]) => Promise<readonly Problem[]>

/** The sources of a controller: the current revision of each, and the results of the last looks. */
export interface Sources {
  readonly states: readonly SourceState[]
  /**
   * Looks at those that are due and follows the whole ones, judged by the errors of all revisions together. Returns
   * true if a new revision is followed; undefined if none was due or the look was stopped.
   */
  look(signal: AbortSignal, errorsIn: ErrorsIn): Promise<boolean | undefined>
  /** The newest commits that came into force. */
  commits(): readonly CommitView[]
  /** Looks at one as soon as possible. Returns false if the name is unknown. */
  hurry(name: string): boolean
  /** A person allows a step back in history, by `source@commit`. */
  allowReturn(name: string): void
  /** The plan of a commit that waited is approved: it comes into force with the next look. */
  approve(name: string, commit: string): void
  /** On the monotonic clock. */
  dueMs(): number
}

export interface SourcesDeps {
  readonly clock: Clock
  readonly store: Store
  readonly epoch: number
  readonly sources: readonly Source[]
  readonly counters: { sourceLooks: number; sourceTroubles: number }
  tell(events: readonly NewEvent[]): Promise<void>
}

/** Starts to follow all sources, from the commits that were followed before this process started. */
export async function openSourceStates({ clock, store, epoch, counters, ...deps }: SourcesDeps): Promise<Sources> {
  /** Consents of people to a commit, by `source@commit`. Each ends when its commit comes into force: coming back to it needs another. */
  const mayReturn = new Set<string>()
  const approved = new Set<string>()
  const begunAt = new Map<string, string>()
  /** Number of consents given without a new commit, and number of those handled. */
  let allowed = 0
  let enforced = 0
  const log = await openCommitLog(store, epoch, clock)
  const states: readonly SourceState[] = await Promise.all(
    deps.sources.map(async (source): Promise<SourceState> => {
      const lastGood = await store.getValue(`source/${source.name}`)
      if (lastGood !== undefined) begunAt.set(source.name, lastGood)
      const mayReturnTo = (commit: string) => mayReturn.has(`${source.name}@${commit}`)
      const inForce = () => state.revision?.id ?? lastGood
      const newest = () => (state.waiting?.revision ?? state.revision)?.id
      const followed = source.open({ mayReturnTo, inForce, newest, ...(lastGood === undefined ? {} : { lastGood }) })
      const state: SourceState = { ...UNSEEN, source, followed, dueMs: clock.monotonicMs() }
      return state
    }),
  )

  /** Store the new commit before acting on it. */
  const inForce = async ({ source: { name }, facts }: SourceState, commit: string): Promise<void> => {
    if (facts !== undefined) await log.note(name, facts)
    if ((await store.getValue(`source/${name}`)) === commit) return
    await store.putValue(epoch, `source/${name}`, commit)
    const message = facts === undefined ? `${name} is at ${commit}` : `${name}: ${facts.subject} (${facts.author})`
    const atMs = clock.now()
    await deps.tell([{ atMs, type: 'Normal', reason: 'Revision', message, commit }])
    const actor = `git:${facts?.author ?? name}`
    await store.appendAudit({ atMs, actor, from: 'git', what: 'commit', subject: commit, outcome: 'done', message })
  }

  /** A running look may have started too early, so look again. */
  const want = (state: SourceState): void => {
    note(state, { is: 'wanted' })
    state.dueMs = clock.monotonicMs()
  }

  /** The current commit needs no second consent when it is read again: after a restart, or when a fetch arrives. */
  const consented = ({ source: { name, manual = false }, revision }: SourceState, commit: string): boolean =>
    !manual || commit === (revision?.id ?? begunAt.get(name)) || approved.has(`${name}@${commit}`)

  const enforce = async (errorsIn: ErrorsIn): Promise<boolean> => {
    const candidates = states.flatMap((state) => {
      const { name, grant, keepGoing = false, alone = false } = state.source
      const { revision } = state.waiting ?? {}
      if (revision === undefined) return []
      const candidate = defined({ source: name, revision, keepGoing, alone, grant })
      return [{ waits: !consented(state, revision.id), candidate }]
    })
    const going = candidates.filter(({ waits }) => !waits).map(({ candidate }) => candidate)
    const { accepted, refused } = await wholeOnly(inForceOf(states), going, errorsIn)
    const refusals = new Map(refused)
    for (const { candidate, waits } of candidates) {
      if (!waits) continue
      const judged = await wholeOnly([...inForceOf(states)], [candidate], errorsIn)
      for (const [name, problems] of judged.refused) refusals.set(name, problems)
      const state = states.find(({ source }) => source.name === candidate.source)
      if (state !== undefined) note(state, { is: 'judged', whole: judged.accepted.length > 0 })
    }
    for (const state of states) {
      const { name } = state.source
      const taken = accepted.find(({ source }) => source === name)
      const problems = refusals.get(name)
      if (taken !== undefined) {
        putInForce(state, taken.revision)
        for (const consents of [mayReturn, approved]) consents.delete(`${name}@${taken.revision.id}`)
        await inForce(state, taken.revision.id)
      } else if (problems !== undefined) {
        const kept = notWhole(state, problems)
        const again = state.trouble?.message === kept.message
        note(state, { is: 'refused', problem: kept })
        counters.sourceTroubles++
        const message = `${name}: ${kept.message}`
        if (!again) await deps.tell([{ atMs: clock.now(), type: 'Warning', reason: 'SourceTrouble', message }])
      }
    }
    return accepted.length > 0
  }

  return {
    states,
    commits: () => log.commits(),
    dueMs: () => Math.min(...states.map((state) => state.dueMs)),
    hurry(name) {
      const state = states.find((one) => one.source.name === name)
      if (state !== undefined) want(state)
      return state !== undefined
    },
    allowReturn(name) {
      mayReturn.add(name)
      for (const state of states) if (name.startsWith(`${state.source.name}@`)) want(state)
    },
    approve(name, commit) {
      approved.add(`${name}@${commit}`)
      allowed++
    },
    async look(signal, errorsIn) {
      const due = states.filter((state) => state.dueMs <= clock.monotonicMs())
      if (due.length === 0 && enforced === allowed) return undefined
      let fresh = false
      for (const state of due) {
        if (signal.aborted) return undefined
        counters.sourceLooks++
        const result = await lookAt(state, clock, signal)
        if (signal.aborted) return undefined
        if (result.was === 'trouble') {
          counters.sourceTroubles++
          const message = `${state.source.name}: ${result.message}`
          if (!result.again) await deps.tell([{ atMs: clock.now(), type: 'Warning', reason: 'SourceTrouble', message }])
        }
        fresh ||= result.was === 'new'
      }
      if (fresh) allowed++
      if (enforced === allowed) return false
      // Retry at the next turn what cannot be followed now, and take up consents given meanwhile.
      const upTo = allowed
      const changed = await enforce(errorsIn)
      enforced = upTo
      return changed
    },
  }
}
