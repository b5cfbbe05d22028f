import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { EstateView } from '../../model/estate-view.ts'
import type { Survey } from '../../model/resource.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { DAY_MS } from './day-book.ts'
import { openHistory } from './history.ts'
import { pack, quantityCode, quantityOf, unpack } from './packed.ts'

const START = Date.UTC(2026, 0, 10)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

function viewOf(passed: 'yes' | 'no' | 'unknown', name = 'web'): EstateView {
  return {
    version: 1,
    atMs: 0,
    sources: [],
    problems: [],
    connections: [],
    hosts: [],
    resources: [],
    clusters: [],
    drifts: [],
    checks: [{ name, passed, output: '', atMs: 0 }],
  }
}

async function opened(startMs = START, disk = createMemoryStore().disk) {
  const clock = createVirtualClock(startMs)
  const store = createMemoryStore(disk)
  const epoch = await store.beginEpoch()
  const history = await openHistory(clock, store, epoch)
  const live = async (state: 'yes' | 'no' | 'unknown', forMs: number, everyMs = MINUTE) => {
    for (let gone = 0; gone < forMs; gone += everyMs) {
      await history.note(viewOf(state), undefined)
      await clock.advanceTo(clock.now() + everyMs)
    }
    await history.note(viewOf(state), undefined)
  }
  return { clock, history, live, disk, store, epoch }
}

test('a day is counted in seconds: well, not well, and not known, which is neither', async () => {
  const it = await opened()
  await it.live('yes', 2 * HOUR)
  await it.live('no', HOUR)
  await it.live('unknown', HOUR)
  const [check] = it.history.days(it.clock.now(), 1)
  assert.deepEqual(check, { what: 'check', subject: 'web', spans: [{ up: 7200, down: 3600, unknown: 3600 }] })
  const hours = it.history.hours(it.clock.now() - 1, 4)[0]?.spans
  assert.deepEqual(
    hours?.map((one) => [one?.up, one?.down, one?.unknown]),
    [
      [3600, 0, 0],
      [3600, 0, 0],
      [0, 3600, 0],
      [0, 0, 3600],
    ],
  )
})

test('a restart loses at most what was not saved yet, and the time between counts as nothing', async () => {
  const before = await opened()
  await before.live('no', HOUR)
  await before.history.save()
  const after = await opened(START + 5 * HOUR, before.disk)
  await after.live('yes', HOUR)
  assert.deepEqual(after.history.days(after.clock.now(), 1)[0]?.spans, [{ up: 3600, down: 3600, unknown: 0 }])
})

test('it saves by itself while it runs', async () => {
  const it = await opened()
  await it.live('yes', 2 * LIMITS.historySaveMs)
  const after = await opened(it.clock.now(), it.disk)
  const up = after.history.days(after.clock.now(), 1)[0]?.spans[0]?.up ?? 0
  assert.ok(up * 1000 >= LIMITS.historySaveMs, `${up} s are kept`)
})

test('after a long silence, or when the clock is set back, nobody says how it was', async () => {
  const it = await opened()
  await it.history.note(viewOf('no'), undefined)
  await it.clock.advanceTo(it.clock.now() + LIMITS.historyGapMs + 1000)
  await it.history.note(viewOf('yes'), undefined)
  assert.deepEqual(it.history.days(it.clock.now(), 1), [])
})

test('the store holds a bounded number of values, however long it runs', async () => {
  const it = await opened()
  for (let day = 0; day < LIMITS.historyDays * 2 + 5; day++) {
    await it.live('yes', 10 * MINUTE)
    await it.history.save()
    await it.clock.advanceTo(it.clock.now() + DAY_MS - 10 * MINUTE)
  }
  const names = [...it.disk.values.keys()].filter((name) => name.startsWith('history/'))
  assert.ok(names.length <= LIMITS.historyDays + LIMITS.gaugeDays, `${names.length} values`)
  const spans = it.history.days(it.clock.now(), LIMITS.historyDays)[0]?.spans ?? []
  assert.equal(spans.filter((one) => one !== undefined).length, LIMITS.historyDays - 1, 'today nobody looked yet')
  const again = await opened(it.clock.now(), it.disk)
  assert.deepEqual(again.history.days(it.clock.now(), LIMITS.historyDays)[0]?.spans, spans)
})

