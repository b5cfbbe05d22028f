import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlanEntry } from '../../model/plan.ts'
import type { Change } from '../../model/resource.ts'
import { previewLines } from './plan-preview.ts'
import { PLAIN } from './text.ts'

const change = (path: string, from: unknown, to: unknown): Change => ({ path, from, to, effect: 'live' })

function entry(action: PlanEntry['action'], preview: NonNullable<PlanEntry['preview']>): PlanEntry {
  return { key: 'Addon/a@ConfigMap/n/m', uid: 'u', connection: 'c', type: 'object', action, preview }
}

const update: PlanEntry['action'] = {
  do: 'update',
  externalId: 'm',
  reason: 'data.a differ',
  steps: [],
  changes: [change('data.a', '1', '2')],
}
const create = { do: 'create', externalId: 'm', host: 'h', steps: [] } as const

test('of a change only what nobody declared is said besides, and why it would be refused', () => {
  const changes = [change('data.a', '1', '2'), change('spec.filledIn', undefined, 'x\u001b[31m')]
  const lines = previewLines(entry(update, { changes, refused: 'no \u001b[2J' }), PLAIN, {})
  assert.equal(lines.length, 2)
  assert.match(lines[0] ?? '', /^would be refused: no /)
  assert.match(lines[1] ?? '', /^also spec\.filledIn: .* → x/)
  assert.doesNotMatch(lines.join(''), /\u001b/, 'nothing of others reaches the terminal as it is')
})

test('of something new its fields are shown, a few of many, and all where the calls are asked for', () => {
  const changes = Array.from({ length: 30 }, (_, index) => change(`data.k${index}`, undefined, index))
  const action: PlanEntry['action'] = { do: 'wait', reason: 'r', message: 'm', lookAgainMs: 1, next: create }
  const few = previewLines(entry(action, { changes }), PLAIN, {})
  assert.equal(few.length, 13)
  assert.match(few.at(-1) ?? '', /18 fields more/)
  assert.equal(previewLines(entry({ ...create, reason: '' }, { changes }), PLAIN, { calls: true }).length, 30)
})
