import assert from 'node:assert/strict'
import type { Datacentre } from '../../sim/datacentre.ts'
import { addBox, switchOn } from '../../sim/metal/box.ts'
import { disarmState } from '../../sim/proxmox/handlers/ha/power.ts'
import { shelf } from '../../sim/proxmox/handlers/shelf.ts'
import { magicPacket } from '../../src/lib/wake.ts'
import { clusterEstate, clusterManifest, HOSTS, macOf } from './cluster-run.ts'
import { formed, powerManifest } from './power-run.ts'
import type { Process, Strike } from './process.ts'

/** Where croft runs, in a site in which it is on one of the hosts that are switched. */
export const OWN_HOST = 'fun-bedbug'

const HOST_LINES = `  hosts: [${HOSTS.map((name) => `{name: ${name}, watts: {on: 60, off: 2}}`).join(', ')}]\n`

const GATE = `---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: gate, labels: {croft.dev/infrastructure: "true"}}
spec: {host: ${OWN_HOST}, class: node, networks: [{network: lan}]}
`

/** One is enough: the workers of a tier go side by side. */
const AGENTS = ['a1']
const WAKE_MS = 8_000

/** Hosts that wake when they hear their address called, some seconds later. */
export function wakers(packets: string[]) {
  return ({ world, hostPower }: Datacentre) => ({
    async sendDatagram(_address: string, _port: number, bytes: Uint8Array) {
      const name = HOSTS.find((host) => Buffer.compare(bytes, magicPacket(macOf(host))) === 0)
      assert.ok(name, 'a packet for nobody')
      packets.push(name)
      if (world.hosts.get(name)?.power === 'on') return
      world.clock.schedule(world.clock.now() + WAKE_MS, () => hostPower(name, 'on'))
    },
  })
}

/** A whole site: three hosts that are switched, the cluster on them, a gateway, and HA that looks after two guests. */
export async function site(seed: number, { croftInside = false } = {}) {
  const packets: string[] = []
  const hostLines = (name: string) => (croftInside && name === OWN_HOST ? '  local: true\n' : '')
  const manifests = clusterManifest({ agents: AGENTS }) + GATE
  const estateWith = (power: string) => clusterEstate(manifests + powerManifest(HOST_LINES + power), hostLines)
  const lab = await formed(seed, HOST_LINES, { agents: AGENTS, manifests: GATE, power: wakers(packets), hostLines })
  const { simulation } = lab
  const { world, hostPower } = simulation.datacentre
  for (const guest of world.guests.values()) {
    if (!/^(s1|a1)$/.test(guest.config.get('name') ?? '')) continue
    shelf(world, 'ha/resources').set(`vm:${guest.vmid}`, { sid: `vm:${guest.vmid}`, type: 'vm', state: 'started' })
  }

  let running: Process | undefined = lab.process
  if (croftInside) {
    const box = addBox(world, { name: OWN_HOST, addresses: ['192.168.4.10'] })
    // The box and the host are one: who goes down takes the other along, and croft with it.
    const follow = () => {
      const host = world.hosts.get(OWN_HOST)
      if (box.power === 'off' && host?.power === 'on') hostPower(OWN_HOST, 'off')
      if (host?.power === 'off') running?.kill('its host went off')
      simulation.clock.schedule(simulation.clock.now() + 250, follow)
    }
    follow()
  }
  const guests = () => [...world.guests.values()].map(({ vmid, node }) => `${vmid} on ${node}`).join(', ')
  const before = guests()
  return {
    ...lab,
    packets,
    estateWith,
    /** Starts croft in the place of the one before; where it runs inside, its host is started first. */
    async start(strike?: Strike): Promise<Process> {
      running?.kill()
      if (croftInside) pressButton(simulation.datacentre)
      running = simulation.start(strike === undefined ? {} : { strike })
      return running
    },
    /** Who watches guests, watches again, and every guest is where it was. */
    asBefore(hint: string): void {
      assert.equal(disarmState(world), undefined, `HA is disarmed; ${hint}`)
      assert.equal(guests(), before, `the guests; ${hint}`)
      for (const { name, power } of world.hosts.values()) assert.equal(power, 'on', `${name}; ${hint}`)
      for (const { vmid, run } of world.guests.values()) assert.equal(run.status, 'running', `${vmid}; ${hint}`)
    },
  }
}

function pressButton({ world, hostPower }: Datacentre): void {
  const box = world.metal.get(OWN_HOST)
  if (box === undefined) return
  switchOn(world, box)
  box.booted = true
  hostPower(OWN_HOST, 'on')
}

export type Site = Awaited<ReturnType<typeof site>>
