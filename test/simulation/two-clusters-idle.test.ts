import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'two-clusters-idle.test.ts'
const TEN_MINUTES_MS = 600_000

/** A second cluster beside the first, of one server. */
const EDGE = clusterManifest({ servers: ['e1'] })
  .replace('{name: homelab}', '{name: edge}')
  .replace('192.168.4.79', '192.168.4.78')

test('[A57] two idle clusters for ten minutes: nothing is written, anywhere, and looks are few', async (t) => {
  for (const seed of seeds(1, 20)) {
    const hint = replay(FILE, seed)
    const run = simulateCluster({ seed, estate: clusterEstate(`${clusterManifest()}${EDGE}`) })
    const process = run.start()
    assert.equal(await run.untilSettled(process, { mostMs: 3_600_000 }), 'settled', hint)
    // What a cluster does by itself after it has formed is over.
    await run.clock.advanceTo(run.clock.now() + TEN_MINUTES_MS)
    await run.passes(process, 3)
    run.requests.length = 0
    const records = JSON.stringify([...run.disk.records.values()])
    const events = run.disk.events.length
    const untilMs = run.clock.now() + TEN_MINUTES_MS
    let passes = 0
    while (run.clock.now() < untilMs) {
      for (const report of await run.passes(process, 1)) {
        assert.equal(report.effects, 0, hint)
        assert.equal(report.settled, true, hint)
        passes++
      }
    }
    // A node is asked through the agent of its hypervisor, which is a POST and changes nothing.
    const asked = run.requests.filter((line) => line.includes('/agent/exec'))
    assert.deepEqual(
      run.requests.filter((line) => !line.includes('/agent/')),
      [],
      hint,
    )
    assert.ok(asked.length <= 4 * 2, `${asked.length} questions to four nodes; ${hint}`)
    assert.equal(run.disk.events.length, events, `something was told; ${hint}`)
    assert.equal(JSON.stringify([...run.disk.records.values()]), records, `something was written down; ${hint}`)
    t.diagnostic(`${passes} passes, ${asked.length} questions to nodes, no write`)
  }
})
