import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { plan } from '../plan.ts'
import { estateOf, FAKE_RULES, guest, ledgerWith, machine, NOW, recordOf, worldWith } from '../testing/fixture.ts'
import { attemptAt, attemptOf, wasWhole } from './attempt.ts'

const web = machine('web', { vmid: 101 })
const attempt = { connection: 'default', externalId: '101', sinceMs: NOW - 5_000 }

test('a record of an earlier croft has an open creation only if no survey ever showed the guest', () => {
  const old = recordOf(web, { made: true, externalId: '101', createdMs: NOW - 9_000 })
  assert.deepEqual(attemptOf(old), { ...attempt, sinceMs: NOW - 9_000 })
  assert.equal(attemptOf({ ...old, seenMs: NOW }), undefined)
  assert.equal(attemptOf({ ...old, made: false }), undefined)
  assert.equal(attemptOf({ ...old, type: 'setting' }), undefined)
  assert.equal(attemptOf(undefined), undefined)
})

test('a creation is that of one id on one connection', () => {
  const record = recordOf(web, { attempt })
  assert.equal(attemptAt(record, 'default', '101'), attempt)
  assert.equal(attemptAt(record, 'other', '101'), undefined)
  assert.equal(attemptAt(record, 'default', '102'), undefined)
})

test('a guest was whole where it was seen, after its creation was over', () => {
  const seen = recordOf(web, { made: true, externalId: '101', seenMs: NOW })
  assert.equal(wasWhole(seen, 'default', '101'), true)
  assert.equal(wasWhole(seen, 'other', '101'), false)
  assert.equal(wasWhole({ ...seen, attempt }, 'default', '101'), false)
  assert.equal(wasWhole(recordOf(web, { externalId: '101' }), 'default', '101'), false)
})

const LIST = 'disks/alpha/local/101'
const rules: Rules = { ...FAKE_RULES, remains: () => [LIST] }

function disk(name: string, atMs: number): ObservedResource {
  return {
    connection: 'default',
    type: 'file',
    list: LIST,
    externalId: name,
    host: 'alpha',
    close: { config: { ctime: atMs / 1_000 }, atMs: NOW },
  }
}

const OLD = disk('local:101/archive.raw', NOW - 3_600_000)
const YOUNG = disk('local:101/vm-101-disk-0.raw', NOW - 4_000)

function planned(record: Parameters<typeof recordOf>[1], seen: readonly ObservedResource[] = []) {
  const world = worldWith(seen, { '101': 'free' })
  const lists = new Map([[LIST, new Map([OLD, YOUNG].map((one) => [one.externalId, one]))]])
  const { entries } = plan({
    estate: estateOf([web]),
    worlds: new Map([['default', { ...world, lists }]]),
    ledger: ledgerWith({ known: [recordOf(web, { createdMs: NOW - 8_000, ...record })] }),
    rules: new Map([['fake', rules]]),
    nowMs: NOW,
  })
  const action = entries[0]?.action
  return { do: action?.do, steps: action !== undefined && 'steps' in action ? action.steps.map((s) => s.summary) : [] }
}

test('an open creation clears away what is younger than it, and nothing else', () => {
  assert.deepEqual(planned({ externalId: '101', attempt }), {
    do: 'create',
    steps: [`delete ${YOUNG.externalId}`, 'create 101', 'start 101'],
  })
})

test('the creation of the same id on another connection clears nothing away here', () => {
  const elsewhere = { externalId: '101', connection: 'other' }
  for (const record of [
    { ...elsewhere, attempt: { ...attempt, connection: 'other' } },
    { ...elsewhere, made: true, seenMs: NOW - 7_000 },
    { ...elsewhere, made: true },
  ])
    assert.deepEqual(planned(record), { do: 'create', steps: ['create 101', 'start 101'] })
})

test('a guest that was whole and is gone: its disks stay, and none is made beside them', () => {
  assert.deepEqual(planned({ externalId: '101', made: true, seenMs: NOW - 7_000 }), { do: 'refuse', steps: [] })
})

test('an empty guest under an id whose creation is over is left alone', () => {
  const empty: ObservedResource = { ...guest(101), power: 'running', close: { config: { digest: 'd' }, atMs: NOW } }
  const clearing: Rules = { ...rules, abandonedSteps: (_resource, observed) => rules.deleteSteps(observed) }
  for (const [record, expected] of [
    [{ made: true, seenMs: NOW - 7_000 }, 'refuse'],
    [{ attempt }, 'create'],
  ] as const) {
    const { entries } = plan({
      estate: estateOf([web]),
      worlds: new Map([['default', { ...worldWith([empty]), lists: new Map([[LIST, new Map()]]) }]]),
      ledger: ledgerWith({ known: [recordOf(web, { externalId: '101', ...record })] }),
      rules: new Map([['fake', clearing]]),
      nowMs: NOW,
    })
    assert.equal(entries[0]?.action.do, expected, JSON.stringify(entries[0]?.action))
  }
})
