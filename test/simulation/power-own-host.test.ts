import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PassReport } from '../../src/engine/engine.ts'
import { everyStep } from './power-fault-cases.ts'
import { OWN_FAULTS } from './power-fault-table.ts'
import { nothingLeft, order, orderOf, running, until, untilPhase } from './power-run.ts'
import { OWN_HOST, site } from './power-site.ts'

test('[A45] the host that croft runs on goes last, by a unit of its own; what that wrote is told once, on the next start', async () => {
  const lab = await site(8, { croftInside: true })
  const { simulation, hint, replicas } = lab
  const { world } = simulation.datacentre
  const told: string[] = []
  const onPass = ({ events }: PassReport) => {
    for (const { reason, message } of events) if (reason === 'LastWords') told.push(message)
  }
  await order(simulation, orderOf(simulation, 'off'))
  const first = await lab.start()
  assert.equal(await untilPhase(simulation, first, 'Off', { mostMs: 1_800_000, onPass }), 'killed', hint)
  for (const { name, power } of world.hosts.values()) assert.equal(power, 'off', `${name}; ${hint}`)
  assert.equal(world.metal.get(OWN_HOST)?.power, 'off', hint)
  assert.deepEqual(told, [], 'nothing was left to say before it went')

  // A person presses the button: croft is back, everything else stays as ordered.
  for (let start = 0; start < 2; start++) {
    const next = await lab.start()
    assert.equal(await untilPhase(simulation, next, 'Off', { mostMs: 600_000, onPass }), 'reached', hint)
    await until(simulation, next, () => false, 120_000)
    assert.deepEqual(running(simulation.datacentre), [], hint)
    assert.equal(world.hosts.get(OWN_HOST)?.power, 'on', `it was switched off under whoever started it; ${hint}`)
  }
  assert.equal(told.length, 2, told.join('\n'))
  assert.match(told[0] ?? '', /everything else is off$/)
  assert.match(told[1] ?? '', /power off$/)

  await order(simulation, orderOf(simulation, 'on'))
  assert.equal(await untilPhase(simulation, await lab.start(), 'On', { mostMs: 1_800_000, onPass }), 'reached', hint)
  assert.equal(told.length, 2, told.join('\n'))
  nothingLeft(simulation, replicas, hint)
  lab.asBefore(hint)
})

test('[A45] the host that croft runs on goes at any step of off and on, and is started again', (t) =>
  everyStep(t, 'power-own-host.test.ts', OWN_FAULTS, { ordinary: 1, croftInside: true }))