test('so many subjects and no more are kept, and a value never outgrows the store', async () => {
  const it = await opened()
  const checks = Array.from({ length: LIMITS.historySubjects * 3 }, (_, at) => ({
    name: `check-${at}-${'x'.repeat(200)}`,
    passed: 'yes' as const,
    output: '',
    atMs: 0,
  }))
  for (let minute = 0; minute < 3; minute++) {
    await it.history.note({ ...viewOf('yes'), checks }, undefined)
    await it.clock.advanceTo(it.clock.now() + MINUTE)
  }
  await it.history.save()
  assert.equal(it.history.days(it.clock.now(), 1).length, LIMITS.historySubjects)
  for (const text of it.disk.values.values()) assert.ok(text.length < LIMITS.storedValueLength / 2)
})

test('what is damaged in the store is left out and replaced, not fatal', async () => {
  const it = await opened()
  for (const text of [
    '',
    '{',
    '[]',
    '{"day":1}',
    '{"day":20463,"pages":{"check/web":"short"}}',
    '{"day":1e9,"pages":{}}',
  ])
    it.disk.values.set('history/health/3', text)
  const again = await opened(START, it.disk)
  await again.live('yes', 10 * MINUTE)
  assert.equal(again.history.days(again.clock.now(), 1).length, 1)
})

test('graphs are means of quarter hours of what passes have seen; a host that is away leaves a gap', async () => {
  const it = await opened()
  const survey = (load: number, online = true): Survey => ({
    connection: 'pve',
    atMs: 0,
    hosts: [{ name: 'cow', online, load, memoryBytes: 100, memoryUsedBytes: 25 }],
    storages: [
      { host: 'cow', name: 'zfs', content: [], available: true, shared: false, totalBytes: 1000, usedBytes: 900 },
    ],
    resources: [],
    tasks: [],
  })
  const note = async (one: Survey) => {
    await it.history.note(viewOf('yes'), { surveys: [one], clusters: [] })
    await it.clock.advanceTo(it.clock.now() + 5 * MINUTE)
  }
  for (const load of [0.2, 0.4, 0.6]) await note(survey(load))
  for (const load of [0.9, 0.9, 0.9]) await note(survey(load, false))
  const at = it.clock.now() - 1
  const found = new Map(it.history.gauges(at, 2).map((one) => [`${one.gauge} ${one.subject}`, one.means]))
  const [mean = 0, gap] = found.get('cpu cow') ?? []
  assert.ok(Math.abs(mean - 0.4) < 0.01, `${mean}`)
  assert.equal(gap, undefined)
  assert.ok(Math.abs((found.get('memory cow')?.[0] ?? 0) - 0.25) < 0.01)
  assert.equal(found.get('storage cow/zfs')?.filter((one) => one !== undefined).length, 2)
  await it.history.save()
  const again = await opened(it.clock.now(), it.disk)
  assert.deepEqual(again.history.gauges(at, 2), it.history.gauges(at, 2))
})

test('numbers come back as they were packed, quantities within half a percent', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 4095 }), { maxLength: 200 }), (numbers) => {
      assert.deepEqual([...(unpack(pack(Uint16Array.from(numbers)), numbers.length) ?? [])], numbers)
    }),
  )
  fc.assert(
    fc.property(fc.double({ min: 1e-4, max: 1e13, noNaN: true }), (value) => {
      const back = quantityOf(quantityCode(value)) ?? 0
      assert.ok(Math.abs(back - value) <= value * 0.005, `${value} became ${back}`)
    }),
  )
  assert.equal(quantityOf(quantityCode(0)), 0)
  assert.equal(quantityOf(quantityCode(undefined)), undefined)
  assert.equal(quantityOf(quantityCode(Number.NaN)), undefined)
  assert.equal(unpack('A!', 1), undefined)
})
