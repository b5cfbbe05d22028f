import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CroftEvent } from '../../model/record.ts'
import { foldEvents, renderEvents } from './events.ts'
import { PLAIN } from './text.ts'

const event = (atMs: number, type: CroftEvent['type'], message: string, key = 'Cluster/home'): CroftEvent =>
  ({ seq: atMs, atMs, key, type, reason: 'NoChecksum', message }) as CroftEvent

test('trouble that is told at every attempt is one line with its count; what was done stays as it was told', () => {
  const events = [
    event(0, 'Warning', 'no'),
    event(1, 'Normal', 'began'),
    event(2, 'Warning', 'no'),
    event(3, 'Warning', 'no', 'Cluster/other'),
    event(4, 'Normal', 'began'),
    event(600_000, 'Warning', 'no'),
  ]
  assert.deepEqual(
    foldEvents(events).map(({ event: { seq, key }, count, firstMs }) => [seq, key, count, firstMs]),
    [
      [1, 'Cluster/home', 1, 1],
      [3, 'Cluster/other', 1, 3],
      [4, 'Cluster/home', 1, 4],
      [600_000, 'Cluster/home', 3, 0],
    ],
  )
  assert.match(renderEvents(events, PLAIN, { nowMs: 600_000, headers: false }), /no \(3 times in 10m\)\n$/)
})
