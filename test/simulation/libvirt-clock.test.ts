import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STORIES } from './libvirt-stories.ts'
import { replay } from './volume.ts'

const FILE = 'libvirt-clock.test.ts'
const HOUR_MS = 3_600_000
const CLOCKS: Readonly<Record<string, (elapsedMs: number) => number>> = {
  'jumps an hour on': () => HOUR_MS,
  'jumps an hour back': () => -HOUR_MS,
  'jumps ten years on': () => 10 * 365 * 24 * HOUR_MS,
  'is slow by half': (elapsedMs) => -elapsedMs / 2,
}

for (const [what, offMs] of Object.entries(CLOCKS))
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
