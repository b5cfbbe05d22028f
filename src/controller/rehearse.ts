import type { Engine, PassReport } from '../engine/engine.ts'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Estate } from '../model/estate.ts'
import type { NewEvent } from '../model/event.ts'
import { quorumMargin } from './view.ts'

/** A twin of what is there, in a time of its own. */
export interface Twin {
  readonly clock: Clock
  /** Lets the twin's time pass until the promise is settled. */
  runUntil<T>(promise: Promise<T>): Promise<T>
  /** Names of the machines that run at this moment. */
  running(): readonly string[]
}

/** What came of performing a plan on a twin. */
export interface Rehearsed {
  readonly outcome: 'settled' | 'deadline' | 'aborted'
  readonly tookMs: number
  readonly startedMs: number
  readonly events: readonly NewEvent[]
  readonly downtimes: readonly { readonly name: string; readonly ms: number }[]
  readonly margins: readonly { readonly cluster: string; readonly lowest: number | 'unknown' }[]
  readonly held: readonly { readonly key: string; readonly reason: string }[]
}

/** Performs the plan until nothing is left to do, and notes what was down and how near a cluster came to its end. */
export async function rehearse(engine: Engine, twin: Twin, estate: Estate, signal: AbortSignal): Promise<Rehearsed> {
  const startedMs = twin.clock.now()
  const events: NewEvent[] = []
  const ran = new Set(twin.running())
  const downMs = new Map<string, number>()
  const margins = new Map<string, number | 'unknown'>()
  let lookedMs = startedMs
  let last: PassReport | undefined
  const onPass = (report: PassReport) => {
    last = report
    events.push(...report.events)
    const nowMs = twin.clock.now()
    const running = new Set(twin.running())
    for (const name of ran) if (!running.has(name)) downMs.set(name, (downMs.get(name) ?? 0) + nowMs - lookedMs)
    lookedMs = nowMs
    for (const { declaration, observed } of report.plan.clusters ?? []) {
      const margin = quorumMargin(observed)
      const before = margins.get(declaration.name)
      const lower = margin === 'unknown' || before === 'unknown' ? 'unknown' : Math.min(before ?? margin, margin)
      margins.set(declaration.name, lower)
    }
  }
  const settled = await twin.runUntil(engine.settle(estate, { signal, deadlineMs: LIMITS.rehearsalMs, onPass }))
  return {
    outcome: settled.outcome,
    tookMs: twin.clock.now() - startedMs,
    startedMs,
    events,
    downtimes: [...downMs].map(([name, ms]) => ({ name, ms })).sort((a, b) => b.ms - a.ms),
    margins: [...margins].map(([cluster, lowest]) => ({ cluster, lowest })),
    held: (last?.plan.entries ?? []).flatMap(({ key, action }) =>
      action.do === 'hold' || action.do === 'refuse' ? [{ key, reason: action.reason }] : [],
    ),
  }
}
