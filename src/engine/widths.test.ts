import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import { CONNECTION, estateOf, machine, recordOf, step } from '../plan/testing/fixture.ts'
import { capacity, windowName } from '../plan/windows.ts'
import type { Happening } from './resource-pass.ts'
import { learnWidths, notePace, nothingLearnt, type Widths } from './widths.ts'

test('[T-01] the pace is what ended between two looks, whatever the passes did meanwhile', () => {
  const widths = nothingLearnt()
  // Nothing was under way before: the first pass's tasks count from its end.
  notePace(widths, 0, 0, 10, { lookedMs: 0, actedMs: 2_000, endedMs: 2_200 })
  assert.equal(widths.pace.passMs, 200, 'reading before the first effect is not repeated')
  const before = widths.pace.perTaskMs
  notePace(widths, 4, 6, 12, { lookedMs: 2_600, actedMs: 2_650, endedMs: 3_000 })
  assert.equal(widths.pace.perTaskMs, (before + 100) / 2, 'four in 400 ms')
  const second = widths.pace.perTaskMs
  notePace(widths, 5, 7, 7, { lookedMs: 3_400, actedMs: 3_450, endedMs: 3_450 })
  assert.equal(widths.pace.perTaskMs, (second + 160) / 2, 'five in 800 ms, from look to look')
  const third = widths.pace.perTaskMs
  notePace(widths, 8, 4, 4, { lookedMs: 5_400, actedMs: 5_450, endedMs: 5_450 })
  assert.equal(widths.pace.perTaskMs, third, 'eight, of which only seven were under way all the time')
  notePace(widths, 4, 0, 0, { lookedMs: 5_800, actedMs: 5_850, endedMs: 5_850 })
  assert.equal(widths.sinceMs, undefined)
})

const QUEUE = 'host/alpha'
const remove = step('delete', '101', { queues: [QUEUE] })
const start = step('start', '101', { queues: [QUEUE] })

function widthAfter(happening: Happening, perTaskMs: number): number {
  const connection = { ...CONNECTION, limits: { perHost: 32, perStorage: 16, reads: 4 } }
  const widths: Widths = { ...nothingLearnt(), full: new Set([windowName(connection.name, QUEUE)]) }
  widths.pace = { ...widths.pace, perTaskMs }
  const gone = recordOf(machine('gone'))
  const nothing = { ...estateOf([]), connections: [connection] }
  learnWidths(widths, new Map([[gone.key, [happening]]]), [], nothing, new Map([[gone.key, gone]]), new Map())
  return capacity(QUEUE, connection, widths.current)
}

test('[T-01] what ends well widens a queue; a removal that left a disk behind, or a long wait for the lock, does not', () => {
  const { host } = LIMITS.firstWindow
  const table: readonly (readonly [what: string, happening: Happening, perTaskMs: number, width: number])[] = [
    ['a removal', { what: 'succeeded', step: remove }, 10, host + 1],
    ['a removal with warnings', { what: 'succeeded', step: remove, warned: 'WARNINGS: 1' }, 10, host / 2],
    ['a start with warnings', { what: 'succeeded', step: start, warned: 'WARNINGS: 1' }, 10, host + 1],
    ['a slow one', { what: 'succeeded', step: remove }, LIMITS.lockQueueMs / host, host],
  ]
  for (const [what, happening, perTaskMs, width] of table) assert.equal(widthAfter(happening, perTaskMs), width, what)
})
