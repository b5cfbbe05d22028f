import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateOf, SIX } from './manifests.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { simulate } from './run.ts'
import { points, replay, seeds } from './volume.ts'

const FILE = 'f25-lost-store.test.ts'
const estate = estateOf(SIX)

test('[F-25] a lost store is rebuilt from Git and the marks without one write', async () => {
  for (const seed of seeds(5, 500)) {
    const hint = replay(FILE, seed)
    const run = simulate({ seed, estate })
    const strangers = strangersOf(run.datacentre)
    await run.untilSettled(run.start())
    const writes = run.datacentre.writes.length
    const older = createMemoryStore(run.disk).snapshot()
    run.disk = createMemoryStore().disk
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    assert.equal(run.datacentre.writes.length, writes, `writes after the store was lost; ${hint}`)
    nothingDoubledOrLost(run, strangers, hint)
    asDeclared(run, hint)
    run.disk = older
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    assert.equal(run.datacentre.writes.length, writes, `writes after an older store came back; ${hint}`)
  }
})

test('[F-25] a store lost in the middle of everything doubles nothing', async () => {
  for (const seed of seeds(2, 200)) {
    const calm = simulate({ seed, estate })
    const whole = calm.start()
    await calm.untilSettled(whole)
    for (const point of points(whole.points(), 30)) {
      const hint = replay(FILE, seed, point)
      const run = simulate({ seed, estate })
      const strangers = strangersOf(run.datacentre)
      await run.untilSettled(run.start({ crashAt: point }))
      run.disk = createMemoryStore().disk
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      nothingDoubledOrLost(run, strangers, hint)
      asDeclared(run, hint)
      await quietFor(run, 2, hint)
    }
  }
})
