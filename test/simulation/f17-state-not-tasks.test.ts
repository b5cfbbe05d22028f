import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateOf, SIX } from './manifests.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { simulate } from './run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'f17-state-not-tasks.test.ts'
const estate = estateOf(SIX)
const MINUTE = 60_000

test('[F-17] what counts is the state, not what a task said: one that is off is started, one that is on is not', async () => {
  for (const seed of seeds(3, 100)) {
    const hint = replay(FILE, seed)
    const run = simulate({ seed, estate })
    const strangers = strangersOf(run.datacentre)
    await run.untilSettled(run.start())
    // The start task was reported well, and the guest is off all the same.
    run.datacentre.patchGuest(201, { status: 'stopped' })
    // A start is refused although the guest runs: another client was faster.
    run.datacentre.faults.add({
      match: 'POST .*/qemu/202/status/start',
      kind: 'fail',
      status: 500,
      reason: 'VM 202 already running',
    })
    // Lists are up to twelve seconds old: by then they tell.
    await run.clock.advanceTo(run.clock.now() + 15_000)
    const before = run.requests.length
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    const since = run.requests.slice(before)
    assert.ok(
      since.some((line) => line.includes('/qemu/201/status/start')),
      `201 was not started; ${hint}`,
    )
    assert.ok(!since.some((line) => line.includes('/qemu/202/')), `202 was touched; ${hint}`)
    nothingDoubledOrLost(run, strangers, hint)
    asDeclared(run, hint)
    await quietFor(run, 3, hint)
  }
})

test('[F-18] a Proxmox cluster without quorum is looked at and not written to, and goes on by itself', async () => {
  for (const seed of seeds(3, 100)) {
    const hint = replay(FILE, seed)
    const run = simulate({ seed, estate })
    const strangers = strangersOf(run.datacentre)
    run.datacentre.setQuorum(false)
    const process = run.start()
    const reports = await run.passes(process, 12)
    assert.equal(run.datacentre.writes.length, 0, `something was written without quorum; ${hint}`)
    assert.ok(
      reports.every(({ plan }) => plan.entries.length > 0),
      `it stopped looking; ${hint}`,
    )
    const tries = run.requests.length
    assert.ok(tries <= 40, `${tries} attempts on a cluster that takes none; ${hint}`)
    run.datacentre.setQuorum(true)
    assert.equal(await run.untilSettled(process), 'settled', hint)
    nothingDoubledOrLost(run, strangers, hint)
    asDeclared(run, hint)
  }
})

test('[F-19] hosts that fall silent one after the other: the others go on, nothing is made elsewhere', async () => {
  for (const seed of seeds(2, 100)) {
    const hint = replay(FILE, seed)
    const run = simulate({ seed, estate })
    const strangers = strangersOf(run.datacentre)
    await run.untilSettled(run.start())
    const homes = () =>
      SIX.map(
        ({ name }) => [...run.datacentre.world.guests.values()].find((one) => one.config.get('name') === name)?.node,
      )
    const before = homes()
    const process = run.start()
    for (const host of ['fun-bedbug', 'still-fawn']) {
      run.datacentre.hostPower(host, 'off')
      await run.passes(process, 4)
      await run.clock.advanceTo(run.clock.now() + 5 * MINUTE)
    }
    assert.deepEqual(homes(), before, `a machine was made or moved elsewhere; ${hint}`)
    for (const host of ['still-fawn', 'fun-bedbug']) {
      run.datacentre.hostPower(host, 'on')
      await run.passes(process, 4)
      await run.clock.advanceTo(run.clock.now() + MINUTE)
    }
    assert.equal(await run.untilSettled(process), 'settled', hint)
    nothingDoubledOrLost(run, strangers, hint)
    asDeclared(run, hint)
    await quietFor(run, 3, hint)
  }
})
