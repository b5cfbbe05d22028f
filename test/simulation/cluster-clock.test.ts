import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutOff, follow, formed, guestOf, NEXT, type Run, upgraded } from './cluster-lab.ts'
import { clusterAsDeclared } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { LONG, replay } from './volume.ts'
import { WRONG_CLOCKS } from './wrong-clocks.ts'

const FILE = 'cluster-clock.test.ts'
const MINUTE = 60_000

/** Passes one after another for so long, by a controller whose clock goes wrong at a moment. */
async function keepWith(
  run: Run,
  ms: number,
  wallOffMs: () => number,
  over: () => boolean = () => false,
  each: () => void = () => {},
): Promise<void> {
  const process = run.start({ wallOffMs })
  const untilMs = run.clock.now() + ms
  while (run.clock.now() < untilMs && !over()) {
    await run.passes(process, 1)
    each()
  }
  process.kill()
}

/** Each takes its time: the one that did harm always, all of them in the long run. */
const TRIED = Object.entries(WRONG_CLOCKS).filter(([what]) => LONG || what === 'jumps an hour on')

for (const [what, offMs] of TRIED)
  test(`[F-22] our clock ${what} while a node is away for a few minutes: it is not taken for dead`, async () => {
    const hint = replay(FILE, 1)
    const run = await formed(1, hint, { agents: ['a1', 'a2'] })
    const before = guestOf(run, 'a1')[1].config.get('vmgenid')
    cutOff(run, 'a1', true)
    const wrongMs = run.clock.now() + 3 * MINUTE
    await keepWith(run, 6 * MINUTE, () => (run.clock.now() < wrongMs ? 0 : offMs(run.clock.now() - wrongMs)))
    assert.equal(guestOf(run, 'a1')[1].config.get('vmgenid'), before, hint)
    cutOff(run, 'a1', false)
    assert.equal((await follow(run, hint)).end, 'settled', hint)
    clusterAsDeclared(run, hint)
  })

for (const [what, offMs] of TRIED)
  test(`[F-22] our clock ${what} in the middle of an upgrade: the next server waits for its soak`, async () => {
    const hint = replay(FILE, 1)
    const spec = '  upgrade: {soak: 10m}\n'
    const run = await formed(1, hint, { spec })
    run.estate = clusterEstate(clusterManifest({ spec, version: NEXT }))
    let firstMs: number | undefined
    const soaked = () => firstMs !== undefined && run.clock.now() > firstMs + 8 * MINUTE
    const off = () => (firstMs === undefined ? 0 : offMs(run.clock.now() - firstMs))
    await keepWith(run, 30 * MINUTE, off, soaked, () => {
      if (upgraded(run, hint).length > 0) firstMs ??= run.clock.now()
    })
    assert.ok(soaked(), `none was upgraded; ${hint}`)
    assert.equal(upgraded(run, hint).length, 1, `the second came early; ${hint}`)
  })
