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

test('[F-22] our clock is half an hour ahead of the hypervisor: a dead node is made anew once', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { agents: ['a1', 'a2'], spec: '  remediation: {dataMayGo: true}\n' })
  cutOff(run, 'a2', true)
  await run.clock.advanceTo(run.clock.now() + 20 * MINUTE)
  const made = new Set<string>()
  const each = () => {
    for (const { config } of run.datacentre.world.guests.values())
      if (config.get('name') === 'a2') made.add(config.get('vmgenid') ?? '')
  }
  await keepWith(
    run,
    5 * MINUTE,
    () => 30 * MINUTE,
    () => made.size > 3,
    each,
  )
  assert.equal(made.size, 2, `it was made ${made.size - 1} times; ${hint}`)
  clusterAsDeclared(run, hint)
})
