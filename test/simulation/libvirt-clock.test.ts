import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STORIES } from './libvirt-stories.ts'
import { replay } from './volume.ts'
import { WRONG_CLOCKS } from './wrong-clocks.ts'

const FILE = 'libvirt-clock.test.ts'

for (const [what, offMs] of Object.entries(WRONG_CLOCKS))
  test(`[F-22] the controller's clock ${what} while machines are made, restarted and removed: nothing comes early`, async () => {
    const hint = replay(FILE, 1)
    for (const [story, { begin, ended }] of Object.entries(STORIES)) {
      const calm = await begin(1)
      const before = calm.writes.length
      assert.equal(await calm.settle(), 'settled', hint)
      const run = await begin(1)
      let passes = 0
      let toldMs = Number.POSITIVE_INFINITY
      const off = () => {
        // In the middle of what takes its time: a guest was told to start or to shut down and has not done it yet.
        if (run.writes.slice(before).some((line) => /^(?:start|shutdown) /.test(line)))
          toldMs = Math.min(toldMs, run.clock.now())
        const sinceMs = run.clock.now() - toldMs
        return sinceMs > 400 ? offMs(sinceMs) : 0
      }
      assert.equal(await run.settle(undefined, () => passes++, off), 'settled', hint)
      ended(run, `${story}; ${hint}`)
      // The very same calls: no machine was switched off by force, no seed was taken before it was read.
      assert.deepEqual(run.writes.slice(before).toSorted(), calm.writes.slice(before).toSorted(), story)
      assert.ok(passes < 500, `${passes} passes`)
    }
  })
