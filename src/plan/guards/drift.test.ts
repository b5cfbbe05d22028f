import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY, type Policy } from '../../model/declaration.ts'
import type { Action } from '../../model/plan.ts'
import { step } from '../testing/fixture.ts'
import { drift } from './drift.ts'
import type { GuardContext } from './guard.ts'

const UPDATE: Action = {
  do: 'update',
  externalId: '100',
  changes: [{ path: 'memory', from: 1, to: 2, effect: 'live' }],
  steps: [step('configure', '100')],
  reason: 'differs',
} as Action
const CREATE: Action = {
  do: 'create',
  externalId: '100',
  host: 'alpha',
  steps: [step('create', '100')],
  reason: 'gone',
}

const CASES: readonly [string, Policy['drift'], Action, boolean, string][] = [
  ['what nobody said anything about is corrected', undefined, UPDATE, true, 'update'],
  ['correct', 'correct', UPDATE, true, 'update'],
  ['report holds a change', 'report', UPDATE, true, 'hold'],
  ['report holds what is gone', 'report', CREATE, true, 'hold'],
  ['ignore looks past a change', 'ignore', UPDATE, true, 'nothing'],
  ['nobody looks past what is gone', 'ignore', CREATE, true, 'hold'],
  ['a change of Git is no drift: report', 'report', UPDATE, false, 'update'],
  ['a change of Git is no drift: ignore', 'ignore', UPDATE, false, 'update'],
]

for (const [name, policy, action, isDrift, expected] of CASES)
  test(`drift: ${name}`, () => {
    const entry = { key: 'Machine/a', action, ...(isDrift ? { drift: true } : {}) } as never
    const guarded = { entry, policy: { ...DEFAULT_POLICY, ...(policy === undefined ? {} : { drift: policy }) } }
    const judged = drift.judge(action as never, guarded, { estate: {} } as GuardContext)
    assert.equal(judged.do, expected)
    if (judged.do === 'hold') {
      assert.equal(judged.held, action)
      assert.match(judged.reason, action === UPDATE ? /^memory changed in the world/ : /^it changed in the world/)
    }
  })
