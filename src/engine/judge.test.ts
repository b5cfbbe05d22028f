import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../lib/random.ts'
import type { Action } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { Refusal } from '../model/step.ts'
import { machine, NOW, step } from '../plan/testing/fixture.ts'
import { conditionOf } from './conditions.ts'
import { judge } from './judge.ts'
import type { ResourcePass } from './resource-pass.ts'

const web = machine('web')
const creating: Action = {
  do: 'create',
  externalId: '100',
  host: 'alpha',
  steps: [step('create', '100')],
  reason: 'declared, does not exist yet',
}

function caseOf(more: Partial<ResourcePass> & { action?: Action } = {}): ResourcePass {
  const { action = creating, ...rest } = more
  return {
    entry: { key: web.key, uid: web.uid, connection: 'default', type: 'vm', action, externalId: '100', host: 'alpha' },
    policy: web.policy,
    generation: web.generation,
    before: undefined,
    readiness: undefined,
    present: false,
    seen: true,
    unseenMs: 0,
    happenings: [],
    ...rest,
  }
}

function fail(
  refusal: Refusal,
  before: ResourceRecord | undefined,
  atMs: number,
  generation = web.generation,
): ResourceRecord {
  const happenings = [{ what: 'failed' as const, step: step('create', '100'), refusal }]
  return judge(caseOf({ before, happenings, generation }), atMs, seededRandom(1)).record
}

const broken: Refusal = { reason: 'TaskFailed', meaning: 'backoff', message: 'zfs: dataset already exists' }

test('[A21] [R37] the same failure five times: Stalled, with first and last time, count and text, backed off 8 times and more', () => {
  let record: ResourceRecord | undefined
  const pauses: number[] = []
  let atMs = NOW
  for (let attempt = 1; attempt <= 5; attempt++) {
    record = fail(broken, record, atMs)
    const failure = record.failure
    assert.ok(failure)
    pauses.push(failure.nextAttemptMs - atMs)
    assert.equal(
      conditionOf(record.conditions, 'Stalled')?.status,
      attempt < 5 ? 'False' : 'True',
      `attempt ${attempt}`,
    )
    if (attempt < 5) atMs = failure.nextAttemptMs
  }
  assert.deepEqual(
    { ...record?.failure, nextAttemptMs: 0 },
    {
      kind: 'failing',
      reason: 'TaskFailed',
      message: broken.message,
      count: 5,
      firstMs: NOW,
      lastMs: atMs,
      nextAttemptMs: 0,
    },
  )
  assert.ok((pauses[4] ?? 0) / (pauses[0] ?? 1) >= 8, `pauses ${pauses.join(', ')}`)
  assert.equal(record?.status, 'Stalled')
  assert.equal(record?.stalledGeneration, web.generation)
})

test('another failure begins a new count, a changed declaration clears it', () => {
  const four = [1, 2, 3, 4].reduce<ResourceRecord | undefined>((record, i) => fail(broken, record, NOW + i), undefined)
  assert.equal(fail({ ...broken, reason: 'Other' }, four, NOW + 9).failure?.count, 1)
  const five = fail(broken, four, NOW + 9)
  assert.equal(five.stalledGeneration, web.generation)
  const renewed = judge(caseOf({ before: five, generation: 'newer' }), NOW + 10, seededRandom(1)).record
  assert.equal(renewed.failure, undefined)
  assert.equal(renewed.stalledGeneration, undefined)
})

test('what a person must mend stalls at once; waiting for somebody else never does', () => {
  assert.ok(
    fail({ reason: 'PermissionDenied', meaning: 'stalled', message: 'VM.Allocate is missing' }, undefined, NOW)
      .stalledGeneration,
  )
  let record: ResourceRecord | undefined
  for (let i = 0; i < 50; i++)
    record = fail({ reason: 'Locked', meaning: 'waiting', message: 'locked (backup)' }, record, NOW + i)
  assert.equal(record?.stalledGeneration, undefined)
  assert.ok((record?.failure?.nextAttemptMs ?? 0) - (NOW + 49) <= 33_000, 'and is looked at again within half a minute')
})

