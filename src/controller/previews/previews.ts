import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { jsonIn } from '../../lib/foreign-json.ts'
import { inTurns, type Steps } from '../../lib/in-turns.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Estate } from '../../model/estate.ts'
import type { Plan } from '../../model/plan.ts'
import type { NewEvent } from '../../model/record.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import { readCommit, resolveCommit } from '../../source/git/git.ts'
import { fetchRef, mergedTree } from '../../source/git/git-merge.ts'
import type { FollowOptions } from '../../source/git/repository.ts'
import type { Revision } from '../../source/git/revision.ts'
import type { SourceReader } from '../../source/reader.ts'
import { type InForce, merging } from '../sources/merge.ts'
import { type ForgeRepository, headRef, type OpenPull, openPulls, type Send } from '../wishes/forge.ts'
import { postPlan } from './post-plan.ts'
import { withKnownWays } from './preview-estate.ts'
import { conflicting, tooLarge, withLeft } from './unplanned.ts'

/** A source whose pull requests get their plan as a comment. */
export interface PreviewedSource extends ForgeRepository {
  readonly source: string
  readonly branch: string
  readonly token: SecretReference
  readonly pollMs: number
  readonly mirror: string
  readonly remote: string
  readonly path?: string
  readonly access?: NonNullable<FollowOptions['access']>
  readonly allowLocal?: boolean
}

/** The current state, without any pull request. */
export interface PreviewState {
  readonly inForce: readonly InForce[]
  /** The estate as Git declares it, without additions of this turn. */
  readonly estate: Estate
}

/** Plans for pull requests, as the controller sees them: made when they are due, between passes. */
export interface Previews {
  look(state: PreviewState, signal: AbortSignal): Promise<readonly NewEvent[]>
  /** Something happened at the forge. */
  poke(source: string): void
  /** On the monotonic clock. */
  dueMs(): number
}

export interface PreviewDeps {
  readonly clock: Clock
  readonly sources: readonly PreviewedSource[]
  readonly send: Send
  /** Reads the content of a pull request, which is untrusted: anyone can open one. */
  readonly reader?: SourceReader
  resolveSecret(reference: SecretReference): Promise<Secret>
  link(revision: Revision): Steps<Estate>
  /** Both against the same world, apart from what the passes remember. */
  plan(estates: readonly [Estate, Estate], signal: AbortSignal): Promise<readonly [Plan, Plan]>
  /** The comment, beginning with the mark by which it is found again. */
  render(base: Plan, head: Plan, names: { readonly base: string; readonly head: string }): string
  readonly mark: string
  /** Planned heads, kept across restarts. */
  remember(): Promise<string | undefined>
  keep(remembered: string): Promise<void>
}

/** Request → head and base that its comment is about. */
const remembered = z.record(z.string(), z.string())

/**
 * Looks at the open pull requests of each source and comments on each what merging it would do: once per head and
 * current commit, by updating one comment.
 */
