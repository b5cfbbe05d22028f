import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seen } from './libvirt-machines.ts'
import type { LibvirtRun } from './libvirt-run.ts'
import { STORIES } from './libvirt-stories.ts'
import { replay, seeds } from './volume.ts'

/* The libvirt driver and the whole engine, killed before and after every single call. */

const FILE = 'libvirt-crashes.test.ts'

/** What is there once every guest has heard its name. */
async function later(run: LibvirtRun): Promise<unknown> {
  await run.clock.advanceTo(run.clock.now() + 60_000)
  return seen(run)
}

for (const [when, { begin, ended }] of Object.entries(STORIES))
  test(`[F-01] [F-23] killed before and after every call ${when}: the same end, nothing twice, nothing left`, async (t) => {
    let crashes = 0
    for (const seed of seeds(1, 50)) {
      const calm = await begin(seed)
      assert.equal(await calm.settle(), 'settled', replay(FILE, seed))
      ended(calm, replay(FILE, seed))
      for (let point = 1; point <= calm.points(); point++) {
        const hint = replay(FILE, seed, point)
        const run = await begin(seed)
        assert.equal(await run.settle(point), 'killed', hint)
        assert.equal(await run.settle(), 'settled', hint)
        ended(run, hint)
        assert.deepEqual(await later(run), await later(calm), hint)
        crashes++
      }
    }
    t.diagnostic(`${crashes} crashes`)
  })
