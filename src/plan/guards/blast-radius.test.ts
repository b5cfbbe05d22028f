import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import { changed, destroying, ordered } from '../../model/destruction.ts'
import type { Action, Doing } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { estateOf, guest, NOW, step } from '../testing/fixture.ts'
import { blastRadius } from './blast-radius.ts'

const memory: Change = { path: 'memory', from: 1, to: 2, effect: 'replace' }

function judged(changes: readonly Change[], deleting: readonly string[], destroyed: readonly string[]): string {
  const there = guest(101)
  const destruction = changes.length > 0 ? changed(there, [], changes) : ordered(there, [], 'why')
  const steps = [step('delete', '101', destroying(destruction))]
  const action: Action & Doing = { do: 'replace', externalId: '101', changes, steps, reason: 'why' }
  const entry = { key: 'Machine/a1', uid: 'u', connection: 'default', type: 'vm' as const, action }
  const context = {
    estate: estateOf([]),
    members: new Map(),
    suspicions: new Map(),
    nowMs: NOW,
    machines: new Map([['', 6]]),
    sourceOf: () => '',
  }
  return blastRadius.judge(action, { entry, policy: DEFAULT_POLICY }, { ...context, deleting, destroyed }).do
}

test('a machine that this revision removed once does not hold up the cure of a dead node for as long as the revision stands', () => {
  assert.equal(judged([], ['Machine/a1'], ['Machine/old']), 'replace')
  assert.equal(judged([memory], ['Machine/a1'], ['Machine/old']), 'hold', 'Git asked for both')
  assert.equal(judged([], ['Machine/a1', 'Machine/a2'], []), 'hold', 'two at once')
})