export function createPreviews(deps: PreviewDeps): Previews {
  const { clock, sources, send } = deps
  const due = new Map(sources.map(({ source }) => [source, clock.monotonicMs()]))
  const waiting = new Map<string, readonly OpenPull[]>()
  const troubles = new Map<string, string>()
  let posted: Map<string, string> | undefined

  return {
    async look(state, signal) {
      const known = posted ?? readPosted(await deps.remember())
      posted = known
      const before = JSON.stringify([...known])
      const events: NewEvent[] = []
      let left = LIMITS.previewsAtOnce
      for (const source of sources) {
        if (signal.aborted) break
        const base = state.inForce.find((one) => one.source === source.source)?.revision.id
        if (base === undefined) continue
        if ((due.get(source.source) ?? 0) <= clock.monotonicMs()) {
          due.set(source.source, clock.monotonicMs() + source.pollMs)
          events.push(...(await trying(source.source, () => listen(source, base, known))))
        }
        const queue = waiting.get(source.source) ?? []
        const now = queue.slice(0, left)
        left -= now.length
        waiting.set(source.source, queue.slice(now.length))
        for (const pull of now) {
          const name = `${source.source}#${pull.number}`
          events.push(
            ...(await trying(name, async () => {
              const done = await preview(source, pull, base, state, signal)
              known.set(name, `${pull.head} ${base}`)
              return [
                { atMs: clock.now(), type: 'Normal', reason: 'Preview', message: `the plan of ${name} was ${done}` },
              ]
            })),
          )
        }
      }
      if (JSON.stringify([...known]) !== before) await deps.keep(JSON.stringify(Object.fromEntries(known)))
      return events
    },
    poke(source) {
      if (due.has(source)) due.set(source, clock.monotonicMs())
    },
    dueMs: () =>
      [...waiting.values()].some((queue) => queue.length > 0)
        ? clock.monotonicMs()
        : Math.min(Number.POSITIVE_INFINITY, ...due.values()),
  }

  /** Notes which requests lack a comment for their head and the current commit. */
  async function listen(
    source: PreviewedSource,
    base: string,
    known: Map<string, string>,
  ): Promise<readonly NewEvent[]> {
    const open = await openPulls(source, source.branch, await deps.resolveSecret(source.token), send)
    const names = new Set(open.map(({ number }) => `${source.source}#${number}`))
    for (const name of known.keys()) if (name.startsWith(`${source.source}#`) && !names.has(name)) known.delete(name)
    waiting.set(
      source.source,
      open.filter(({ number, head }) => known.get(`${source.source}#${number}`) !== `${head} ${base}`),
    )
    return []
  }

  async function preview(
    source: PreviewedSource,
    { number, head }: OpenPull,
    base: string,
    state: PreviewState,
    signal: AbortSignal,
  ): Promise<'made' | 'renewed'> {
    const { mirror, branch, path } = source
    const ref = headRef(source.forge, number)
    await fetchRef(ref, { ...source, signal })
    // The request may have been pushed to since it was listed: what is planned is what is fetched.
    const commit = await resolveCommit(mirror, `refs/croft/${ref.slice('refs/'.length)}`, { signal })
    const merged = await mergedTree(mirror, base, commit, signal)
    const names = { base: branch, head: `#${number} at ${(commit === head ? head : commit).slice(0, 7)}` }
    const markdown =
      'conflicts' in merged
        ? conflicting(deps.mark, names, merged.conflicts)
        : await planned(
            await readCommit(mirror, merged.tree, {
              signal,
              ...defined({ reader: deps.reader, path }),
            }),
            names,
          )
    return postPlan({ ...source, number }, markdown, deps.mark, await deps.resolveSecret(source.token), send)

    async function planned(revision: Revision, title: typeof names): Promise<string> {
      const parts = state.inForce.map((one) => (one.source === source.source ? { ...one, revision } : one))
      const before = state.inForce.find((one) => one.source === source.source)?.revision.declarations.length ?? 0
      if (revision.declarations.length > before + LIMITS.previewedDeclarations)
        return tooLarge(deps.mark, title, revision.declarations.length - before)
      const linked = await inTurns(deps.link(await inTurns(merging(parts), clock)), clock)
      const { estate, left } = withKnownWays(linked, state.estate)
      return withLeft(deps.render(...(await deps.plan([state.estate, estate], signal)), title), left)
    }
  }

  /** A forge that is away, or a repository that cannot be read, causes one warning; croft tries again at the next look. */
  async function trying(name: string, work: () => Promise<readonly NewEvent[]>): Promise<readonly NewEvent[]> {
    try {
      const events = await work()
      troubles.delete(name)
      return events
    } catch (error) {
      const message = error instanceof z.ZodError ? 'the forge answered in an unexpected form' : messageOf(error)
      if (troubles.get(name) === message) return []
      troubles.set(name, message)
      return [{ atMs: clock.now(), type: 'Warning', reason: 'PreviewTrouble', message: `${name}: ${message}` }]
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function readPosted(text: string | undefined): Map<string, string> {
  return new Map(Object.entries(remembered.safeParse(jsonIn(text ?? '')).data ?? {}))
}
