import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewEvent } from '../../model/record.ts'
import { PLAIN } from '../render/text.ts'
import { renderWaterfall, spansOf } from './waterfall.ts'

const event = (atMs: number, reason: string, message: string, key = 'VM/a'): NewEvent => ({
  atMs,
  key,
  type: 'Normal',
  reason,
  message,
})

test('the waterfall shows every step of one resource on one scale', () => {
  const spans = spansOf(
    [
      event(1000, 'Started', 'create'),
      event(1500, 'Started', 'create', 'VM/other'),
      event(21_000, 'Done', 'create'),
      event(21_000, 'Started', 'start'),
      event(22_000, 'Done', 'start'),
      event(41_000, 'Ready', 'agent up'),
    ],
    'VM/a',
  )
  assert.equal(
    renderWaterfall(spans, PLAIN, 20),
    `create                        ██████████               20s
start                                   █             1.0s
boot until the agent answers             █████████     19s
                                                       40s
`.replace(/ +(?=\n)/g, ''),
  )
})

test('nothing happened, nothing is drawn', () => {
  assert.equal(renderWaterfall(spansOf([], 'VM/a'), PLAIN), '')
})
