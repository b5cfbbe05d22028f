import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import type { Action, Plan } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import { UNKNOWN_PACE } from '../plan/pace.ts'
import { machine, recordOf } from '../plan/testing/fixture.ts'
import {
  CANNOT_BE_READ,
  countUnreached,
  countUnread,
  givenUpOn,
  isSettled,
  nextLookMs,
  type Unreached,
  type Unread,
} from './settled.ts'

const refuse: Action = { do: 'refuse', guard: 'stalled', reason: 'it failed', allow: 'correct it' }
const hold: Action = {
  do: 'hold',
  guard: 'window',
  reason: 'not now',
  allow: 'wait',
  held: { do: 'update', externalId: 'x', changes: [], steps: [] },
}
const waits: Action = { do: 'wait', reason: 'NeedsNotReady', message: 'waits', lookAgainMs: 1_000 }

function settled(
  actions: Readonly<Record<string, Action>>,
  needs: Readonly<Record<string, readonly string[]>>,
): boolean {
  const entries = Object.entries(actions).map(([key, action]) => ({
    key,
    uid: key,
    connection: 'host/cow',
    type: 'item' as const,
    action,
  }))
  const plan: Plan = { entries, notes: [], problems: [] }
  const resources = Object.keys(actions).map((key) => ({ key, needs: needs[key] ?? [] }))
  return isSettled(plan, [], 0, 0, resources)
}

test('what waits for something that a person must see to does not keep anybody waiting', () => {
  assert.equal(settled({ a: refuse, b: waits, c: waits }, { b: ['a'], c: ['b'] }), true, 'however far away')
  assert.equal(settled({ a: refuse, b: waits }, { b: ['z'] }), false, 'it waits for another')
  assert.equal(settled({ a: hold, b: waits }, { b: ['a'] }), false, 'what is held may be let go')
  assert.equal(settled({ a: waits, b: waits }, { a: ['b'], b: ['a'] }), false)
})

test('what cannot leave keeps nobody waiting once it has stalled', () => {
  const key = 'Machine/pool'
  const action: Action = { do: 'wait', reason: 'ApiError', message: 'pool is not empty', lookAgainMs: 60_000 }
  const entries = [{ key, uid: key, connection: 'default', type: 'setting' as const, action }]
  const failure = {
    kind: 'failing',
    reason: 'ApiError',
    message: 'pool is not empty',
    count: 5,
    firstMs: 0,
    lastMs: 0,
  } as const
  const failing = { ...recordOf(machine('pool')), failure: { ...failure, nextAttemptMs: 60_000 } }
  const isOver = (record: ResourceRecord) => isSettled({ entries, notes: [], problems: [] }, [record], 0, 0)
  assert.equal(isOver(failing), false)
  assert.equal(isOver({ ...failing, stalledGeneration: failing.generation }), true)
})

test('one thing that cannot be read is given up on after many passes in a row, and what waits for it with it', () => {
  const unread: Action = { do: 'wait', reason: CANNOT_BE_READ, message: 'exit code 1', lookAgainMs: 1_000 }
  const entry = (key: string, action: Action) => ({
    key,
    uid: key,
    connection: 'default',
    type: 'setting' as const,
    action,
  })
  const plan = (...entries: ReturnType<typeof entry>[]): Plan => ({ entries, notes: [], problems: [] })
  const whole = plan(entry('a', unread), entry('b', waits))
  const resources = [
    { key: 'a', needs: [] },
    { key: 'b', needs: ['a'] },
  ]
  const settledAfter = (passes: readonly Plan[]) => {
    let counts: Unread = new Map()
    for (const one of passes) counts = countUnread(counts, one)
    return isSettled(whole, [], 0, 0, resources, givenUpOn(new Map(), counts))
  }
  const often = Array.from({ length: LIMITS.unreadPasses }, () => whole)
  assert.equal(settledAfter(often), true)
  assert.equal(settledAfter(often.slice(1)), false)
  assert.equal(settledAfter([...often.slice(1), plan(entry('a', waits)), whole]), false, 'it was read once')
})

