import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom, estateOf, filesOf, SIX } from './manifests.ts'
import { nothingDoubledOrLost, strangersOf } from './oracle.ts'
import { simulate } from './run.ts'

const MACHINES = SIX.filter((machine) => machine.name === 'server-3')

for (const [how, note] of [
  ['HA', /^moved \(HA\): declared on fun-bedbug, runs on still-fawn/],
  ['a person', /^moved: declared on fun-bedbug, runs on still-fawn/],
] as const) {
  test(`[A22] a machine that ${how} moved is followed and reported: no create, no destroy, and it is kept where it is`, async () => {
    const run = simulate({ seed: 22, estate: estateOf(MACHINES) })
    const before = strangersOf(run.datacentre)
    assert.equal(await run.untilSettled(run.start()), 'settled')
    if (how === 'HA') {
      const resources = run.datacentre.world.shelves.get('ha/resources') ?? new Map()
      resources.set('vm:203', { sid: 'vm:203', type: 'vm', state: 'started' })
      run.datacentre.world.shelves.set('ha/resources', resources)
    }
    run.datacentre.patchGuest(203, { node: 'still-fawn' })
    const writes = run.datacentre.writes.length
    const reports = await run.passes(run.start(), 6)
    for (const { plan } of reports) {
      const entry = plan.entries.find(({ key }) => key === 'EnvironmentVM/server-3')
      assert.ok(entry?.action.do === 'nothing' || entry?.action.do === 'wait', JSON.stringify(entry?.action))
      assert.equal(entry.host, 'still-fawn')
      assert.match(entry.notes?.[0] ?? '', note)
    }
    assert.equal(run.datacentre.writes.length, writes)
    assert.equal(run.disk.records.get('EnvironmentVM/server-3')?.host, 'still-fawn')

    // Later declarations are applied where it is.
    run.estate = estateOf(MACHINES.map((machine) => ({ ...machine, diskGb: 25 })))
    assert.equal(await run.untilSettled(run.start()), 'settled')
    const guest = run.datacentre.world.guests.get(203)
    assert.equal(guest?.node, 'still-fawn')
    assert.match(guest?.config.get('scsi0') ?? '', /size=25G/)
    nothingDoubledOrLost(run, before, how)

    // And it is removed where it is.
    const { 'machines/server-3.yaml': _, ...rest } = filesOf(MACHINES)
    run.estate = estateFrom(rest)
    assert.equal(await run.untilSettled(run.start()), 'settled')
    assert.equal(run.datacentre.world.guests.has(203), false)
  })
}