test('[R38] a write that succeeds and does not stay is a failure, not a loop', () => {
  const done = { what: 'succeeded' as const, step: step('configure', '100') }
  let record = judge(caseOf({ present: true, happenings: [done] }), NOW, seededRandom(1)).record
  assert.equal(record.failure, undefined)
  for (let i = 1; i <= 5; i++)
    record = judge(caseOf({ before: record, present: true, happenings: [done] }), NOW + i, seededRandom(1)).record
  assert.equal(record.failure?.reason, 'NoEffect')
  assert.equal(record.status, 'Stalled')
  const other = { what: 'succeeded' as const, step: step('start', '100') }
  assert.equal(judge(caseOf({ happenings: [other] }), NOW, seededRandom(1)).record.failure, undefined)
})

test('a creation is open until the first survey that shows the guest whole', () => {
  const of = (before: ResourceRecord | undefined, more: Parameters<typeof caseOf>[0], atMs: number) =>
    judge(caseOf({ before, ...more }), atMs, seededRandom(1)).record
  const did = (what: 'started' | 'succeeded' | 'unclear', verb: 'create' | 'delete' = 'create') => ({
    happenings: [
      what === 'unclear' ? { what, step: step(verb, '100'), message: '' } : { what, step: step(verb, '100') },
    ],
  })
  const attempt = { connection: 'default', externalId: '100', sinceMs: NOW }
  for (const what of ['started', 'unclear'] as const)
    assert.deepEqual(of(undefined, did(what), NOW).attempt, attempt, what)
  const open = of(undefined, did('started'), NOW)
  assert.deepEqual(of(open, did('started'), NOW + 1).attempt, attempt, 'tried again: as old as the first attempt')
  assert.deepEqual(of(open, did('succeeded'), NOW + 1).attempt, attempt, 'the survey is older than the end of it')
  assert.deepEqual(of(open, { present: true }, NOW + 1).attempt, attempt, 'it still has the lock of its creation')
  const whole = of(open, { present: true, whole: true }, NOW + 2)
  assert.equal(whole.attempt, undefined)
  assert.equal(of(whole, {}, NOW + 3).attempt, undefined, 'gone from the survey: that opens nothing')
  assert.deepEqual(of(open, did('succeeded', 'delete'), NOW + 1).attempt, attempt, 'the way was cleared for it')
  const removal: Action = { ...creating, do: 'delete' }
  assert.equal(of(open, { ...did('succeeded', 'delete'), action: removal }, NOW + 1).attempt, undefined)
  const again = of(of(whole, { ...did('succeeded', 'delete'), action: removal }, NOW + 3), did('started'), NOW + 9)
  assert.deepEqual(again.attempt, { ...attempt, sinceMs: NOW + 9 })
})

test('what croft made under one id says nothing of another id, or of another connection', () => {
  const before = judge(
    caseOf({ happenings: [{ what: 'succeeded', step: step('create', '100') }] }),
    NOW,
    seededRandom(1),
  )
  assert.equal(before.record.made, true)
  const seen = caseOf({ before: before.record, present: true, action: { do: 'nothing' } })
  for (const place of [{ externalId: '101' }, { connection: 'other' }])
    assert.equal(judge({ ...seen, entry: { ...seen.entry, ...place } }, NOW, seededRandom(1)).record.made, undefined)
  assert.equal(judge(seen, NOW, seededRandom(1)).record.made, true)
})

test('[F-09] an id that was only planned is not remembered', () => {
  assert.equal(judge(caseOf(), NOW, seededRandom(1)).record.externalId, undefined)
  const started = [{ what: 'started' as const, step: step('create', '100') }]
  assert.equal(judge(caseOf({ happenings: started }), NOW, seededRandom(1)).record.externalId, '100')
})

test('Ready is never said while power changes, and an outage of seconds changes no condition', () => {
  const ready = { ready: true, reason: 'Up', message: '', status: 'Running' }
  const up = judge(caseOf({ action: { do: 'nothing' }, present: true, readiness: ready }), NOW, seededRandom(1)).record
  assert.equal(conditionOf(up.conditions, 'Ready')?.status, 'True')
  const restarting = [{ what: 'started' as const, step: step('reboot', '100') }]
  const down = judge(
    caseOf({ before: up, present: true, readiness: ready, happenings: restarting }),
    NOW + 1,
    seededRandom(1),
  ).record
  assert.equal(conditionOf(down.conditions, 'Ready')?.status, 'False')
  const blind: Action = { do: 'wait', reason: 'ConnectionNotSeen', message: 'no route', lookAgainMs: 1 }
  const brief = judge(
    caseOf({ before: up, action: blind, seen: false, unseenMs: 5_000 }),
    NOW + 5_000,
    seededRandom(1),
  ).record
  assert.deepEqual(brief.conditions, up.conditions)
  // A thing without conditions gets one at once, since it has no earlier state.
  const never = judge(caseOf({ action: blind, seen: false, unseenMs: 5_000 }), NOW, seededRandom(1)).record
  assert.equal(conditionOf(never.conditions, 'Ready')?.status, 'Unknown')
  const long = judge(
    caseOf({ before: up, action: blind, seen: false, unseenMs: 60_000 }),
    NOW + 60_000,
    seededRandom(1),
  ).record
  assert.equal(conditionOf(long.conditions, 'Ready')?.status, 'Unknown')
})

