import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { statusIn } from '../../model/estate-status.ts'
import type { EstateView } from '../../model/estate-view.ts'
import { Secret } from '../../model/secret.ts'
import { troublesOf as judged } from '../../model/trouble.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { type NotifiedTrouble, nextNotices } from './notified.ts'
import { createNotifier } from './notifier.ts'
import { isOver } from './over.ts'

const troublesOf = (view: EstateView) => judged(statusIn(view), 0)

const EMPTY: EstateView = {
  version: 1,
  atMs: 0,
  sources: [],
  problems: [],
  connections: [],
  hosts: [],
  resources: [],
  clusters: [],
  drifts: [],
  checks: [],
}
const WELL: EstateView = { ...EMPTY, pass: { endedMs: 0, tookMs: 0, effects: 0, nextMs: 0 } }
const checked = (passed: 'yes' | 'no' | 'unknown'): EstateView => ({
  ...WELL,
  checks: [{ name: 'ingress', passed, output: 'ECONNREFUSED', atMs: 0 }],
})
const [FAILING, PASSING, UNKNOWN] = [checked('no'), checked('yes'), checked('unknown')]

const CHECKED = (channel: string) =>
  readTexts({
    'n.yaml': `apiVersion: croft.dev/v1alpha1
kind: Notification
metadata: {name: n}
spec: {after: 10s, ${channel}}
---
apiVersion: croft.dev/v1alpha1
kind: HealthCheck
metadata: {name: ingress}
spec: {tcp: {host: 192.0.2.1, port: 443}}
`,
  })
const PHONE = CHECKED('ntfy: {topic: t}')

const DEFAULTS = { about: [], afterMs: 30_000, most: 100 } as const
const rulesFor = (view: EstateView) => ({
  ...DEFAULTS,
  isOver: (one: NotifiedTrouble) => isOver(one, { view, checks: new Set(['ingress']) }),
})

/** Makes a receiver whose croft can be killed, as by a power cut: its running work never continues. */
function ground() {
  const clock = createVirtualClock(1_000_000)
  const posted: string[] = []
  const warnings: string[] = []
  const state = { away: false, disk: undefined as string | undefined, cutAt: Number.POSITIVE_INFINITY, steps: 0 }
  /** Each effect may be the last thing that a process does, before it or after it. */
  const effect = async (work: () => void): Promise<void> => {
    if (++state.steps === state.cutAt) await new Promise(() => {})
    work()
    if (++state.steps === state.cutAt) await new Promise(() => {})
  }
  const outbox = {
    resolveSecret: async () => new Secret('https://kuma.example/push'),
    mail: async () => {},
    post: async ({ body, url }: { readonly body?: string; readonly url: string }) => {
      if (state.away) throw new Error('no answer')
      await effect(() => {
        posted.push(body === undefined ? url : String((JSON.parse(body) as { title: string }).title))
      })
      return { status: 200 }
    },
  }
  const save = (text: string) =>
    effect(() => {
      state.disk = text
    })
  const start = () =>
    createNotifier({
      clock,
      random: { next: () => 0.5 },
      outbox,
      memory: { remembered: state.disk, save },
      warn: (message) => void warnings.push(message),
    })
  return { clock, posted, warnings, state, start }
}

test('a trouble is told once when it lasts, once more when it is over, and never while it flaps', () => {
  let notified: readonly NotifiedTrouble[] = []
  const sent: string[] = []
  const at = (ms: number, view: EstateView) => {
    const next = nextNotices(notified, troublesOf(view), rulesFor(view), ms)
    notified = next.notified
    for (const { id, resolved } of next.messages) {
      sent.push(`${ms} ${resolved ? 'resolved' : 'trouble'} ${id}`)
      notified = resolved ? [] : notified.map(({ waiting: _, ...one }) => ({ ...one, notified: true }))
    }
  }
  for (let ms = 0; ms < 20_000; ms += 5_000) at(ms, FAILING)
  at(20_000, PASSING)
  for (let ms = 25_000; ms <= 200_000; ms += 5_000) at(ms, FAILING)
  at(205_000, PASSING)
  at(210_000, FAILING)
  for (let ms = 215_000; ms < 400_000; ms += 5_000) at(ms, PASSING)
  assert.deepEqual(sent, ['55000 trouble check/ingress', '245000 resolved check/ingress'])
})

