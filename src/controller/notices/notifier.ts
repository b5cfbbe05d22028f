import { notificationSpec } from '../../kinds/notification.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Random } from '../../lib/random.ts'
import { statusIn } from '../../model/estate-status.ts'
import type { EstateView } from '../../model/estate-view.ts'
import type { Message, NotificationSpec, TroubleSort } from '../../model/notification.ts'
import { type Trouble, troublesOf } from '../../model/trouble.ts'
import type { Revision } from '../../source/git/revision.ts'
import { type Outbox, send } from './send-notice.ts'

export interface Notifier {
  /** Tells whoever is to be told. Never rejects: a receiver that is away must not stop the controller. */
  look(view: EstateView, revision: Revision): Promise<void>
  /** When there is something to tell next, by the clock that never jumps. */
  dueMs(): number
  /** What it has sent, for the store: a restart must not send everything again. */
  remember(): string
  /** How often a receiver could not be reached. */
  failures(): number
}

interface One {
  readonly spec: NotificationSpec
  notified: readonly NotifiedTrouble[]
  /** Not sent yet, oldest first. */
  waiting: Notice[]
  tries: number
  retryMs: number
  pushMs: number
  dueMs: number
}

export function createNotifier(
  clock: Clock,
  random: Random,
  outbox: Outbox,
  remembered: string | undefined,
  warn: (message: string) => void,
): Notifier {
  const before = readNotified(remembered)
  const all = new Map<string, One>()
  let declared: unknown
  let failed = 0
  // Durations are measured by the clock that never jumps, and shown as if the other had not jumped either.
  const beganMs = clock.now() - clock.monotonicMs()
  const nowMs = () => beganMs + clock.monotonicMs()

  return {
    async look(view, revision) {
      if (revision !== declared) {
        declared = revision
        const specs = new Map(
          revision.declarations
            .filter(({ kind }) => kind === 'Notification')
            .map(({ name, spec }) => [name, notificationSpec(spec)]),
        )
        for (const name of all.keys()) if (!specs.has(name)) all.delete(name)
        for (const [name, spec] of specs) {
          const known = all.get(name)
          const fresh = { notified: before[name] ?? [], waiting: [], tries: 0, retryMs: 0, pushMs: 0, dueMs: 0 }
          all.set(name, { ...fresh, ...known, spec })
        }
      }
      const troubles = troublesOf(statusIn(view), nowMs())
      for (const [name, one] of all) {
        const { notices, notified, dueMs } = nextNotices(
          one.notified,
          troubles,
          one.spec.about,
          one.spec.afterMs,
          nowMs(),
        )
        one.notified = notified
        one.waiting = [...one.waiting, ...notices].slice(-LIMITS.noticesWaiting)
        one.dueMs = dueMs
        await deliver(name, one, troubles)
      }
    },
    dueMs: () => Math.min(Number.POSITIVE_INFINITY, ...[...all.values()].map(dueOf)) - beganMs,
    remember: () =>
      JSON.stringify(
        Object.fromEntries([...all].map(([name, { notified }]) => [name, notified.filter((one) => one.notified)])),
      ),
    failures: () => failed,
  }

  function dueOf(one: One): number {
    const push = one.spec.to.heartbeat === undefined ? Number.POSITIVE_INFINITY : one.pushMs
    return Math.min(one.dueMs, push, one.waiting.length > 0 ? one.retryMs : Number.POSITIVE_INFINITY)
  }

  async function deliver(name: string, one: One, troubles: ReturnType<typeof troublesOf>): Promise<void> {
    const { heartbeat, notice } = one.spec.to
    try {
      if (heartbeat !== undefined && one.pushMs <= nowMs()) {
        one.pushMs = nowMs() + heartbeat.everyMs
        const titles = troubles.map(({ title }) => title)
        await send(heartbeat.of(titles), outbox)
      }
      if (notice === undefined) one.waiting = []
      while (one.waiting.length > 0 && one.retryMs <= nowMs()) {
        const [next] = one.waiting
        if (next === undefined || notice === undefined) break
        await send(notice(messageOf(next)), outbox)
        one.waiting.shift()
        one.tries = 0
      }
    } catch (error) {
      failed++
      one.tries++
      one.retryMs = nowMs() + backoffMs(LIMITS.backoff, one.tries, random)
      if (one.tries === 1)
        warn(`Notification/${name} could not be sent: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

function messageOf({ kind, trouble, sinceMs, atMs }: Notice): Message {
  const resolved = kind === 'resolved'
  return { ...trouble, text: resolved ? 'It is over.' : trouble.text, resolved, sinceMs, atMs }
}

function readNotified(text: string | undefined): Readonly<Record<string, readonly NotifiedTrouble[]>> {
  const kept = Object.entries(recordIn(text ?? '') ?? {})
  return Object.fromEntries(kept.map(([name, all]) => [name, Array.isArray(all) ? all.map(readTrouble) : []]))
}

/** An earlier version wrote `told`: nobody is to be notified again after an update. */
function readTrouble({ told, ...one }: NotifiedTrouble & { readonly told?: boolean }): NotifiedTrouble {
  return told === undefined ? one : { ...one, notified: told }
}

/** Of each trouble, whether its receivers were notified of it. */
export interface NotifiedTrouble {
  readonly id: string
  readonly sort: TroubleSort
  readonly title: string
  readonly sinceMs: number
  readonly notified: boolean
  /** Since when it is gone; it counts as over when it stays away. */
  readonly goneMs?: number
}

interface Notice {
  readonly kind: 'trouble' | 'resolved'
  readonly trouble: Pick<Trouble, 'id' | 'sort' | 'title' | 'text'>
  readonly sinceMs: number
  readonly atMs: number
}

/**
 * What to tell now. A trouble is told once, when it has lasted a while, and once more when it has been gone for as long:
 * what comes and goes in between is told nobody. Pure.
 */
export function nextNotices(
  before: readonly NotifiedTrouble[],
  now: readonly Trouble[],
  about: readonly TroubleSort[],
  afterMs: number,
  atMs: number,
): { readonly notices: readonly Notice[]; readonly notified: readonly NotifiedTrouble[]; readonly dueMs: number } {
  const wanted = now.filter(({ sort }) => about.length === 0 || about.includes(sort))
  const present = new Map(wanted.map((trouble) => [trouble.id, trouble]))
  const known = new Map(before.map((one) => [one.id, one]))
  const notices: Notice[] = []
  const notified: NotifiedTrouble[] = []
  let dueMs = Number.POSITIVE_INFINITY
  for (const trouble of wanted) {
    const was = known.get(trouble.id)
    const sinceMs = was?.sinceMs ?? atMs
    const due = was?.notified !== true && atMs - sinceMs >= afterMs
    const { id, sort, title, text } = trouble
    if (due) notices.push({ kind: 'trouble', trouble: { id, sort, title, text }, sinceMs, atMs })
    else if (was?.notified !== true) dueMs = Math.min(dueMs, sinceMs + afterMs)
    notified.push({ id, sort, title, sinceMs, notified: was?.notified === true || due })
  }
  for (const was of before) {
    if (present.has(was.id) || !was.notified) continue
    const goneMs = was.goneMs ?? atMs
    if (atMs - goneMs >= afterMs)
      notices.push({
        kind: 'resolved',
        trouble: { id: was.id, sort: was.sort, title: was.title, text: '' },
        sinceMs: was.sinceMs,
        atMs,
      })
    else {
      notified.push({ ...was, goneMs })
      dueMs = Math.min(dueMs, goneMs + afterMs)
    }
  }
  return { notices, notified, dueMs }
}