test('a condition changes its time only when its status changes, and nothing new is told when nothing changed', () => {
  const actions: Action[] = [
    { do: 'nothing' },
    creating,
    { do: 'wait', reason: 'Locked', message: 'locked', lookAgainMs: 1 },
  ]
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          action: fc.constantFrom(...actions),
          ready: fc.boolean(),
          later: fc.integer({ min: 1, max: 1000 }),
        }),
      ),
      (walk) => {
        let before: ResourceRecord | undefined
        let nowMs = NOW
        for (const { action, ready, later } of walk) {
          nowMs += later
          const readiness = { ready, reason: 'R', message: '', status: ready ? 'Running' : 'Booting' }
          const { record, events } = judge(caseOf({ before, action, present: true, readiness }), nowMs, seededRandom(1))
          for (const condition of record.conditions) {
            const was = conditionOf(before?.conditions ?? [], condition.type)
            assert.equal(condition.sinceMs, was?.status === condition.status ? was.sinceMs : nowMs)
          }
          const again = judge(caseOf({ before: record, action, present: true, readiness }), nowMs + 1, seededRandom(1))
          assert.deepEqual(again.record, record, 'a second look at the same changes nothing')
          assert.deepEqual(again.events, [])
          assert.ok(events.length <= 2)
          before = record
        }
      },
    ),
  )
})

test('what was not read in this pass keeps what was known of it; what is not there is not Ready', () => {
  const up = { ready: true, reason: 'Up', message: '', status: 'Running' }
  const before = judge(caseOf({ action: { do: 'nothing' }, present: true, readiness: up }), NOW, seededRandom(1)).record
  const ready = (more: Partial<ResourcePass>) => {
    const { conditions } = judge(caseOf({ action: { do: 'nothing' }, ...more }), NOW, seededRandom(1)).record
    return conditionOf(conditions, 'Ready')?.reason
  }
  assert.equal(ready({ before, present: true }), 'Up')
  assert.equal(ready({ present: true }), 'NotReadClosely')
  assert.equal(ready({ before, present: false, unread: true }), 'Up')
  assert.equal(ready({ before, present: false }), 'Absent')
  assert.equal(ready({ present: false, unread: true }), 'Absent')
})

test('addresses are in force where a machine has read the document that declares them, and not where another one is ignored', () => {
  const read = { present: true, addresses: ['10.0.0.20'], action: { do: 'nothing' } } as const
  const addresses = (more: Partial<ResourcePass>) =>
    judge(caseOf({ ...read, ...more }), NOW, seededRandom(1)).record.addresses
  const before = { ...judge(caseOf({ present: true }), NOW, seededRandom(1)).record, addresses: ['10.0.0.10'] }
  assert.deepEqual(addresses({}), ['10.0.0.20'])
  assert.deepEqual(addresses({ before }), ['10.0.0.20'])
  assert.equal(addresses({ readsOther: true }), undefined)
  assert.deepEqual(addresses({ before, readsOther: true }), ['10.0.0.10'])
})

test('what was known of a thing ends with its deletion and with the creation of another, and with nothing else', () => {
  const did = (what: 'started' | 'succeeded' | 'unclear', verb: 'create' | 'delete' | 'start') => ({
    happenings: [{ what, step: step(verb, '100'), message: 'no answer' }],
  })
  const before = judge(caseOf({ present: true, details: { 'ran vda': '1' } }), NOW, seededRandom(1)).record
  for (const [more, known] of [
    [{}, true],
    [did('succeeded', 'start'), true],
    [did('unclear', 'delete'), true],
    [did('succeeded', 'delete'), false],
    [did('succeeded', 'create'), false],
    [did('unclear', 'create'), false],
  ] as const) {
    const { record } = judge(caseOf({ ...more, before }), NOW + 1, seededRandom(1))
    assert.deepEqual(record.details, known ? { 'ran vda': '1' } : undefined, JSON.stringify(more))
  }
})
