import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { seededRandom } from '../lib/random.ts'
import { type Wire, WireFailure, type WireResponse } from '../lib/wire.ts'
import { createKubernetesClient } from './client.ts'
import { createInformer } from './informer.ts'
import { objectName } from './objects.ts'
import { watch } from './watch.ts'

/* A cluster may be foreign: its API can lie in every answer. */

const clientOf = (answer: () => Partial<WireResponse>) => {
  let calls = 0
  const wire: Wire = {
    async send() {
      calls++
      return { status: 200, reason: '', headers: {}, body: '{}', ...answer() }
    },
    close: async () => {},
  }
  return { client: createKubernetesClient(wire), calls: () => calls }
}

test('[S-46] a list that never ends does, whether its pages are full or empty', async () => {
  for (const items of [[], [{}], [null], 'x', { length: 1e9 }]) {
    const { client, calls } = clientOf(() => ({ body: JSON.stringify({ items, metadata: { continue: 'more' } }) }))
    const asked = await client.list('/api/v1/pods')
    assert.ok(asked.is === 'silence' && asked.code === 'ERR_TOO_MANY', JSON.stringify(items))
    assert.ok(calls() <= LIMITS.listPages)
  }
})

test('[S-46] a page with more objects than anybody has is refused with a sentence, not with a fault', async () => {
  const most = LIMITS.surveyEntries
  for (const count of [most, most + 1]) {
    const { client } = clientOf(() => ({ body: `{"items":[${'{},'.repeat(count - 1)}{}]}` }))
    const asked = await client.list('/api/v1/pods')
    if (count > most) assert.ok(asked.is === 'silence' && asked.code === 'ERR_TOO_MANY')
    else assert.ok(asked.is === 'answer' && asked.value.length === count)
  }
})

test('[S-48] a page that is too large comes in smaller ones; one object that is too large is a sentence', async () => {
  const limits: number[] = []
  const wire = (fits: number): Wire => ({
    async send({ path }) {
      const query = new URL(path, 'http://x').searchParams
      const limit = Number(query.get('limit'))
      limits.push(limit)
      if (limit > fits) throw new WireFailure('maybe', 'ERR_BODY_TOO_LARGE', 'the answer is larger')
      const from = Number(query.get('continue') ?? 0)
      const items = Array.from({ length: Math.min(limit, 300 - from) }, (_, at) => ({ at: from + at }))
      const more = from + items.length < 300 ? { continue: String(from + items.length) } : {}
      return { status: 200, reason: '', headers: {}, body: JSON.stringify({ items, metadata: more }) }
    },
    close: async () => {},
  })
  const asked = await createKubernetesClient(wire(100)).list('/api/v1/pods')
  assert.ok(asked.is === 'answer')
  assert.deepEqual(
    asked.value.map(({ at }) => at),
    Array.from({ length: 300 }, (_, at) => at),
  )
  assert.deepEqual(limits, [500, 100, 100, 100])
  const none = await createKubernetesClient(wire(0)).list('/api/v1/pods')
  assert.ok(none.is === 'silence' && none.code === 'ERR_BODY_TOO_LARGE')
})

test('[S-46] objects of another kind, without a name or with names that are none, are passed over', async () => {
  const items = [
    null,
    1,
    'x',
    [],
    { kind: 'Node' },
    { metadata: { name: 'a'.repeat(10_000) } },
    { metadata: { name: 7 } },
  ]
  const { client } = clientOf(() => ({ body: JSON.stringify({ kind: 'SecretList', items }) }))
  const asked = await client.list('/api/v1/nodes')
  assert.ok(asked.is === 'answer')
  assert.deepEqual(asked.value.map(objectName), [undefined, undefined, undefined])
})

test('[S-46] an answer that leads elsewhere is not followed, and one that is no object is none', async () => {
  const elsewhere = { status: 302, headers: { location: 'http://169.254.169.254/latest' }, body: '' }
  const { client, calls } = clientOf(() => elsewhere)
  const asked = await client.get('/api/v1/nodes')
  assert.ok(asked.is === 'error' && asked.status === 302)
  assert.equal(calls(), 1)
  for (const body of ['', '[]', 'null', '1', '"x"', '{', '\u0000', `${'['.repeat(50_000)}`]) {
    const { client: other } = clientOf(() => ({ body }))
    assert.equal((await other.get('/x')).is, 'silence', body.slice(0, 10))
  }
})

test('[S-46] words of an error are cleaned and cut before anybody sees them', async () => {
  const message = `\u001b[2J\u0007${'x'.repeat(1_000_000)}\r\nSet-Cookie: a`
  const { client } = clientOf(() => ({
    status: 403,
    body: JSON.stringify({ kind: 'Status', reason: 'Forbidden', message }),
  }))
  const asked = await client.get('/api/v1/nodes')
  assert.ok(asked.is === 'error')
  assert.ok(asked.refusal.message.length <= LIMITS.foreignTextLength + 500)
  assert.ok(![...asked.refusal.message].some((letter) => letter < ' ' && letter !== '\n'))
})

