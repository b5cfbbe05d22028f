import type { PassReport } from '../engine/engine.ts'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Estate } from '../model/estate.ts'
import type { EstateView } from '../model/estate-view.ts'
import type { NewEvent } from '../model/record.ts'
import type { Revision } from '../source/git/revision.ts'
import type { Checks } from './checks/checks.ts'
import type { Notifier } from './notices/notifier.ts'
import type { Previews } from './previews/previews.ts'
import type { InForce } from './sources/merge.ts'

/** The results of a turn of the loop. */
export interface TurnResult {
  readonly view: EstateView
  readonly revision: Revision | undefined
  readonly estate: Estate | undefined
  /** The estate as Git declares it, without additions of this turn. */
  readonly declared: Estate | undefined
  readonly report: PassReport | undefined
  readonly inForce: readonly InForce[]
}

export interface BackgroundDeps {
  readonly clock: Clock
  wake(): void
  readonly checks: Checks | undefined
  readonly notifier: Notifier | undefined
  readonly previews: Previews | undefined
  tell(events: readonly NewEvent[]): Promise<void>
}

/**
 * Runs checks, notices and plans for pull requests beside the loop, one at a time each: a receiver that is away, or a
 * check with a long timeout, must not delay a push. Each starts when due or when its input has changed.
 */
export function createBackground({ clock, wake, checks, notifier, previews, tell }: BackgroundDeps) {
  const [checking, notifying, previewing] = [createJob(wake, clock), createJob(wake, clock), createJob(wake, clock)]
  let checked: Estate | undefined
  let notified: { readonly version: number; readonly revision: Revision } | undefined
  const isDue = (dueMs: number) => dueMs <= clock.monotonicMs()

  return {
    begin(now: TurnResult, signal: AbortSignal): void {
      const { view, revision, estate, declared, report, inForce } = now
      if (checks !== undefined && estate !== undefined && (isDue(checks.dueMs()) || estate !== checked))
        checking.begin(async () => {
          checked = estate
          await checks.look({ estate, clusters: report?.clusters ?? [], surveys: report?.surveys ?? [] }, signal)
        })
      const news = notified?.version !== view.version || notified.revision !== revision
      if (notifier !== undefined && revision !== undefined && (isDue(notifier.dueMs()) || news))
        notifying.begin(async () => {
          notified = { version: view.version, revision }
          await notifier.look(view, revision)
        })
      if (previews !== undefined && declared !== undefined && isDue(previews.dueMs()))
        previewing.begin(async () => {
          const events = await previews.look({ inForce, estate: declared }, signal)
          if (events.length > 0) await tell(events)
        })
    },
    /** A running job is not due: its end wakes the loop. */
    dueMs: (): number =>
      Math.min(
        checking.from(checks?.dueMs() ?? Number.POSITIVE_INFINITY),
        notifying.from(notifier?.dueMs() ?? Number.POSITIVE_INFINITY),
        previewing.from(previews?.dueMs() ?? Number.POSITIVE_INFINITY),
      ),
    /** Throws the first error of a job, once. */
    check(): void {
      for (const one of [checking, notifying, previewing]) one.check()
    },
    async rest(): Promise<void> {
      await Promise.all([checking, notifying, previewing].map((one) => one.rest()))
    },
  }
}

function createJob(wake: () => void, clock: Clock) {
  let running: Promise<void> | undefined
  /** Pause after a failure: it would be due again at once. */
  let restsUntilMs = Number.NEGATIVE_INFINITY
  let failed: { readonly error: unknown } | undefined
  return {
    begin(work: () => Promise<void>): void {
      if (restsUntilMs > clock.monotonicMs()) return
      running ??= work()
        .catch((error: unknown) => {
          failed = { error }
          restsUntilMs = clock.monotonicMs() + LIMITS.failedPassMs
        })
        .finally(() => {
          running = undefined
          wake()
        })
    },
    /** The earliest moment at which it can begin, where it is due then. */
    from: (dueMs: number) => (running === undefined ? Math.max(dueMs, restsUntilMs) : Number.POSITIVE_INFINITY),
    check(): void {
      const was = failed
      failed = undefined
      if (was !== undefined) throw was.error
    },
    rest: async () => running,
  }
}
