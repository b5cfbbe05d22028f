import { healthCheckSpec } from '../kinds/health-check.ts'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { inParallel } from '../lib/parallel.ts'
import type { CheckView } from '../model/estate-view.ts'
import type { HealthCheckSpec } from '../model/health-check.ts'
import type { Checks } from './controller.ts'
import { clean } from './drifts.ts'
import type { Asking, ProbeAnswer } from './probes.ts'

interface Standing {
  readonly spec: HealthCheckSpec
  dueMs: number
  bad: number
  view?: CheckView
}

/**
 * Runs the health checks that the manifests declare, each at its own pace. A check that fails once has not failed yet,
 * except `atOnce`, for whoever looks a single time.
 */
export function createChecks(clock: Clock, ask: Asking, { atOnce = false } = {}): Checks {
  const standing = new Map<string, Standing>()
  let declared: unknown

  return {
    async look(_estate, revision, signal) {
      if (revision !== declared) {
        declared = revision
        const specs = new Map(
          revision.declarations
            .filter(({ kind }) => kind === 'HealthCheck')
            .map(({ name, spec }) => [name, healthCheckSpec(spec)]),
        )
        for (const name of standing.keys()) if (!specs.has(name)) standing.delete(name)
        for (const [name, spec] of specs) {
          const before = standing.get(name)
          standing.set(name, { ...(before ?? { bad: 0 }), spec, dueMs: before?.dueMs ?? clock.now() })
        }
      }
      const due = [...standing].filter(([, one]) => one.dueMs <= clock.now())
      let changed = false
      await inParallel(due, LIMITS.checksAtOnce, async ([name, one]) => {
        const answer = await answered(one.spec, signal)
        if (signal.aborted) return
        one.dueMs = clock.now() + one.spec.everyMs
        one.bad = answer.passed === 'no' ? one.bad + 1 : 0
        // Not yet often enough in a row: what stood before stands.
        const early = !atOnce && answer.passed === 'no' && one.bad < one.spec.failures
        const passed = early ? (one.view?.passed ?? 'unknown') : answer.passed
        if (passed !== one.view?.passed) changed = true
        const same = passed === one.view?.passed && clean(answer.output) === one.view.output
        if (!same)
          one.view = { name, passed, output: clean(answer.output).slice(0, LIMITS.shownValueLength), atMs: clock.now() }
      })
      return changed
    },
    views: () => [...standing.values()].flatMap(({ view }) => (view === undefined ? [] : [view])),
    dueMs: () => Math.min(Number.POSITIVE_INFINITY, ...[...standing.values()].map(({ dueMs }) => dueMs)),
  }

  async function answered(spec: HealthCheckSpec, signal: AbortSignal): Promise<ProbeAnswer> {
    const patience = new AbortController()
    const stop = () => patience.abort()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const late = clock
        .sleep(spec.timeoutMs, patience.signal)
        .then((): ProbeAnswer => ({ passed: 'no', output: `no answer within ${spec.timeoutMs} ms` }))
      const asking = ask(spec.probe, patience.signal).catch((error: unknown): ProbeAnswer => {
        const why = error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error)
        return { passed: 'no', output: why }
      })
      return await Promise.race([asking, late])
    } finally {
      patience.abort()
      signal.removeEventListener('abort', stop)
    }
  }
}
