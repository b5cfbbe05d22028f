import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom, estateOf, filesOf, SIX } from './manifests.ts'
import { simulate } from './run.ts'

const MACHINES = SIX.filter((machine) => machine.name === 'server-3')

test('a card of a machine that is there is not moved to a bridge that its host does not have', async () => {
  const run = simulate({ seed: 23, estate: estateOf(MACHINES) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const files = filesOf(MACHINES)
  const moved = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, text.replace(/bridge: vmbr0/, 'bridge: vmbr9')]),
  )
  assert.notDeepEqual(moved, files, 'the card is declared on vmbr0')
  run.estate = estateFrom(moved)
  const writes = run.datacentre.writes.length
  const reports = await run.passes(run.start(), 3)
  for (const { plan } of reports) {
    const action = plan.entries.find(({ key }) => key === 'EnvironmentVM/server-3')?.action
    assert.ok(action?.do === 'refuse', JSON.stringify(action))
    assert.equal(action.guard, 'placement')
    assert.equal(action.reason, 'a network card needs bridge vmbr9, which is not on host fun-bedbug')
    assert.match(action.allow, /^fun-bedbug has vmbr0.*: choose one of them, or declare a ProxmoxBridge vmbr9/)
  }
  assert.equal(run.datacentre.writes.length, writes, 'nothing is written')
  run.datacentre.world.hosts.get('fun-bedbug')?.interfaces.set('vmbr9', { type: 'bridge', active: 1 })
  await run.clock.advanceTo(run.clock.now() + 60_000)
  assert.equal(await run.untilSettled(run.start()), 'settled', 'as soon as there is one')
  assert.match(run.datacentre.world.guests.get(203)?.config.get('net0') ?? '', /bridge=vmbr9/)
})
