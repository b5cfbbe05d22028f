import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateOf, SIX } from './manifests.ts'
import { onKubernetes } from './on-kubernetes.ts'
import { asDeclared, mostReconciles, nothingDoubledOrLost, strangersOf } from './oracle.ts'
import { points, replay, seeds } from './volume.ts'

const FILE = 'kubernetes-store-crash.test.ts'
const estate = estateOf(SIX)
test('[F-01] on a store in Kubernetes a crash at any effect, also in the middle of a store write, loses and doubles nothing', async (t) => {
  let runs = 0
  for (const seed of seeds(1, 1_000)) {
    const calm = await onKubernetes({ seed, estate })
    const whole = calm.run.start()
    assert.equal(await calm.run.untilSettled(whole), 'settled', replay(FILE, seed))
    assert.ok(whole.points() > 200, `${whole.points()} points: the writes of the store are among them`)
    for (const point of points(whole.points(), 20)) {
      const hint = replay(FILE, seed, point)
      const { run, look } = await onKubernetes({ seed, estate })
      const strangers = strangersOf(run.datacentre)
      assert.equal(await run.untilSettled(run.start({ crashAt: point })), 'killed', hint)
      await look()
      nothingDoubledOrLost(run, strangers, hint)
      run.reconciles = 0
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      assert.ok(run.reconciles <= mostReconciles(SIX.length), `O7 took ${run.reconciles} reconciles; ${hint}`)
      await look()
      nothingDoubledOrLost(run, strangers, hint)
      asDeclared(run, hint)
      runs++
    }
  }
  t.diagnostic(`${runs} runs`)
})

test('[F-20] on a store in Kubernetes a process that stood still at any effect cannot write once another has begun', async () => {
  for (const seed of seeds(1, 200)) {
    const calm = await onKubernetes({ seed, estate })
    const whole = calm.run.start()
    assert.equal(await calm.run.untilSettled(whole), 'settled', replay(FILE, seed))
    for (const point of points(whole.points(), 8)) {
      const hint = replay(FILE, seed, point)
      const { run, look } = await onKubernetes({ seed, estate })
      const strangers = strangersOf(run.datacentre)
      const paused = run.start({ pauseAt: point })
      const signal = new AbortController().signal
      // It ends because another process started a new epoch; its last answer may be either.
      const old = paused.engine.settle(run.estate, { signal, deadlineMs: 3_600_000 }).catch(() => undefined)
      await run.clock.runUntil(Promise.race([paused.standstill, old]), { maxMs: 3_600_000 })
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      paused.wake()
      await run.clock.runUntil(old, { maxMs: 7_200_000 })
      await look()
      nothingDoubledOrLost(run, strangers, hint)
      asDeclared(run, hint)
    }
  }
})
