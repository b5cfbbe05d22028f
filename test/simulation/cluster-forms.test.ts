import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterAsDeclared, createQuorumWatch, etcdOf, noSecretAnywhere } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { points, replay, seeds } from './volume.ts'

const FILE = 'cluster-forms.test.ts'
const estate = clusterEstate(clusterManifest({ agents: ['a1'] }))

test('[A4] [R4] [R17] [F-32] three servers and an agent form one cluster, and no secret is left anywhere', async (t) => {
  for (const seed of seeds(2, 200)) {
    const hint = replay(FILE, seed)
    const run = simulateCluster({ seed, estate })
    const strangers = strangersOf(run.datacentre)
    const watch = createQuorumWatch(run, hint)
    let printed = ''
    const settled = await run.untilSettled(run.start(), {
      mostMs: 3_600_000,
      onPass: (report) => {
        watch.look()
        printed += JSON.stringify([report.plan.entries, report.clusters, report.events])
      },
    })
    assert.equal(settled, 'settled', hint)
    nothingDoubledOrLost(run, strangers, hint)
    clusterAsDeclared(run, hint)
    noSecretAnywhere(run, printed, hint)
    await quietFor(run, 5, hint)
  }
  t.diagnostic(
    'every form of every secret was searched for on every datastore, in the store and in all that is printed',
  )
})

test('[F-01] a crash at any point while a cluster forms: one cluster, no second first server', async (t) => {
  let crashes = 0
  for (const seed of seeds(1, 100)) {
    const calm = simulateCluster({ seed, estate })
    const whole = calm.start()
    assert.equal(await calm.untilSettled(whole), 'settled', replay(FILE, seed))
    for (const point of points(whole.points(), 6)) {
      const hint = replay(FILE, seed, point)
      const run = simulateCluster({ seed, estate })
      const strangers = strangersOf(run.datacentre)
      const watch = createQuorumWatch(run, hint)
      const onPass = () => watch.look()
      assert.equal(await run.untilSettled(run.start({ crashAt: point }), { onPass }), 'killed', hint)
      assert.equal(await run.untilSettled(run.start(), { onPass, mostMs: 7_200_000 }), 'settled', hint)
      nothingDoubledOrLost(run, strangers, hint)
      clusterAsDeclared(run, hint)
      crashes++
    }
  }
  t.diagnostic(`${crashes} crashes`)
})

test('[F-25] a store that is lost does not make a second cluster', async () => {
  for (const seed of seeds(1, 50)) {
    const hint = replay(FILE, seed)
    const run = simulateCluster({ seed, estate })
    await run.untilSettled(run.start())
    const before = etcdOf(run, hint)?.id
    const { createMemoryStore } = await import('../../src/store/memory.ts')
    run.disk = createMemoryStore().disk
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    assert.equal(etcdOf(run, hint)?.id, before, hint)
    clusterAsDeclared(run, hint)
  }
})
