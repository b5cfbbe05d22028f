import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import type { Estate } from '../../model/estate.ts'
import type { WaitingRow } from '../../model/estate-view.ts'
import { maskMessage } from '../../model/masked/secret-text.ts'
import type { NewEvent } from '../../model/record.ts'
import { validApprovals } from '../../plan/approvals.ts'
import type { Granted } from '../../server/port.ts'
import type { Revision } from '../../source/git/revision.ts'
import type { InForce } from '../sources/merge.ts'
import { inForceOf, type SourceState, type WaitingPlan } from '../sources/source-state.ts'

/** A plan as a person sees it, and what it is known again by. */
export interface ShownPlan {
  readonly hash: string
  readonly changes: boolean
  readonly summary: string
  readonly text: string
  readonly rows?: readonly WaitingRow[]
}

export interface ManualApplyDeps {
  readonly clock: Clock
  readonly states: readonly SourceState[]
  /** Revisions together, linked. */
  tryOut(parts: readonly InForce[]): Promise<{ readonly revision: Revision; readonly linked: Estate }>
  plan(estate: Estate, revision: Revision, signal: AbortSignal, of: { readonly bounded: boolean }): Promise<ShownPlan>
  /** Follows this commit from now on. */
  approve(name: string, commit: string): void
  tell(events: readonly NewEvent[]): Promise<void>
}

/** Plans waiting commits, and follows one when a person approves exactly its plan. */
export interface ManualApply {
  /** Plans what is new among what waits. True: something may come into force. */
  look(signal: AbortSignal): Promise<boolean>
  /** Answers a wish if a plan of this source waits; otherwise undefined. */
  approve(name: string, hash: string, note?: (message: string) => Promise<void>): Promise<Granted | undefined>
}

/** Short enough to type, long enough against accidents. */
const SHOWN_HASH = 12

export function createManualApply(deps: ManualApplyDeps): ManualApply {
  const { clock, states } = deps
  /** The input of a plan: the waiting commit, and the current ones of the other sources. */
  const madeOf = new Map<string, string>()

  const planOf = async (state: SourceState, signal: AbortSignal): Promise<WaitingPlan & { readonly goes: boolean }> => {
    const { name, grant } = state.source
    const { revision } = state.waiting ?? {}
    if (revision === undefined) throw new Error(`nothing of ${name} waits`)
    const own = { source: name, revision, ...(grant === undefined ? {} : { grant }) }
    const inForce = inForceOf(states)
    const parts = states.flatMap(({ source }) =>
      source.name === name ? [own] : inForce.filter((one) => one.source === source.name),
    )
    const tried = await deps.tryOut(parts)
    const sinceMs = state.plan?.commit === revision.id ? state.plan.sinceMs : clock.now()
    try {
      const { hash, changes, summary, text, rows } = await deps.plan(tried.linked, tried.revision, signal, {
        bounded: grant !== undefined,
      })
      const short = hash.slice(0, SHOWN_HASH)
      const judges = parts.filter(({ source }) => source !== name).map(({ source }) => source)
      const granted = approvedInGit(tried.linked, short, clock.now(), grant === undefined ? undefined : judges)
      const goes = !changes || granted
      return { commit: revision.id, hash: short, summary, text, sinceMs, goes, ...defined({ rows }) }
    } catch (error) {
      const why = maskMessage(error instanceof Error ? error.message : String(error))
      return { commit: revision.id, summary: `it cannot be planned: ${why}`, text: why, sinceMs, goes: false }
    }
  }

  const release = (state: SourceState, commit: string): void => {
    madeOf.delete(state.source.name)
    delete state.plan
    deps.approve(state.source.name, commit)
  }

  return {
    async look(signal) {
      let goes = false
      for (const state of states) {
        const { name, manual } = state.source
        if (manual !== true || state.waiting?.whole !== true) {
          delete state.plan
          madeOf.delete(name)
          continue
        }
        const stands = [state.waiting.revision.id, ...states.map(({ revision }) => revision?.id ?? '')].join(' ')
        if (madeOf.get(name) === stands && state.plan?.hash !== undefined) continue
        const { goes: now, ...plan } = await planOf(state, signal)
        if (signal.aborted) return goes
        const isNew = state.plan?.hash !== plan.hash || state.plan?.summary !== plan.summary
        madeOf.set(name, stands)
        state.plan = plan
        if (now) {
          release(state, plan.commit)
          goes = true
        } else if (isNew) await deps.tell([waits(name, plan, clock.now())])
      }
      return goes
    },
    async approve(name, hash, note = async () => {}) {
      const state = states.find(({ source }) => source.name === name)
      const before = state?.plan
      if (state === undefined || before === undefined) return undefined
      if (before.hash === undefined) return { ok: false, reason: 'conflict', message: before.summary }
      if (hash.slice(0, SHOWN_HASH) !== before.hash) return anotherPlan(name, before)
      // Apply only the plan that the person saw: the world may have changed since.
      const { goes: _, ...plan } = await planOf(state, new AbortController().signal)
      if (plan.hash !== before.hash || plan.commit !== before.commit) {
        state.plan = plan
        return anotherPlan(name, plan)
      }
      const message = `the plan ${plan.hash} of ${name} is approved: ${plan.summary}`
      await note(message)
      release(state, plan.commit)
      return { ok: true, message }
    },
  }
}

/** Reports an Approval in Git. A source with a grant cannot approve its own plans: only `judges` count. */
function approvedInGit(estate: Estate, hash: string, nowMs: number, judges: readonly string[] | undefined): boolean {
  return validApprovals(estate, nowMs).some(
    ({ plans = [], origin: { file } }) =>
      plans.some((plan) => plan.startsWith(hash)) &&
      (judges === undefined || judges.some((source) => file.startsWith(`${source}:`))),
  )
}

function anotherPlan(name: string, { hash, summary }: WaitingPlan): Granted {
  const now = hash === undefined ? summary : `it is ${hash} now (${summary})`
  return {
    ok: false,
    reason: 'conflict',
    message: `the plan of ${name} has changed: ${now}. Look at it, then approve Source/${name}@${hash ?? ''}`,
  }
}

function waits(name: string, { commit, hash, summary }: WaitingPlan, atMs: number): NewEvent {
  const message =
    hash === undefined
      ? `${name}: ${summary}`
      : `${name}: ${summary} To put it into force: croft ask approve Source/${name}@${hash}`
  return { atMs, type: 'Normal', reason: 'PlanWaits', message, commit }
}
