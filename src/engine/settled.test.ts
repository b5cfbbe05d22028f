import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../model/action.ts'
import type { Plan } from '../model/plan.ts'
import { isSettled } from './settled.ts'

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
