import assert from 'node:assert/strict'
import { test } from 'node:test'
import { marks } from './prune.ts'

const day = (number: number, hour = 1) => Date.UTC(2026, 10, number, hour) / 1000

function marked(
  keep: Readonly<Record<string, number>>,
  seconds: readonly number[],
  kept: readonly number[] = [],
): string {
  const backups = seconds.map((at) => ({ seconds: at, protected: kept.includes(at) }))
  return marks(backups, new Map(Object.entries(keep)))
    .map((mark) => mark[0])
    .join('')
}

const FIVE = [day(1), day(2), day(3), day(4), day(5)]

test('the newest stay, and protected ones are not counted', () => {
  assert.equal(marked({ 'keep-last': 2 }, FIVE), 'rrrkk')
  assert.equal(marked({ 'keep-last': 2 }, FIVE, [day(1)]), 'prrkk')
  assert.equal(marked({ 'keep-last': 2 }, FIVE, [day(5)]), 'rrkkp')
})

test('everything stays when nothing is said, or all is', () => {
  assert.equal(marked({}, FIVE), 'kkkkk')
  assert.equal(marked({ 'keep-all': 1 }, FIVE), 'kkkkk')
  assert.equal(marked({ 'keep-last': 0 }, FIVE), 'kkkkk')
})

test('of each day, week or month the newest stays, and spans that an earlier rule kept are passed over', () => {
  assert.equal(marked({ 'keep-daily': 1 }, FIVE), 'rrrrk')
  assert.equal(marked({ 'keep-daily': 2 }, [day(4, 1), day(4, 9), day(5, 1), day(5, 9)]), 'rkrk')
  assert.equal(marked({ 'keep-last': 1, 'keep-daily': 2 }, FIVE), 'rrkkk')
  // 1 November 2026 is a Sunday: the week before.
  assert.equal(marked({ 'keep-weekly': 2 }, FIVE), 'krrrk')
  assert.equal(marked({ 'keep-monthly': 2 }, [day(-3), ...FIVE]), 'krrrrk')
})
