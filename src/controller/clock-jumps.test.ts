import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, SIX } from '../../test/simulation/manifests.ts'
import { WRONG_CLOCKS } from '../../test/simulation/wrong-clocks.ts'
import { startHarness } from './testing/harness.ts'

const TWO = SIX.slice(0, 2)

for (const [what, offMs] of Object.entries(WRONG_CLOCKS)) {
  test(`[F-22] the controller's clock ${what}: it goes on looking at its pace, follows the next push and stays calm`, async () => {
    let jumpedMs: number | undefined
    const wallOffMs = () => (jumpedMs === undefined ? 0 : offMs(harness.clock.now() - jumpedMs))
    const harness = await startHarness({ machines: TWO, pollMs: 30_000, wallOffMs })
    const settled = () => {
      const { resources } = harness.controller.view()
      return resources.length === 4 && resources.every(({ action }) => action.do === 'nothing')
    }
    // Jump while writes are running.
    await harness.until(() => harness.writes.length >= 2)
    jumpedMs = harness.clock.now()
    await harness.until(settled, 300_000)
    await harness.pass(60_000)
    const looked = () => harness.controller.counters()
    const before = { ...looked() }
    harness.calls()
    await harness.pass(600_000)
    const passes = looked().passes - before.passes
    assert.ok(passes >= 30 && passes <= 70, `${passes} passes in ten minutes`)
    const looks = looked().sourceLooks - before.sourceLooks
    assert.ok(looks >= 15 && looks <= 25, `${looks} looks at the source in ten minutes`)
    assert.ok(harness.calls() < 70 * 10, 'no storm of calls')
    const writes = harness.writes.length
    harness.push(filesOf(SIX.slice(0, 3)))
    await harness.until(() => harness.writes.length > writes, 60_000)
    await harness.until(
      () => harness.controller.view().resources.length >= 5 && harness.datacentre.world.guests.has(203),
    )
    await harness.stop()
  })
}
