import { notificationSpec } from '../../kinds/notification.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Random } from '../../lib/random.ts'
import { statusIn } from '../../model/estate-status.ts'
import type { EstateView } from '../../model/estate-view.ts'
import type { Message, NotificationSpec } from '../../model/notification.ts'
import { troublesOf } from '../../model/trouble.ts'
import type { Revision } from '../../source/git/revision.ts'
import { isShort, type NotifiedTrouble, nextNotices, readNotified, standingTitles, taken } from './notified.ts'
import { isOver, isWhole } from './over.ts'
import { type Outbox, send } from './send-notice.ts'

export interface Notifier {
  /** Notifies the receivers. Rejects only if its memory cannot be saved: receivers must not stop the controller. */
  look(view: EstateView, revision: Revision): Promise<void>
  /** When there is something to tell next, by the clock that never jumps. */
  dueMs(): number
  /** Number of failed deliveries. */
  failures(): number
}

/** A notifier's state across restarts: each receiver's troubles and notices. */
export interface NotifierMemory {
  readonly remembered: string | undefined
  /** Durable when it resolves. */
  save(text: string): Promise<void>
}

export interface NotifierDeps {
  readonly clock: Clock
  readonly random: Random
  readonly outbox: Outbox
  readonly memory: NotifierMemory
  warn(message: string): void
}

interface One {
  readonly spec: NotificationSpec
  notified: readonly NotifiedTrouble[]
  /** Messages that the receiver has not taken yet. */
  unsent: number
  tries: number
  retryMs: number
  pushMs: number
  dueMs: number
}

export function createNotifier({ clock, random, outbox, memory, warn }: NotifierDeps): Notifier {
  // Durations are measured by the clock that never jumps, and shown as if the other had not jumped either.
  const beganMs = clock.now() - clock.monotonicMs()
  const nowMs = () => beganMs + clock.monotonicMs()
  /** Memory of receivers that no source declares now. One whose source was not read yet may come back. */
  const undeclared = new Map(Object.entries(readNotified(memory.remembered, nowMs())))
  const all = new Map<string, One>()
  let declared: unknown
  let checks: ReadonlySet<string> = new Set()
  let failed = 0
  let saved = memory.remembered ?? '{}'

  return {
    async look(view, revision) {
      if (revision !== declared) declare(revision)
      if (isWhole(view)) undeclared.clear()
      const troubles = troublesOf(statusIn(view), nowMs())
      const untilMs = nowMs() + LIMITS.noticesLookMs
      for (const [name, one] of all) {
        const { to, about, afterMs } = one.spec
        const rules = {
          about: to.notice === undefined ? [] : about,
          afterMs,
          most: Math.ceil(LIMITS.noticesKept / all.size),
          isOver: (trouble: NotifiedTrouble) => isOver(trouble, { view, checks }),
        }
        const { notified, messages, dueMs } = nextNotices(one.notified, troubles, rules, nowMs())
        one.notified = notified
        one.unsent = to.notice === undefined ? 0 : messages.length
        one.dueMs = dueMs
        await save()
        // Before the first pass, the state is unknown: push neither up nor down.
        if (view.pass !== undefined || troubles.length > 0) await push(name, one)
        await deliver(name, one, messages, untilMs)
      }
      await save()
    },
    dueMs: () => Math.min(Number.POSITIVE_INFINITY, ...[...all.values()].map(dueOf)) - beganMs,
    failures: () => failed,
  }

  function declare(revision: Revision): void {
    declared = revision
    const of = (wanted: string) => revision.declarations.filter(({ kind }) => kind === wanted)
    checks = new Set(of('HealthCheck').map(({ name }) => name))
    const specs = new Map(of('Notification').map(({ name, spec }) => [name, notificationSpec(spec)]))
    for (const [name, one] of all) {
      if (specs.has(name)) continue
      undeclared.set(name, one.notified)
      all.delete(name)
    }
    for (const [name, spec] of specs) {
      const notified = undeclared.get(name) ?? []
      undeclared.delete(name)
      const fresh = { notified, unsent: 0, tries: 0, retryMs: 0, pushMs: 0, dueMs: 0 }
      all.set(name, { ...fresh, ...all.get(name), spec })
    }
  }

  async function save(): Promise<void> {
    const kept = [...undeclared, ...[...all].map(([name, { notified }]) => [name, notified] as const)]
    const now = JSON.stringify(
      Object.fromEntries(kept.flatMap(([name, one]) => (one.length === 0 ? [] : [[name, one.filter(isShort)]]))),
    )
    if (now === saved) return
    await memory.save(now)
    saved = now
  }

  function dueOf({ spec, pushMs, unsent, retryMs, dueMs }: One): number {
    const push = spec.to.heartbeat === undefined ? Number.POSITIVE_INFINITY : pushMs
    return Math.min(dueMs, push, unsent > 0 ? retryMs : Number.POSITIVE_INFINITY)
  }

  async function push(name: string, one: One): Promise<void> {
    const { heartbeat } = one.spec.to
    if (heartbeat === undefined || one.pushMs > nowMs()) return
    one.pushMs = nowMs() + heartbeat.everyMs
    await attempt(name, one, () => send(heartbeat.of(standingTitles(one.notified)), outbox))
  }

  /** Sends until the receiver is away, or so much time has passed that the view is too old to say that a trouble is over. */
  async function deliver(name: string, one: One, messages: readonly Message[], untilMs: number): Promise<void> {
    const { notice } = one.spec.to
    if (notice === undefined) return
    // A message that the receiver refuses must not stop the others: after a failure another one is first.
    const first = one.tries % Math.max(1, messages.length)
    for (const message of [...messages.slice(first), ...messages.slice(0, first)]) {
      if (one.retryMs > nowMs() || nowMs() >= untilMs) return
      if (!(await attempt(name, one, () => send(notice(message), outbox)))) return
      one.notified = taken(one.notified, message)
      one.unsent--
      // The end may be due at once.
      one.dueMs = nowMs()
      await save()
    }
  }

  async function attempt(name: string, one: One, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      one.tries = 0
      return true
    } catch (error) {
      failed++
      one.tries++
      one.retryMs = nowMs() + backoffMs(LIMITS.backoff, one.tries, random)
      if (one.tries === 1)
        warn(`Notification/${name} could not be sent: ${error instanceof Error ? error.message : String(error)}`)
      return false
    }
  }
}