test('only what somebody asked about is told, and nobody who stops asking hears that it is over', () => {
  const rules = { ...rulesFor(FAILING), afterMs: 0 }
  assert.deepEqual(nextNotices([], troublesOf(FAILING), { ...rules, about: ['cluster'] }, 1).messages, [])
  const { messages, notified } = nextNotices([], troublesOf(FAILING), { ...rules, about: ['check'] }, 1)
  assert.equal(messages.length, 1)
  const told = notified.map((one) => ({ ...one, notified: true }))
  for (const ms of [2, 3])
    assert.deepEqual(nextNotices(told, troublesOf(FAILING), { ...rules, about: ['cluster'] }, ms).messages, [])
})

test('more troubles than are followed wait for their turn; those that were told are not forgotten for them', () => {
  const checks = Array.from({ length: 9 }, (_, at) => ({ name: `c${at}`, passed: 'no' as const, output: '', atMs: 0 }))
  const rules = { ...rulesFor(WELL), afterMs: 0, most: 4 }
  const first = nextNotices([], troublesOf({ ...WELL, checks: checks.slice(5) }), rules, 0)
  assert.equal(first.messages.length, 4)
  const told = first.notified.map(({ waiting: _, ...one }) => ({ ...one, notified: true }))
  const all = nextNotices(told, troublesOf({ ...WELL, checks }), rules, 1)
  assert.deepEqual(all.messages, [])
  assert.deepEqual(all.notified.map(({ about }) => about).toSorted(), ['c5', 'c6', 'c7', 'c8'])
})

test('a receiver that is away is tried again later, loses nothing, and a restart tells nothing twice', async () => {
  const { clock, posted, warnings, state, start } = ground()
  state.away = true
  const notifier = start()
  await notifier.look(FAILING, PHONE)
  assert.equal(notifier.dueMs(), clock.monotonicMs() + 10_000)
  await clock.advanceTo(1_010_000)
  await notifier.look(FAILING, PHONE)
  assert.equal(warnings.length, 1)
  assert.ok(notifier.dueMs() > clock.monotonicMs() && notifier.dueMs() < clock.monotonicMs() + 5_000)
  state.away = false
  await clock.advanceTo(1_020_000)
  await notifier.look(FAILING, PHONE)
  assert.equal(posted.length, 1)
  await notifier.look(FAILING, PHONE)
  assert.equal(posted.length, 1)
  const again = start()
  await clock.advanceTo(1_060_000)
  await again.look(FAILING, PHONE)
  assert.equal(posted.length, 1, 'it was sent before the restart')
  for (const early of [
    '{"n":[{"id":"check/ingress","sort":"check","title":"T","sinceMs":5,"notified":true}]}',
    '{"n":[{"id":"check/ingress","sort":"check","title":"T","sinceMs":5,"told":true}]}',
  ]) {
    const other = ground()
    other.state.disk = early
    const before = other.start()
    await before.look(UNKNOWN, PHONE)
    await before.look(FAILING, PHONE)
    assert.deepEqual(other.posted, [], 'an earlier version had sent it')
  }
  await again.look(PASSING, PHONE)
  await clock.advanceTo(1_080_000)
  await again.look(PASSING, PHONE)
  assert.deepEqual(posted, ['The check ingress fails', 'Resolved: The check ingress fails'])
})

test('a notice that no receiver took before a restart is sent after it, also if the trouble is over', async () => {
  const { clock, posted, state, start } = ground()
  state.away = true
  const first = start()
  await first.look(FAILING, PHONE)
  await clock.advanceTo(1_010_000)
  await first.look(FAILING, PHONE)
  state.away = false
  const again = start()
  for (let ms = 1_020_000; ms <= 1_060_000; ms += 5_000) {
    await clock.advanceTo(ms)
    await again.look(PASSING, PHONE)
  }
  assert.deepEqual(posted, ['The check ingress fails', 'Resolved: The check ingress fails'])
})

test('after a restart a check that is not known yet says nothing, and one that went on failing is not told again', async () => {
  const { clock, posted, start } = ground()
  const look = async (notifier: ReturnType<typeof start>, view: EstateView) => {
    await clock.advanceTo(clock.now() + 5_000)
    await notifier.look(view, PHONE)
  }
  const first = start()
  for (let count = 0; count < 5; count++) await look(first, FAILING)
  assert.deepEqual(posted, ['The check ingress fails'])
  const again = start()
  for (const view of [EMPTY, WELL, UNKNOWN, FAILING]) for (let count = 0; count < 20; count++) await look(again, view)
  assert.deepEqual(posted, ['The check ingress fails'])
  for (let count = 0; count < 5; count++) await look(again, PASSING)
  assert.deepEqual(posted.slice(1), ['Resolved: The check ingress fails'])
})

