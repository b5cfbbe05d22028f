import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { machine, NOW, recordOf, step } from '../../plan/testing/fixture.ts'
import { driftsOf } from './drifts.ts'

const web = machine('web')
const CHANGES: readonly Change[] = [
  { path: 'memory', from: 512, to: 1024, effect: 'restart' },
  { path: 'cloudInit.password', from: 'hunter1', to: 'hunter2', effect: 'live', secret: true },
  { path: 'description', from: 'a\u001b[2Jb', to: undefined, effect: 'live' },
  { path: 'restart', from: 'pending', to: 'done', effect: 'restart' },
]
const update: Action = {
  do: 'update',
  externalId: '100',
  changes: CHANGES,
  steps: [step('configure', '100')],
  reason: 'differs',
}
const create: Action = { do: 'create', externalId: '100', host: 'alpha', steps: [], reason: 'gone' }

function drifts(action: Action, isDrift = true) {
  const entry = { key: web.key, uid: web.uid, connection: 'default', type: 'vm' as const, action }
  return driftsOf({
    plan: { entries: [{ ...entry, ...(isDrift ? { drift: true as const } : {}) }], notes: [], problems: [] },
    records: [recordOf(web, { driftSinceMs: NOW })],
  })
}

test('a drift shows what Git says and what is there; a secret shows neither, and no text moves a cursor', () => {
  assert.deepEqual(
    drifts(update).map(({ field, declared, observed }) => [field, declared, observed]),
    [
      ['memory', '1024', '512'],
      ['cloudInit.password', '***', '***'],
      ['description', 'nothing', 'a?[2Jb'],
    ],
  )
})

test('what is gone is a drift, also while it is held; a change of Git is none', () => {
  const gone = [['existence', 'there', 'gone']]
  const shown = (action: Action) => drifts(action).map(({ field, declared, observed }) => [field, declared, observed])
  assert.deepEqual(shown(create), gone)
  assert.deepEqual(shown({ do: 'hold', guard: 'drift', held: create, reason: '', allow: '' } as Action), gone)
  assert.deepEqual(shown({ do: 'nothing' }), [])
  assert.deepEqual(drifts(update, false), [])
})
