import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asDeclared, begin, type Run } from './every-item.ts'
import { replay, seeds } from './volume.ts'
import { WRONG_CLOCKS } from './wrong-clocks.ts'

const FILE = 'host-clock.test.ts'

for (const [what, offMs] of Object.entries(WRONG_CLOCKS)) {
  test(`[F-22] the controller's clock ${what} in the middle: nothing is done twice, and no storm begins`, async () => {
    for (const seed of seeds(1, 20)) {
      const hint = replay(FILE, seed)
      const calm = await settled(begin(seed), hint)
      const run = begin(seed)
      const startMs = run.clock.now()
      const wallOffMs = () => {
        const elapsedMs = run.clock.now() - startMs
        return elapsedMs > 400 ? offMs(elapsedMs) : 0
      }
      const passes = await settled(run, hint, wallOffMs)
      asDeclared(run, hint)
      const deeds = (one: Run) => one.deedsOf('duck').filter((deed) => !deed.startsWith('mkdir'))
      assert.deepEqual(deeds(run).toSorted(), deeds(calm.run).toSorted(), `each thing is done once; ${hint}`)
      assert.ok(passes.count < calm.count * 2 + 20, `${passes.count} passes instead of ${calm.count}; ${hint}`)
      // And it stays calm afterwards: only an occasional look.
      const reports = await run.passes(run.start({ wallOffMs }), 5)
      assert.deepEqual(
        reports.map(({ effects }) => effects),
        [0, 0, 0, 0, 0],
        hint,
      )
      assert.ok(
        reports.every(({ lookAgainMs }) => lookAgainMs >= 1_000),
        hint,
      )
    }
  })
}

async function settled(run: Run, hint: string, wallOffMs?: () => number) {
  let count = 0
  const process = run.start(wallOffMs === undefined ? {} : { wallOffMs })
  assert.equal(await run.untilSettled(process, { onPass: () => count++ }), 'settled', hint)
  return { run, count }
}