test('a clock that was set back while croft was down delays no notice for longer than a trouble must last', async () => {
  const { clock, posted, state, start } = ground()
  state.disk = `{"n":[{"id":"check/ingress","sort":"check","about":"ingress","title":"T","sinceMs":${clock.now() + 86_400_000},"notified":false}]}`
  const notifier = start()
  await notifier.look(FAILING, PHONE)
  await clock.advanceTo(1_010_000)
  await notifier.look(FAILING, PHONE)
  assert.equal(posted.length, 1)
})

test('a receiver whose source is not read yet after a restart is not forgotten; one that Git no longer declares is', async () => {
  const { clock, posted, state, start } = ground()
  const nobody = readTexts({})
  const unread = { ...FAILING, sources: [{ name: 'main', remote: 'r', ref: 'm' }] }
  const tell = async (notifier: ReturnType<typeof start>) => {
    for (let count = 0; count < 4; count++) {
      await clock.advanceTo(clock.now() + 5_000)
      await notifier.look(FAILING, PHONE)
    }
  }
  await tell(start())
  assert.equal(posted.length, 1)
  const again = start()
  await again.look(unread, nobody)
  await tell(again)
  assert.equal(posted.length, 1)
  await again.look(FAILING, nobody)
  assert.equal(state.disk, '{}')
  await tell(again)
  assert.equal(posted.length, 2, 'one that is declared again is a new one')
})

test('a notice that its receiver refuses stops no other', async () => {
  const { clock, posted, state, start } = ground()
  const notifier = start()
  const two = { ...FAILING, hosts: [{ connection: 'c', name: 'h', online: false }] }
  await notifier.look(two, PHONE)
  state.away = true
  await clock.advanceTo(1_010_000)
  await notifier.look(two, PHONE)
  state.away = false
  for (let ms = 1_011_000; ms < 1_020_000; ms += 1_000) {
    await clock.advanceTo(ms)
    await notifier.look(two, PHONE)
  }
  assert.deepEqual(posted.toSorted(), ['Host h is offline', 'The check ingress fails'])
  assert.notEqual(posted[0], 'Host h is offline', 'after a failure another one is first')
})

test('a heartbeat says after a restart what was wrong, until it is known to be over', async () => {
  const { clock, posted, start } = ground()
  const kuma = CHECKED('uptimeKuma: {address: {env: KUMA}, every: 5s}')
  const look = async (notifier: ReturnType<typeof start>, view: EstateView) => {
    await clock.advanceTo(clock.now() + 5_000)
    await notifier.look(view, kuma)
    return new URL(posted.at(-1) ?? 'none:').searchParams.get('status')
  }
  const first = start()
  assert.equal(await look(first, FAILING), 'down')
  const again = start()
  for (const view of [UNKNOWN, FAILING]) assert.equal(await look(again, view), 'down')
  assert.equal(await look(again, PASSING), 'up')
  const before = posted.length
  await look(start(), EMPTY)
  assert.equal(posted.length, before, 'before its first pass croft says neither')
})

test('killed between any two steps, each notice arrives at least once, and none says "over" of what is not', async () => {
  let most = 0
  for (let cut = 1; ; cut++) {
    const { clock, posted, state, start } = ground()
    state.cutAt = cut
    const lives = { count: 0 }
    const truth: string[] = []
    const views = [FAILING, PASSING, FAILING, PASSING]
    let notifier = start()
    let view = FAILING
    for (const next of views) {
      view = next
      for (let count = 0; count < 12; count++) {
        await clock.advanceTo(clock.now() + 5_000)
        const before = posted.length
        let done = false
        void notifier.look(view, PHONE).then(() => {
          done = true
        })
        for (let turns = 0; turns < 50 && !done; turns++) await Promise.resolve()
        for (const title of posted.slice(before)) {
          if (title.startsWith('Resolved')) assert.equal(view, PASSING, `cut ${cut}`)
          truth.push(title)
        }
        if (done) continue
        lives.count++
        notifier = start()
        await notifier.look(UNKNOWN, PHONE)
      }
    }
    const inOrder = posted.filter((title, at) => title !== posted[at - 1])
    const told = ['The check ingress fails', 'Resolved: The check ingress fails']
    assert.deepEqual(inOrder, [...told, ...told], `cut ${cut}`)
    assert.ok(posted.length <= 5, `one kill repeats one notice: ${posted.join(', ')}`)
    most = Math.max(most, state.steps)
    if (lives.count === 0) break
  }
  assert.ok(most > 20, `${most} steps`)
})