const note = (connection: string) => ({
  connection,
  code: 'unreachable' as const,
  message: 'no route to host',
  allow: '',
})

test('a connection that never answered is given up on after a few passes; one that was there is waited for', () => {
  const passes = (all: readonly (readonly string[])[]) => {
    let unreached: Unreached = new Map()
    for (const [index, away] of all.entries())
      unreached = countUnreached(unreached, { notes: away.map(note) }, index === 0)
    return [...givenUpOn(unreached, new Map())]
  }
  assert.deepEqual(passes([['cow'], ['cow']]), [])
  assert.deepEqual(passes([['cow'], ['cow'], ['cow']]), ['cow'])
  assert.deepEqual(passes([['cow'], [], ['cow'], ['cow'], ['cow']]), [], 'it was seen once')
  assert.deepEqual(passes([[], ['cow'], ['cow'], ['cow'], ['cow']]), [], 'it may be restarting')
})

test('what is on a connection that was given up on, and what needs it, keeps nobody waiting', () => {
  const unseen: Action = { do: 'wait', reason: 'ConnectionNotSeen', message: 'no route to host', lookAgainMs: 1_000 }
  const entry = (key: string, connection: string, action: Action) =>
    ({ key, uid: key, connection, type: 'item', action }) as const
  const plan: Plan = {
    entries: [entry('a', 'cow', unseen), entry('b', 'sheep', waits)],
    notes: [note('cow')],
    problems: [],
  }
  const resources = [
    { key: 'a', needs: [] },
    { key: 'b', needs: ['a'] },
  ]
  assert.equal(isSettled(plan, [], 0, 0, resources, new Set(['cow'])), true)
  assert.equal(isSettled(plan, [], 0, 0, resources), false)
  assert.equal(isSettled(plan, [], 1, 0, resources, new Set(['cow'])), false, 'something is under way elsewhere')
})

test('whatever is not Ready yet is looked at again soon, also where all others are', () => {
  const record = (status: string, ready: 'True' | 'False'): ResourceRecord => ({
    ...recordOf(machine('web'), { status }),
    conditions: [{ type: 'Ready', status: ready, reason: '', message: '', sinceMs: 0 } as never],
  })
  const next = (...records: ResourceRecord[]) =>
    nextLookMs({ entries: [], notes: [], problems: [] }, records, 0, { all: 0, started: 0 }, UNKNOWN_PACE)
  assert.equal(next(), LIMITS.sweepIntervalMs)
  assert.equal(next(record('Running', 'True')), LIMITS.sweepIntervalMs)
  assert.equal(next(record('Running', 'True'), record('Booting', 'False')), LIMITS.readinessPollMs)
  assert.equal(next(record('Running', 'True'), record('Orphaned', 'False')), LIMITS.sweepIntervalMs)
})

test('a machine whose first boot failed keeps nobody waiting, nor does what needs it; one that is still booting does', () => {
  const entry = (key: string, action: Action) => ({ key, uid: key, connection: 'p', type: 'vm', action }) as const
  const plan: Plan = { entries: [entry('a', { do: 'nothing' }), entry('b', waits)], notes: [], problems: [] }
  const resources = [
    { key: 'a', needs: [] },
    { key: 'b', needs: ['a'] },
  ]
  const settledWith = (reason: string) => {
    const record: ResourceRecord = {
      ...recordOf(machine('a')),
      key: 'a',
      conditions: [{ type: 'Ready', status: 'False', reason, message: '', sinceMs: 0 }],
    }
    return isSettled(plan, [record], 0, 0, resources)
  }
  assert.equal(settledWith('CloudInitFailed'), true)
  assert.equal(settledWith('CloudInitRunning'), false)
})
