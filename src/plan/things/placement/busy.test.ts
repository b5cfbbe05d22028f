import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { LoadSample } from '../../../model/resource.ts'
import { busySince } from './place.ts'

const NOW = 3_600_000
const LIMIT = { above: 0.9, forMs: 600_000 }
const minutes = (loads: readonly number[]): readonly LoadSample[] =>
  loads.map((load, at) => ({ atMs: NOW - (loads.length - 1 - at) * 60_000, load }))

for (const [what, loads, since] of [
  ['ten busy minutes in a row', Array(10).fill(0.95), NOW - 600_000],
  ['nine are not enough', Array(9).fill(0.95), undefined],
  ['one quiet minute among them', [...Array(6).fill(0.99), 0.5, ...Array(6).fill(0.99)], undefined],
  ['exactly at the limit is not above it', Array(20).fill(0.9), undefined],
  ['it is quiet again', [...Array(20).fill(0.99), 0.1], undefined],
  ['nothing was measured', [], undefined],
] as const) {
  it(`[R45] a host is busy or not: ${what}`, () => assert.equal(busySince(minutes(loads), LIMIT, NOW), since))
}

it('[R45] what was measured long ago says nothing about now', () => {
  assert.equal(busySince(minutes(Array(20).fill(0.99)), LIMIT, NOW + 3_600_000), undefined)
})
