import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from '../../sim/faults.ts'
import { estateOf, SIX } from './manifests.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { type Simulation, simulate } from './run.ts'
import { LONG, replay, seeds } from './volume.ts'

const FILE = 'f04-wire.test.ts'
const estate = estateOf(SIX)
const CREATE = '^POST /nodes/[^/]+/qemu$'

function creates(run: Simulation): number {
  return run.datacentre.writes.filter((write) => write.method === 'POST' && /^\/nodes\/[^/]+\/qemu$/.test(write.path))
    .length
}

async function settleUnder(seed: number, faults: readonly Fault[], timing?: Parameters<typeof simulate>[0]['timing']) {
  const run = simulate({ seed, estate, ...(timing === undefined ? {} : { timing }) })
  const strangers = strangersOf(run.datacentre)
  for (const fault of faults) run.datacentre.faults.add(fault)
  const hint = `${replay(FILE, seed)} (${JSON.stringify(faults)})`
  assert.equal(await run.untilSettled(run.start()), 'settled', hint)
  nothingDoubledOrLost(run, strangers, hint)
  asDeclared(run, hint)
  await quietFor(run, LONG ? 20 : 5, hint)
  return { run, hint }
}

test('[F-04] an answer lost after the guest was made: one guest, found by its mark', async () => {
  for (const seed of seeds(3, 200)) {
    for (let lost = 1; lost <= 5; lost++) {
      const { run, hint } = await settleUnder(seed, [{ kind: 'drop-after', match: CREATE, count: lost }])
      assert.equal(creates(run), SIX.length, `accepted creates; ${hint}`)
    }
  }
})

test('[F-04] an answer lost after any other write changes nothing either', async () => {
  for (const seed of seeds(2, 100)) {
    for (const match of ['^PUT .*/resize$', '^POST .*/status/start$', '^POST .*/download-url$', '^(PUT|POST) ']) {
      await settleUnder(seed, [{ kind: 'drop-after', match, count: 3 }])
    }
  }
})

test('[F-05] a request that never arrived is made within two reconciles of healing', async () => {
  for (const seed of seeds(3, 200)) {
    for (const sent of ['no', 'maybe'] as const) {
      const run = simulate({ seed, estate })
      run.datacentre.faults.add({ kind: 'drop-before', match: CREATE, count: 6, sent })
      const hint = `${replay(FILE, seed)} (${sent})`
      const process = run.start()
      let healed: number | undefined
      let reconciles = 0
      await run.untilSettled(process, {
        onPass: (report) => {
          const lost = run.datacentre.faults.list().length > 0
          if (!lost && healed === undefined) healed = run.clock.now()
          if (healed !== undefined && creates(run) === 0 && report.effects > 0) reconciles++
        },
      })
      assert.ok(reconciles <= 2, `${reconciles} reconciles after healing; ${hint}`)
      asDeclared(run, hint)
      assert.equal(creates(run), SIX.length, hint)
    }
  }
})

test('[F-06] storage so slow that a create takes up to 30 minutes: no second create is accepted', async () => {
  for (const seed of seeds(2, 20)) {
    for (const seconds of [1, 60, 1800]) {
      const bytes = Math.ceil(3.5 * 2 ** 30)
      const timing = { importBytesPerSecond: Math.ceil(bytes / seconds), callMs: [1, 8] as const }
      const { run, hint } = await settleUnder(seed, [], timing)
      assert.equal(creates(run), SIX.length, `accepted creates at ${seconds} s; ${hint}`)
    }
  }
})

test('[F-07] an hour in which every third call fails, in every way a call can fail', async (t) => {
  const kinds: readonly Fault[] = [
    { kind: 'fail', status: 500, reason: 'got timeout' },
    { kind: 'fail', status: 595, reason: 'Connection refused' },
    { kind: 'fail', status: 596, reason: 'Connection timed out' },
    { kind: 'fail', status: 599, reason: 'Too many redirections' },
    { kind: 'drop-before', sent: 'maybe' },
    { kind: 'drop-after' },
    { kind: 'truncated' },
    { kind: 'html' },
    { kind: 'empty' },
  ]
  const each = 1 - (1 - 0.3) ** (1 / kinds.length)
  for (const seed of seeds(3, 200)) {
    const calm = simulate({ seed, estate })
    await calm.untilSettled(calm.start())
    const calmCalls = calm.datacentre.stats().calls
    const untilMs = calm.clock.now() + 3_600_000
    const run = simulate({ seed, estate })
    const strangers = strangersOf(run.datacentre)
    const hint = replay(FILE, seed)
    for (const fault of kinds) run.datacentre.faults.add({ ...fault, probability: each, untilMs })
    const process = run.start()
    await run.untilSettled(process)
    while (run.clock.now() < untilMs) await run.passes(process, 1)
    nothingDoubledOrLost(run, strangers, hint)
    assert.equal(await run.untilSettled(process), 'settled', hint)
    nothingDoubledOrLost(run, strangers, hint)
    asDeclared(run, hint)
    await quietFor(run, LONG ? 20 : 5, hint)
    const stormMs = Math.min(3_600_000, run.clock.now() - 1_760_000_000_000)
    // A connection in trouble is asked less and less, once a minute in the end; what works in between is an ordinary
    // look. So the budget beyond twice the calm run is a look a second of the storm.
    const budget = 2 * calmCalls + (stormMs / 1000) * 4
    assert.ok(
      run.datacentre.stats().calls <= budget,
      `${run.datacentre.stats().calls} calls, budget ${budget}; ${hint}`,
    )
    t.diagnostic(`seed ${seed}: ${calmCalls} calls when calm, ${run.datacentre.stats().calls} in the storm`)
  }
})
