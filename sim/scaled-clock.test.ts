import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScaledClock } from './scaled-clock.ts'

test('a clock that runs a thousand times as fast never wakes before the time it was asked for', async () => {
  const clock = createScaledClock(1000)
  const [wall, monotonic] = [clock.now(), clock.monotonicMs()]
  await clock.sleep(5_000)
  assert.ok(clock.now() - wall >= 4_999)
  assert.ok(clock.monotonicMs() - monotonic >= 5_000)
})

test('a sleep that is called off ends, and so does one that was called off before', async () => {
  const clock = createScaledClock(1)
  const abort = new AbortController()
  const slept = clock.sleep(3_600_000, abort.signal)
  abort.abort()
  await slept
  await clock.sleep(3_600_000, abort.signal)
})

test('what is scheduled happens in order, and not when it was called off', async () => {
  const clock = createScaledClock(1000)
  const seen: string[] = []
  clock.schedule(clock.now() + 20_000, () => seen.push('late'))
  clock.schedule(clock.now() + 5_000, () => seen.push('early'))
  clock.schedule(clock.now() + 10_000, () => seen.push('never')).cancel()
  await clock.sleep(60_000)
  assert.deepEqual(seen, ['early', 'late'])
})
