import type { Clock } from '../lib/clock.ts'
import type { CommitView } from '../model/estate-view.ts'
import type { NewEvent } from '../model/event.ts'
import type { Store } from '../store/port.ts'
import { readCommits, withCommit } from './commits.ts'
import { lookAt, type Source, type SourceState } from './source-state.ts'

const COMMITS = 'controller/commits'

/** The sources of a controller: what is in force of each, and what came of the last looks. */
export interface Sources {
  readonly states: readonly SourceState[]
  /** Looks at those that are due. True: something new is in force. Undefined: none was due, or it was stopped. */
  look(signal: AbortSignal): Promise<boolean | undefined>
  /** The newest commits that came into force. */
  commits(): readonly CommitView[]
  /** Looks at one as soon as it can be. False: there is none of that name. */
  hurry(name: string): boolean
  /** A person allows a step back in history, by `source@commit`. */
  allowReturn(name: string): void
  /** By the clock that never jumps. */
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

/** Begins to follow every source, from the commit that was in force when we were last here. */
export async function openSourceStates({ clock, store, epoch, counters, ...deps }: SourcesDeps): Promise<Sources> {
  const mayReturn = new Set<string>()
  let commits = readCommits(await store.getValue(COMMITS))
  const states: readonly SourceState[] = await Promise.all(
    deps.sources.map(async (source): Promise<SourceState> => {
      const lastGood = await store.getValue(`source/${source.name}`)
      const mayReturnTo = (commit: string) => mayReturn.has(`${source.name}@${commit}`)
      const followed = source.open({ mayReturnTo, ...(lastGood === undefined ? {} : { lastGood }) })
      return { source, followed, dueMs: clock.monotonicMs() }
    }),
  )

  /** What is new of a source is remembered before anything is done about it. */
  const inForce = async ({ source: { name }, facts }: SourceState, commit: string): Promise<void> => {
    if (facts !== undefined && commits[0]?.commit !== facts.commit) {
      commits = withCommit(commits, name, facts, clock.now())
      await store.putValue(epoch, COMMITS, JSON.stringify(commits))
    }
    if ((await store.getValue(`source/${name}`)) === commit) return
    await store.putValue(epoch, `source/${name}`, commit)
    const message = facts === undefined ? `${name} is at ${commit}` : `${name}: ${facts.subject} (${facts.author})`
    const atMs = clock.now()
    await deps.tell([{ atMs, type: 'Normal', reason: 'Revision', message, commit }])
    const actor = `git:${facts?.author ?? name}`
    await store.appendAudit?.({ atMs, actor, from: 'git', what: 'commit', subject: commit, outcome: 'done', message })
  }

  return {
    states,
    commits: () => commits,
    dueMs: () => Math.min(...states.map((state) => state.dueMs)),
    hurry(name) {
      const state = states.find((one) => one.source.name === name)
      if (state !== undefined) state.dueMs = clock.monotonicMs()
      return state !== undefined
    },
    allowReturn(name) {
      mayReturn.add(name)
      for (const state of states) if (name.startsWith(`${state.source.name}@`)) state.dueMs = clock.monotonicMs()
    },
    async look(signal) {
      const due = states.filter((state) => state.dueMs <= clock.monotonicMs())
      if (due.length === 0) return undefined
      let changed = false
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
        if (result.was !== 'new') continue
        changed = true
        await inForce(state, result.commit)
      }
      return changed
    },
  }
}