test('[S-54] pages that are each as large as an answer may be end at the bound of a list', async () => {
  const item = { metadata: { name: 'a' }, data: 'x'.repeat(6_000_000) }
  const { client, calls } = clientOf(() => ({
    body: JSON.stringify({ items: [item], metadata: { continue: 'more' } }),
  }))
  const asked = await client.list('/api/v1/configmaps')
  assert.ok(asked.is === 'silence' && asked.code === 'ERR_TOO_MANY')
  assert.ok(calls() <= 1 + LIMITS.listBytes / 6_000_000, `${calls()} pages were held`)
})

const OK: WireResponse = { status: 200, reason: '', headers: {}, body: '' }
const EMPTY = JSON.stringify({ items: [], metadata: { resourceVersion: '1' } })

/** Follows a list on a wire that does as it likes in a watch; time passes as it is waited for. */
function followed(stream: NonNullable<Wire['stream']>, mostCalls: number) {
  const stop = new AbortController()
  const slept: number[] = []
  let nowMs = 0
  let calls = 0
  const count = () => {
    if (++calls >= mostCalls) stop.abort()
  }
  const clock = {
    ...systemClock,
    now: () => nowMs,
    monotonicMs: () => nowMs,
    async sleep(ms: number, signal?: AbortSignal) {
      // Long timers of a watch are not awaited.
      if (ms > 60_000) return new Promise<void>((done) => signal?.addEventListener('abort', () => done()))
      slept.push(ms)
      nowMs += ms
      return undefined
    },
  }
  const wire: Wire = {
    async send() {
      count()
      return { ...OK, body: EMPTY }
    },
    stream(...given) {
      count()
      return stream(...given)
    },
    close: async () => {},
  }
  const client = createKubernetesClient(wire)
  const informer = createInformer({ client, wire, clock, random: seededRandom(1), path: '/x', onChange: () => {} })
  return { informer, slept, calls: () => calls, run: () => informer.run(stop.signal) }
}

for (const [name, stream] of [
  ['an answer', async () => ({ ...OK, status: 410, body: '{}' })],
  [
    'an event',
    async (_: unknown, onText: (text: string) => void) => {
      onText('{"type":"ERROR","object":{"kind":"Status","code":410}}\n')
      return OK
    },
  ],
] as const)
  test(`[S-54] a server that forgets every place at once, by ${name}, is not asked in a circle`, async () => {
    const { run, slept, calls } = followed(stream, 100)
    await run()
    assert.ok(slept.length >= calls() / 2 - 2, `${slept.length} rests in ${calls()} calls`)
    assert.ok(Math.max(0, ...slept) > 10_000, 'each longer than the one before')
  })

test('[S-54] an event without an end costs what it is long, and is cut at its bound', async () => {
  const piece = 'x'.repeat(512)
  let pieces = 0
  const wire: Wire = {
    send: async () => OK,
    async stream(_request, onText) {
      for (;;) {
        pieces++
        onText(piece)
      }
    },
    close: async () => {},
  }
  const before = process.threadCpuUsage()
  const watched = await watch(wire, '/x', { resourceVersion: '1' }, () => {}, AbortSignal.any([]))
  const { user, system } = process.threadCpuUsage(before)
  assert.ok(watched.is === 'silence' && watched.code === 'ERR_BODY_TOO_LARGE')
  assert.equal(pieces, LIMITS.responseBytes / piece.length + 1)
  assert.ok((user + system) / 1000 < 3_000, `${(user + system) / 1000} ms of processor time`)
})

test('[S-54] a watch that brings more than we keep proves nothing from then on, and keeps nothing', async () => {
  const data = 'x'.repeat(4_000_000)
  let brought = 0
  const { informer, run } = followed(async (_request, onText, signal) => {
    while (signal?.aborted !== true && brought < 100) {
      const object = { metadata: { name: `m${brought++}`, resourceVersion: String(brought) }, data }
      onText(`${JSON.stringify({ type: 'ADDED', object })}\n`)
    }
    return OK
  }, 3)
  await run()
  assert.ok(brought <= 2 + LIMITS.listBytes / 4_000_000, `${brought} objects were taken`)
  assert.deepEqual([informer.synced(), informer.objects().size], [false, 0])
})

test('an event that comes in pieces, and several in one, are each one event', async () => {
  const seen: unknown[] = []
  const event = (name: string) => `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`
  const text = ['a', 'b', 'c', 'd'].map(event).join('')
  for (const size of [1, 7, 60, 1_000]) {
    seen.length = 0
    const wire: Wire = {
      send: async () => OK,
      async stream(_request, onText) {
        for (let from = 0; from < text.length; from += size) onText(text.slice(from, from + size))
        return OK
      },
      close: async () => {},
    }
    await watch(
      wire,
      '/x',
      { resourceVersion: '1' },
      ({ object }) => seen.push(objectName(object)),
      AbortSignal.any([]),
    )
    assert.deepEqual(seen, ['a', 'b', 'c', 'd'], `pieces of ${size}`)
  }
})
