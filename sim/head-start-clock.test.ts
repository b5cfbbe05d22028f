import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHeadStart } from './head-start-clock.ts'
import { createVirtualClock } from './virtual-clock.ts'

const NOW = 1_790_000_000_000

test('what was due in the past has happened, and what lies ahead happens once, on the other clock', async () => {
  const present = createVirtualClock(NOW)
  const { clock, letGo } = createHeadStart(present, 60_000)
  const seen: string[] = []
  const at = (ms: number, name: string) => clock.schedule(NOW + ms, () => seen.push(`${name} ${clock.now() - NOW}`))
  assert.equal(clock.now(), NOW - 60_000)
  at(-30_000, 'past')
  at(5_000, 'ahead')
  const [before, after] = [at(6_000, 'called off before'), at(7_000, 'called off after')]
  before.cancel()
  await letGo()
  assert.deepEqual(seen, ['past -30000'])
  assert.equal(clock.now(), NOW)
  after.cancel()
  await present.advanceTo(NOW + 10_000)
  assert.deepEqual(seen, ['past -30000', 'ahead 5000'])
})

test('what somebody measures goes on where the past ended', async () => {
  const present = createVirtualClock(NOW)
  const { clock, past, letGo } = createHeadStart(present, 60_000)
  assert.equal(clock.monotonicMs(), -60_000)
  await past.advanceTo(NOW - 1_000)
  assert.equal(clock.monotonicMs(), -1_000)
  await letGo()
  await present.advanceTo(NOW + 500)
  assert.equal(clock.monotonicMs(), 500)
})
