import type { AskCheck, CheckFacts } from '../../engine/health-check.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { CheckView } from '../../model/estate-view.ts'
import type { HealthCheckSpec } from '../../model/health-check.ts'
import { clean } from '../view/drifts.ts'

/** Health checks as the controller sees them: run when they are due, shown always. */
export interface Checks {
  /** Runs what is due. Answers true when a result has changed. */
  look(seen: CheckFacts, signal: AbortSignal): Promise<boolean>
  views(): readonly CheckView[]
  /** Time of the next check, on the monotonic clock; Infinity if there is none. */
  dueMs(): number
}

interface CheckState {
  readonly spec: HealthCheckSpec
  dueMs: number
  bad: number
  view?: CheckView
}

/**
 * Runs the health checks that the manifests declare, each at its own interval. A check counts as failed after several
 * failures, or after the first with `atOnce`, for a single look.
 */
export function createChecks(clock: Clock, ask: AskCheck, { atOnce = false } = {}): Checks {
  const states = new Map<string, CheckState>()
  let declared: unknown

  return {
    async look(seen, signal) {
      const specs = seen.estate.checks ?? new Map<string, HealthCheckSpec>()
      if (specs !== declared) {
        declared = specs
        for (const name of states.keys()) if (!specs.has(name)) states.delete(name)
        for (const [name, spec] of specs) {
          const before = states.get(name)
          states.set(name, { ...(before ?? { bad: 0 }), spec, dueMs: before?.dueMs ?? clock.monotonicMs() })
        }
      }
      const due = [...states].filter(([, one]) => one.dueMs <= clock.monotonicMs())
      let changed = false
      await inParallel(due, LIMITS.checksAtOnce, async ([name, one]) => {
        const answer = await ask(name, seen, signal)
        if (signal.aborted) return
        one.dueMs = clock.monotonicMs() + one.spec.everyMs
        one.bad = answer.passed === 'no' ? one.bad + 1 : 0
        // Below the number of failures in a row: keep the old result.
        const early = !atOnce && answer.passed === 'no' && one.bad < one.spec.failures
        const passed = early ? (one.view?.passed ?? 'unknown') : answer.passed
        if (passed !== one.view?.passed) changed = true
        const output = clean(answer.output).slice(0, LIMITS.shownValueLength)
        if (passed !== one.view?.passed || output !== one.view.output)
          one.view = { name, passed, output, atMs: clock.now() }
      })
      return changed
    },
    views: () => [...states.values()].flatMap(({ view }) => (view === undefined ? [] : [view])),
    dueMs: () => Math.min(Number.POSITIVE_INFINITY, ...[...states.values()].map(({ dueMs }) => dueMs)),
  }
}
