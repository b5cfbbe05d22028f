import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, fastClock, realMs } from './clock.ts'

test('a fast clock begins with real time and goes on as much faster as it says', async () => {
  const slept: number[] = []
  let nowMs = 1_794_736_532_000
  const real: Clock = {
    now: () => nowMs,
    monotonicMs: () => 10,
    sleep: async (ms) => void slept.push(ms),
  }
  const clock = fastClock('30@1794736532000', real)
  assert.equal(clock?.now(), 1_794_736_532_000)
  nowMs += 1_000
  assert.equal(clock?.now(), 1_794_736_562_000)
  assert.equal(clock?.outsideMs?.(), nowMs, 'the time of the computer itself')
  assert.equal(clock?.monotonicMs(), 300)
  await clock?.sleep(60_000)
  assert.deepEqual(slept, [2_000])
  await clock?.sleep(realMs(clock, 5_000))
  assert.deepEqual(slept, [2_000, 5_000], 'a network is not faster because a simulator is')
  assert.equal(realMs(real, 5_000), 5_000)
})

for (const text of ['', '30', '@1794736532000', '0@1794736532000', '-1@1794736532000', '1e3@1794736532000', '30@now'])
  test(`${JSON.stringify(text)} is no clock`, () => assert.equal(fastClock(text), undefined))
