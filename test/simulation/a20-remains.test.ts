import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateOf, SIX } from './manifests.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { type Simulation, simulate } from './run.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'a20-remains.test.ts'
const HOST = 'fun-bedbug'
const declared = estateOf(SIX.filter((machine) => machine.name === 'server-3'))
const chosen = estateOf(SIX.filter((machine) => machine.name === 'agent-3'))

/** Until a disk of the new guest is allocated and nothing but a lock is written yet. */
async function halfMade(run: Simulation): Promise<number> {
  for (let step = 0; step < 2_000; step++) {
    const guest = [...run.datacentre.world.guests.values()].find((one) => one.config.get('lock') === 'create')
    if (guest !== undefined && disksOf(run, guest.vmid).length > 0) return guest.vmid
    await run.clock.advanceTo(run.clock.now() + 20)
  }
  return assert.fail('nothing was ever half made')
}

function disksOf(run: Simulation, vmid: number): readonly string[] {
  const host = run.datacentre.world.hosts.get(HOST)
  return [...(host?.volumes ?? [])].flatMap(([storage, volumes]) =>
    [...volumes.values()].filter((volume) => volume.vmid === vmid).map((volume) => `${storage}:${volume.name}`),
  )
}

/** What a person does who lost the guest's configuration and not its disks. */
function forgetGuest(run: Simulation, vmid: number): void {
  run.datacentre.world.guests.delete(vmid)
}

for (const [what, estate] of [
  ['a declared id', declared],
  ['an id that croft chose', chosen],
] as const) {
  test(`[A20] a host loses power after the disk of ${what} was allocated: the command is told, then one guest and no orphan`, async () => {
    for (const seed of seeds(4, 200)) {
      const hint = replay(FILE, seed)
      const run = simulate({ seed, estate, timing: { importBytesPerSecond: 100_000_000 } })
      const before = strangersOf(run.datacentre)
      const first = run.start()
      const stop = new AbortController()
      const work = first.engine.settle(estate, { signal: stop.signal, deadlineMs: 3_600_000 })
      const vmid = await halfMade(run)
      run.datacentre.hostPower(HOST, 'off')
      first.kill()
      stop.abort()
      void work.catch(() => undefined)
      await run.clock.advanceTo(run.clock.now() + 60_000)
      run.datacentre.hostPower(HOST, 'on')
      assert.equal(run.datacentre.world.guests.get(vmid)?.config.get('lock'), 'create', hint)

      // Only root can lift the lock: the plan says how.
      const second = run.start()
      const reports = await run.passes(second, 12)
      const entry = reports.at(-1)?.plan.entries.find((one) => one.key.startsWith('EnvironmentVM/'))
      assert.ok(entry?.action.do === 'refuse', `${JSON.stringify(entry)}; ${hint}`)
      const command = `qm unlock ${vmid} && qm destroy ${vmid}`
      assert.ok(entry.action.allow.endsWith(command), `${entry.action.allow}; ${hint}`)
      assert.equal(run.datacentre.world.guests.size, before.guests.size + 1, `a second one was made; ${hint}`)

      // The configuration goes, the disk stays behind.
      forgetGuest(run, vmid)
      const orphans = disksOf(run, vmid)
      assert.ok(orphans.length > 0, hint)
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      nothingDoubledOrLost(run, before, hint)
      asDeclared(run, hint)
      // What is left belongs to the one guest there is: its disk, and the drive of cloud-init.
      assert.equal(disksOf(run, vmid).length, 2, `${disksOf(run, vmid).join(' ')}; ${hint}`)
      await quietFor(run, 5, hint)
    }
  })
}

test('[A20] a volume under the same id that is older than our attempt is nobody’s business of ours', async () => {
  const run = simulate({ seed: 1, estate: declared, timing: { importBytesPerSecond: 100_000_000 } })
  const local = run.datacentre.world.hosts.get(HOST)?.volumes.get('local')
  local?.set('203/vm-203-disk-9.raw', {
    name: '203/vm-203-disk-9.raw',
    content: 'images',
    format: 'raw',
    sizeBytes: 5,
    vmid: 203,
    ctimeSeconds: Math.floor(run.clock.now() / 1000) - 86_400,
  })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.ok(local?.has('203/vm-203-disk-9.raw'))
  run.datacentre.removeGuest(203)
  local?.set('203/vm-203-disk-9.raw', {
    name: '203/vm-203-disk-9.raw',
    content: 'images',
    format: 'raw',
    sizeBytes: 5,
    vmid: 203,
    ctimeSeconds: Math.floor(run.clock.now() / 1000) - 86_400,
  })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.ok(local?.has('203/vm-203-disk-9.raw'), 'somebody else’s volume was deleted')
})
