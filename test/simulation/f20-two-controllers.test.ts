import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../src/lib/random.ts'
import { StaleEpoch } from '../../src/store/port.ts'
import { estateOf, SIX } from './manifests.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import type { Process } from './process.ts'
import { type Simulation, simulate } from './run.ts'
import { points, replay, seeds } from './volume.ts'

const FILE = 'f20-two-controllers.test.ts'
const estate = estateOf(SIX)

/** Lets a controller run until it is done or refused as one whose time is over. */
async function run(simulation: Simulation, process: Process): Promise<'settled' | 'stale' | 'other'> {
  const signal = new AbortController().signal
  try {
    const { outcome } = await process.engine.settle(simulation.estate, { signal, deadlineMs: 3_600_000 })
    return outcome === 'settled' ? 'settled' : 'other'
  } catch (error) {
    if (error instanceof StaleEpoch) return 'stale'
    throw error
  }
}

test('[F-20] two controllers at once: the older stops, nothing is doubled, nothing is lost', async (t) => {
  let stale = 0
  for (const seed of seeds(25, 10_000)) {
    const hint = replay(FILE, seed)
    const both = simulate({ seed, estate })
    const strangers = strangersOf(both.datacentre)
    const headStartMs = Math.floor(seededRandom(seed).next() * 20_000)
    const first = run(both, both.start())
    const second = both.clock.sleep(headStartMs).then(() => run(both, both.start()))
    const [one, two] = await both.clock.runUntil(Promise.all([first, second]), { maxMs: 24 * 3_600_000 })
    assert.equal(two, 'settled', `the newer controller ended ${two}; ${hint}`)
    // It may have been done before the second began.
    assert.ok(one === 'stale' || one === 'settled', `the older controller ended ${one}; ${hint}`)
    if (one === 'stale') stale++
    nothingDoubledOrLost(both, strangers, hint)
    asDeclared(both, hint)
    await quietFor(both, 2, hint)
  }
  assert.ok(stale > 0, 'they never met: the test would prove nothing')
  t.diagnostic(`${stale} times the older one was turned away`)
})

test('[F-21] a controller that stood still and wakes in the middle of an effect does no harm', async (t) => {
  let woken = 0
  for (const seed of seeds(1, 100)) {
    const calm = simulate({ seed, estate })
    const whole = calm.start()
    await calm.untilSettled(whole)
    for (const point of points(whole.points(), 40)) {
      const hint = replay(FILE, seed, point)
      const both = simulate({ seed, estate })
      const strangers = strangersOf(both.datacentre)
      const sleeper = both.start({ pauseAt: point })
      const slept = run(both, sleeper)
      await both.clock.runUntil(sleeper.standstill, { maxMs: 24 * 3_600_000 })
      assert.equal(await both.untilSettled(both.start()), 'settled', `the newer controller; ${hint}`)
      const writes = both.datacentre.writes.length
      sleeper.wake()
      const end = await both.clock.runUntil(slept, { maxMs: 24 * 3_600_000 })
      // One that finds nothing to do may end without ever touching the store; all it may do is finish its one call.
      assert.ok(end === 'stale' || end === 'settled', `it ended ${end}; ${hint}`)
      assert.ok(both.datacentre.writes.length - writes <= 1, `O4 it went on; ${hint}`)
      if (end === 'stale') woken++
      nothingDoubledOrLost(both, strangers, hint)
      assert.equal(await both.untilSettled(both.start()), 'settled', `after the late effect; ${hint}`)
      nothingDoubledOrLost(both, strangers, hint)
      asDeclared(both, hint)
      await quietFor(both, 2, hint)
    }
  }
  assert.ok(woken > 0, 'it was never turned away: the test would prove nothing')
  t.diagnostic(`turned away ${woken} times`)
})
