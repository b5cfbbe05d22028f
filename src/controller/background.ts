import type { PassReport } from '../engine/engine.ts'
import type { Clock } from '../lib/clock.ts'
import type { Estate } from '../model/estate.ts'
import type { EstateView } from '../model/estate-view.ts'
import type { NewEvent } from '../model/record.ts'
import type { Revision } from '../source/git/revision.ts'
import type { Checks } from './checks/checks.ts'
import type { Notifier } from './notices/notifier.ts'
import type { Previews } from './previews/previews.ts'
import type { InForce } from './sources/merge.ts'

/** What stands after a turn of the loop. */
export interface TurnResult {
  readonly view: EstateView
  readonly revision: Revision | undefined
  readonly estate: Estate | undefined
  /** As Git declares it, without anything that was added meanwhile. */
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
  saveNotified(remembered: string): Promise<void>
}

/**
 * Checks, notices and plans for pull requests run in parallel with the loop, each one at a time: a receiver that is away, or a
 * check with a long patience, must not hold up a push. Each is begun when it is due or when what it looks at is new.
 */
export function createBackground({ clock, wake, checks, notifier, previews, tell, saveNotified }: BackgroundDeps) {
  const [checking, notifying, previewing] = [createJob(wake), createJob(wake), createJob(wake)]
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
          await saveNotified(notifier.remember())
        })
      if (previews !== undefined && declared !== undefined && isDue(previews.dueMs()))
        previewing.begin(async () => {
          const events = await previews.look({ inForce, estate: declared }, signal)
          if (events.length > 0) await tell(events)
        })
    },
    /** What is at work is not due: its end wakes the loop. */
    dueMs: (): number =>
      Math.min(
        checking.busy() ? Number.POSITIVE_INFINITY : (checks?.dueMs() ?? Number.POSITIVE_INFINITY),
        notifying.busy() ? Number.POSITIVE_INFINITY : (notifier?.dueMs() ?? Number.POSITIVE_INFINITY),
        previewing.busy() ? Number.POSITIVE_INFINITY : (previews?.dueMs() ?? Number.POSITIVE_INFINITY),
      ),
    /** Throws what nobody else may go on after: the store is another's, the disk is full. */
    check(): void {
      for (const one of [checking, notifying, previewing]) one.check()
    },
    async rest(): Promise<void> {
      await Promise.all([checking, notifying, previewing].map((one) => one.rest()))
    },
  }
}

function createJob(wake: () => void) {
  let running: Promise<void> | undefined
  let failed: { readonly error: unknown } | undefined
  return {
    begin(work: () => Promise<void>): void {
      running ??= work()
        .catch((error: unknown) => {
          failed = { error }
        })
        .finally(() => {
          running = undefined
          wake()
        })
    },
    busy: () => running !== undefined,
    check(): void {
      if (failed !== undefined) throw failed.error
    },
    rest: async () => running,
  }
}
