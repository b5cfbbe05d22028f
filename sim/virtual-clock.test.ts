import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createVirtualClock } from './virtual-clock.ts'

test('timers fire by moment, then in the order they were asked for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 60 }), async (moments) => {
      const clock = createVirtualClock(1000)
      const fired: number[] = []
      for (const [index, at] of moments.entries()) clock.schedule(1000 + at, () => fired.push(index))
      await clock.runUntil(() => fired.length === moments.length)
      const expected = moments.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at || a.index - b.index)
      assert.deepEqual(
        fired,
        expected.map((entry) => entry.index),
      )
    }),
    { numRuns: 50 },
  )
})

test('every promise that can run has run before time moves', async () => {
  const clock = createVirtualClock(0)
  const seen: string[] = []
  const worker = async (name: string, ms: number) => {
    for (let step = 0; step < 3; step++) {
      await clock.sleep(ms)
      for (let depth = 0; depth < 20; depth++) await Promise.resolve()
      seen.push(`${name}@${clock.now()}`)
    }
  }
  await clock.runUntil(Promise.all([worker('a', 10), worker('b', 15)]))
  assert.deepEqual(seen, ['a@10', 'b@15', 'a@20', 'b@30', 'a@30', 'b@45'])
})

test('sleep ends at once when its signal is aborted, and its timer no longer holds the clock', async () => {
  const clock = createVirtualClock(0)
  const abort = new AbortController()
  const slept = clock.sleep(60_000, abort.signal)
  clock.schedule(5, () => abort.abort())
  await clock.runUntil(slept)
  assert.equal(clock.now(), 5)
  assert.equal(clock.pending(), 0)
})

test('a run that cannot end says so instead of hanging', async () => {
  const clock = createVirtualClock(0)
  const tick = () => {
    clock.schedule(clock.now() + 1000, tick)
  }
  tick()
  await assert.rejects(
    clock.runUntil(() => false, { maxMs: 10_000 }),
    /still not there/,
  )
})

test('the value and the failure of the promise come through', async () => {
  const clock = createVirtualClock(0)
  assert.equal(await clock.runUntil(clock.sleep(5).then(() => 'done')), 'done')
  await assert.rejects(
    clock.runUntil(
      clock.sleep(5).then(() => {
        throw new Error('broken')
      }),
    ),
    /broken/,
  )
})

test('advanceTo fires what is due and stops exactly there', async () => {
  const clock = createVirtualClock(0)
  let fired = 0
  clock.schedule(10, () => fired++)
  clock.schedule(30, () => fired++)
  await clock.advanceTo(20)
  assert.equal(clock.now(), 20)
  assert.equal(fired, 1)
})

test('time stands still while something outside of the simulation works', async () => {
  const clock = createVirtualClock(0)
  clock.schedule(1_000_000, () => {})
  const slow = new Promise<number>((resolve) => setTimeout(() => resolve(clock.now()), 30))
  assert.equal(await clock.runUntil(clock.outside(slow)), 0)
})
