import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Settlement } from '../engine/engine.ts'
import { DEFAULT_POLICY } from '../model/declaration.ts'
import type { Action, ConnectionNote, Plan } from '../model/plan.ts'
import type { Condition } from '../model/record.ts'
import { applyExit } from './render/apply-end.ts'
import { planExit } from './render/plan-summary.ts'

const planWith = (actions: readonly Action[], notes: readonly ConnectionNote[] = []): Plan => ({
  entries: actions.map((action, index) => ({ key: `Machine/${index}`, uid: 'u', connection: 'c', type: 'vm', action })),
  notes,
  problems: [],
})
const nothing: Action = { do: 'nothing' }
const update: Action = { do: 'update', externalId: '1', changes: [], steps: [], reason: '' }
const refuse: Action = { do: 'refuse', guard: 'g', reason: 'r', allow: 'a' }
const hold: Action = { do: 'hold', guard: 'g', held: update, reason: 'r', allow: 'a' }
const note = (code: ConnectionNote['code'], reason?: string): ConnectionNote => ({
  connection: 'c',
  code,
  message: '',
  allow: '',
  ...(reason === undefined ? {} : { reason }),
})

test('plan: 0 nothing to do, 2 something differs, 1 could not see, 4 not authorized', () => {
  const cases: readonly [Plan, number][] = [
    [planWith([nothing]), 0],
    [planWith([]), 0],
    [planWith([nothing, update]), 2],
    [planWith([hold]), 2],
    [planWith([refuse]), 2],
    [planWith([nothing], [note('unreachable')]), 1],
    [planWith([nothing], [note('suspect')]), 1],
    [planWith([nothing], [note('refused', 'Unauthorized')]), 4],
    [planWith([nothing], [note('refused', 'NoQuorum')]), 1],
  ]
  for (const [plan, code] of cases) assert.equal(planExit(plan), code, JSON.stringify(plan))
})

function settled(
  plan: Plan,
  conditions: readonly (readonly [Condition['type'], Condition['status'], string?])[],
  outcome: Settlement['outcome'],
): Settlement {
  const records = [
    {
      key: 'Machine/0',
      uid: 'u',
      connection: 'c',
      type: 'vm' as const,
      generation: 'g',
      policy: DEFAULT_POLICY,
      conditions: conditions.map(([type, status, reason = '']) => ({ type, status, reason, message: '', sinceMs: 0 })),
      createdMs: 0,
      status: 's',
    },
  ]
  return {
    outcome,
    last: { plan, records, events: [], effects: 0, settled: true, lookAgainMs: 0 },
    passes: 1,
    effects: 0,
  }
}

test('apply: 0 settled and ready, 1 stalled, failed or refused, 3 late or not ready, 4 not authorized', () => {
  const ready = [['Ready', 'True']] as const
  const notReady = [['Ready', 'False']] as const
  const declared = ['Machine/0']
  assert.equal(applyExit(settled(planWith([nothing]), ready, 'settled'), declared), 0)
  assert.equal(applyExit(settled(planWith([nothing]), ready, 'settled'), ['Machine/0', 'Machine/unseen']), 3)
  assert.equal(applyExit(settled(planWith([nothing]), notReady, 'settled'), declared), 3)
  assert.equal(applyExit(settled(planWith([update]), ready, 'deadline'), declared), 3)
  assert.equal(applyExit(settled(planWith([nothing]), [...ready, ['Stalled', 'True']], 'settled'), declared), 1)
  const failed = [['Ready', 'False', 'CloudInitFailed']] as const
  assert.equal(applyExit(settled(planWith([nothing]), failed, 'settled'), declared), 1)
  assert.equal(applyExit(settled(planWith([refuse]), ready, 'settled'), declared), 1)
  assert.equal(applyExit(settled(planWith([hold]), ready, 'settled'), declared), 3)
  assert.equal(applyExit(settled(planWith([hold, refuse]), ready, 'settled'), declared), 1)
  assert.equal(applyExit(settled(planWith([nothing], [note('refused')]), ready, 'settled'), declared), 4)
})
