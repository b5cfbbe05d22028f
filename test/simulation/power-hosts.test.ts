import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PassReport } from '../../src/engine/engine.ts'
import { magicPacket } from '../../src/lib/wake.ts'
import type { Datacentre } from '../../src/sim/datacentre.ts'
import { HOSTS, macOf } from './cluster-run.ts'
import { formed, nothingLeft, order, orderOf, running, untilPhase } from './power-run.ts'

/** Hosts that wake when they hear their address called, half a minute later. */
function wakers(packets: string[]) {
  return ({ world, hostPower }: Datacentre) => ({
    async sendDatagram(_address: string, _port: number, bytes: Uint8Array) {
      const name = HOSTS.find((host) => Buffer.compare(bytes, magicPacket(macOf(host))) === 0)
      assert.ok(name, 'a packet for nobody')
      packets.push(name)
      if (world.hosts.get(name)?.power === 'on') return
      world.clock.schedule(world.clock.now() + 30_000, () => hostPower(name, 'on'))
    },
  })
}

const HOST_LINES = `  hosts: [${HOSTS.map((name) => `{name: ${name}}`).join(', ')}]\n`
const GATE = `---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: gate, labels: {croft.dev/infrastructure: "true"}}
spec: {host: fun-bedbug, class: node, networks: [{network: lan}]}
`

test('[A41] [A43] [A49] hosts go off and are woken; the gateway stops last and starts first', async () => {
  const packets: string[] = []
  const { simulation, process, storage, hint, replicas } = await formed(21, HOST_LINES, {
    manifests: GATE,
    power: wakers(packets),
  })
  const { world } = simulation.datacentre
  const gate = [...world.guests.values()].find((guest) => guest.config.get('name') === 'gate')
  assert.ok(gate, hint)
  const story: string[] = []
  const note = () => {
    const guests = [...world.guests.values()].filter(({ run, vmid }) => run.status === 'running' && vmid !== gate.vmid)
    const line = `${guests.length > 0 ? 'nodes ' : ''}${gate.run.status === 'running' ? 'gate ' : ''}${
      [...world.hosts.values()].filter(({ power }) => power === 'on').length
    } hosts`
    if (story.at(-1) !== line) story.push(line)
  }
  await order(simulation, orderOf(simulation, 'off'))
  assert.equal(await untilPhase(simulation, process, 'Off', { onPass: note, mostMs: 1_200_000 }), 'reached', hint)
  note()
  assert.deepEqual(
    [...world.hosts.values()].map(({ power }) => power),
    ['off', 'off', 'off'],
    hint,
  )
  assert.deepEqual(storage.torn, [], hint)
  assert.equal(story[0], 'nodes gate 3 hosts', story.join(' | '))
  assert.ok(story.includes('gate 1 hosts'), story.join(' | '))
  assert.equal(story.at(-1), '0 hosts', story.join(' | '))

  // Nothing comes back by itself, whoever looks.
  process.kill()
  const next = simulation.start()
  packets.length = 0
  for (let pass = 0; pass < 5; pass++) {
    await simulation.clock.runUntil(next.engine.pass(simulation.estate, new AbortController().signal), {
      maxMs: 600_000,
    })
    await simulation.clock.advanceTo(simulation.clock.now() + 120_000)
  }
  assert.deepEqual(packets, [], hint)

  story.length = 0
  await order(simulation, orderOf(simulation, 'on'))
  const lines: string[] = []
  const onPass = (report: PassReport) => {
    note()
    const decision = report.powers?.[0]?.decision
    lines.push(
      `${decision?.phase} ${decision?.steps.map(({ summary }) => summary).join()} ${decision?.waits[0]?.awaits}`,
    )
  }
  assert.equal(
    await untilPhase(simulation, next, 'On', { onPass, mostMs: 1_800_000 }),
    'reached',
    `${hint} ${[...new Set(lines)].slice(-8).join('\n')}`,
  )
  assert.deepEqual(new Set(packets), new Set(HOSTS), hint)
  const first = story.find((line) => line.includes('gate') || line.includes('nodes'))
  assert.ok(first?.startsWith('gate'), story.join(' | '))
  nothingLeft(simulation, replicas, hint)
})

test('power that is lost in the middle of a power-off, and comes back: it goes on, and all returns at last', async () => {
  const packets: string[] = []
  const { simulation, process, hint, replicas } = await formed(22, HOST_LINES, { power: wakers(packets) })
  await order(simulation, orderOf(simulation, 'off'))
  let lost = false
  const cut = (report: PassReport) => {
    const going = report.powers?.[0]?.decision.steps.some((step) => step.tier === 'workers' && step.do === 'stop-k3s')
    if (lost || going !== true) return
    lost = true
    for (const name of HOSTS) simulation.datacentre.hostPower(name, 'off')
    const { clock } = simulation
    clock.schedule(clock.now() + 90_000, () => {
      for (const name of HOSTS) simulation.datacentre.hostPower(name, 'on')
    })
  }
  // Where everything was lost at once there is nothing to go on with; the order stands, and stays.
  const down = await untilPhase(simulation, process, 'Off', { onPass: cut, mostMs: 1_800_000 })
  assert.equal(down, 'reached', hint)
  assert.ok(lost)
  assert.deepEqual(running(simulation.datacentre), [], hint)
  await order(simulation, orderOf(simulation, 'on'))
  assert.equal(await untilPhase(simulation, process, 'On', { mostMs: 3_600_000 }), 'reached', hint)
  nothingLeft(simulation, replicas, hint)
})
