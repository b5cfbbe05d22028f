import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateOf, SIX } from './manifests.ts'
import { asDeclared, mostReconciles, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { simulate } from './run.ts'
import { LONG, points, replay, seeds } from './volume.ts'

const FILE = 'f01-crash.test.ts'
const estate = estateOf(SIX)

test('[F-01] a crash at any effect point loses nothing and doubles nothing', async (t) => {
  let runs = 0
  let crashes = 0
  for (const seed of seeds(2, 10_000)) {
    const calm = simulate({ seed, estate })
    const whole = calm.start()
    assert.equal(await calm.untilSettled(whole), 'settled', replay(FILE, seed))
    for (const point of points(whole.points(), 60)) {
      const hint = replay(FILE, seed, point)
      const run = simulate({ seed, estate })
      const strangers = strangersOf(run.datacentre)
      const first = await run.untilSettled(run.start({ crashAt: point }))
      assert.equal(first, 'killed', `the crash point was not reached; ${hint}`)
      crashes++
      nothingDoubledOrLost(run, strangers, hint)
      run.reconciles = 0
      assert.equal(await run.untilSettled(run.start()), 'settled', `did not settle after the crash; ${hint}`)
      assert.ok(run.reconciles <= mostReconciles(SIX.length), `O7 took ${run.reconciles} reconciles; ${hint}`)
      nothingDoubledOrLost(run, strangers, hint)
      asDeclared(run, hint)
      await quietFor(run, LONG || point % 10 === 1 ? 20 : 2, hint)
      runs++
    }
  }
  t.diagnostic(`${runs} runs, ${crashes} crashes`)
})

/** Four pairs in the ordinary run, every ordered pair in the long one. */
function pairs(all: number): readonly (readonly [number, number])[] {
  if (!LONG) {
    return [
      [9, 3],
      [25, 7],
      [40, 20],
      [60, 1],
    ]
  }
  const each = Array.from({ length: all }, (_, index) => index + 1)
  return each.flatMap((one) => each.map((two) => [one, two] as const))
}

test('[F-02] a crash during the restart after a crash changes nothing about that', async () => {
  for (const seed of seeds(3, 50)) {
    const calm = simulate({ seed, estate })
    const whole = calm.start()
    await calm.untilSettled(whole)
    for (const [one, two] of pairs(whole.points())) {
      const hint = `${replay(FILE, seed)} (points ${one}, ${two})`
      const run = simulate({ seed, estate })
      const strangers = strangersOf(run.datacentre)
      await run.untilSettled(run.start({ crashAt: one }))
      await run.untilSettled(run.start({ crashAt: two }))
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      nothingDoubledOrLost(run, strangers, hint)
      asDeclared(run, hint)
    }
  }
})

test('[F-01] the same seed gives the same trace, byte for byte (O8)', async () => {
  for (const seed of seeds(3, 100)) {
    const traces = new Set<string>()
    for (let repeat = 0; repeat < 2; repeat++) {
      const run = simulate({ seed, estate })
      await run.untilSettled(run.start({ crashAt: 30 }))
      await run.untilSettled(run.start())
      traces.add(run.trace())
    }
    assert.equal(traces.size, 1, replay(FILE, seed))
  }
  const other = simulate({ seed: 4711, estate })
  await other.untilSettled(other.start())
  const another = simulate({ seed: 4712, estate })
  await another.untilSettled(another.start())
  assert.notEqual(other.trace(), another.trace(), 'a trace that never differs would prove nothing')
})
