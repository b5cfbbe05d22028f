import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDatacentre } from '../../../sim/datacentre.ts'
import { checkRequest } from '../../../sim/proxmox/validate/index.ts'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { simWire } from '../../../sim/wire.ts'
import { newGuest } from '../../../sim/world/guest-run.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Wire } from '../../lib/wire.ts'
import type { ContainerSpec } from '../../model/container.ts'
import { Secret } from '../../model/secret.ts'
import type { VmSpec } from '../../model/vm.ts'
import { type DriverWorld, driverConformance } from '../testing/conformance.ts'
import { proxmoxDriver } from './driver.ts'

const FOREIGN = '108'
const FOREIGN_CONTAINER = '118'
const TEMPLATE = 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'

const VM: VmSpec = {
  host: 'fun-bedbug',
  vmid: 114,
  name: 'conformance',
  power: 'running',
  onBoot: false,
  cpu: { cores: 2, type: 'host' },
  memory: { dedicatedMb: 2048 },
  tags: ['Web'],
  description: 'A machine\nof two lines',
  disks: [
    {
      slot: 'scsi0',
      storage: 'local-zfs',
      sizeGb: 20,
      importFrom: 'local:import/noble-server-cloudimg-amd64.qcow2',
      discard: 'on',
      ssd: true,
    },
  ],
  nics: [{ slot: 'net0', bridge: 'vmbr0', model: 'virtio', firewall: true }],
  cloudInit: {
    storage: 'local-zfs',
    slot: 'ide2',
    user: 'ubuntu',
    sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHQ3Vb0m1G8U0M5k9m7bVbqkqzJ4cZ4l2F0pZ8Xx+2/b u@h'],
    addresses: [{ v4: 'dhcp' }],
    dnsServers: ['1.1.1.1'],
  },
  agent: { enabled: true },
  serial: [{ slot: 'serial0', device: 'socket' }],
}

const CONTAINER: ContainerSpec = {
  host: 'fun-bedbug',
  vmid: 114,
  name: 'conformance',
  power: 'running',
  onBoot: false,
  image: `local:${TEMPLATE}`,
  unprivileged: true,
  cpu: { cores: 2 },
  memory: { dedicatedMb: 2048, swapMb: 0 },
  tags: ['Web'],
  description: 'A machine\nof two lines',
  rootDisk: { storage: 'local-zfs', sizeGb: 20 },
  mounts: [{ slot: 'mp0', path: '/data', storage: 'local-zfs', sizeGb: 2, backup: true }],
  nics: [{ slot: 'net0', name: 'eth0', bridge: 'vmbr0', firewall: true, v4: 'dhcp' }],
  dns: { servers: ['1.1.1.1'], domain: 'home.arpa' },
  features: { nesting: true },
  startup: { order: 2, upSeconds: 5 },
}

const vmMachine: DriverWorld['machine'] = {
  sizeGb: 20,
  declared: (change) => {
    const { cores, memoryMb, sizeGb, ...rest } = change
    const vm: VmSpec = {
      ...VM,
      ...rest,
      ...(cores === undefined ? {} : { cpu: { ...VM.cpu, cores } }),
      ...(memoryMb === undefined ? {} : { memory: { dedicatedMb: memoryMb } }),
      ...(sizeGb === undefined ? {} : { disks: VM.disks.map((disk) => ({ ...disk, sizeGb })) }),
    }
    return { type: 'vm', vm }
  },
}

const containerMachine: DriverWorld['machine'] = {
  sizeGb: 20,
  declared: (change) => {
    const { cores, memoryMb, sizeGb, ...rest } = change
    const container: ContainerSpec = {
      ...CONTAINER,
      ...rest,
      ...(cores === undefined ? {} : { cpu: { cores } }),
      ...(memoryMb === undefined ? {} : { memory: { ...CONTAINER.memory, dedicatedMb: memoryMb } }),
      ...(sizeGb === undefined ? {} : { rootDisk: { storage: 'local-zfs', sizeGb } }),
    }
    return { type: 'container', container }
  },
}

/** The Proxmox driver on the simulated datacentre, in-process; the real API's schema validates every request. */
function simulatedWorld(
  machine: DriverWorld['machine'],
  foreignId: string,
): DriverWorld & { readonly complaints: readonly string[] } {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const random = seededRandom(7)
  const datacentre = createDatacentre({ clock, random })
  datacentre.patchGuest(Number(FOREIGN), { tags: 'prod;k3s', description: 'made by hand' })
  const local = datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local')
  local?.set(TEMPLATE, { name: TEMPLATE, content: 'vztmpl', format: 'tzst', sizeBytes: 617, ctimeSeconds: 1 })
  const text = new Map([
    ['hostname', 'theirs'],
    ['tags', 'prod'],
    ['description', 'made by hand\n'],
  ])
  datacentre.world.guests.set(118, newGuest(118, 'lxc', 'still-fawn', text))
  const [tokenId = '', secret = ''] = datacentre.token.split('=')
  const complaints: string[] = []
  const connection = {
    name: 'default',
    driver: 'proxmox',
    endpoint: 'https://127.0.0.1:8006',
    token: { env: 'TOKEN' },
    estate: 'conformance',
    ids: { from: 100, to: 999 },
    limits: { perHost: 2, perStorage: 1, reads: 4 },
    origin: { file: 'x.yaml', line: 1, column: 1 },
  }
  const lose = {
    answer: { kind: 'drop-after' },
    request: { kind: 'drop-before' },
    refused: { kind: 'drop-before', sent: 'no' },
  } as const
  const nextWrite = '^(POST|PUT|DELETE)'
  return {
    driver: proxmoxDriver,
    connection,
    deps: {
      clock,
      random,
      openWire: () => checkedWire(simWire(datacentre), complaints),
      resolveSecret: () => Promise.resolve(new Secret(`${datacentre.token}\n`)),
    },
    machine,
    foreignId,
    run: (promise) => clock.runUntil(promise),
    pass: (ms) => clock.advanceTo(clock.now() + ms),
    nowMs: () => clock.now(),
    calls: () => datacentre.stats().calls,
    writes: () => datacentre.writes.length,
    others: () =>
      JSON.stringify(
        [...datacentre.world.guests.values()]
          .filter((guest) => guest.vmid !== 114)
          .map((guest) => [guest.vmid, guest.node, ...guest.config]),
      ),
    meddle: (id) => datacentre.patchGuest(Number(id), { description: 'somebody was here' }),
    makeMany: (count) => {
      for (let at = 0; at < count; at++) datacentre.addGuest(2000 + at, 'still-fawn', { name: `many-${at}` })
    },
    hideEverything: () => datacentre.hideGuests(tokenId, 'all'),
    refuseToken: () => datacentre.setToken(tokenId, { secret: 'another' }),
    acceptToken: () => datacentre.setToken(tokenId, { secret }),
    loseNextWrite: (how) => datacentre.faults.add({ match: nextWrite, count: 1, ...lose[how] }),
    spoilNextWrite: (kind) => datacentre.faults.add({ match: nextWrite, count: 1, kind }),
    secrets: [secret],
    complaints,
  }
}

/** Records every request that the real API's validation would refuse. */
function checkedWire(wire: Wire, complaints: string[]): Wire {
  return {
    ...wire,
    send(request, signal) {
      const form = typeof request.body === 'string' ? Object.fromEntries(new URLSearchParams(request.body)) : {}
      for (const complaint of checkRequest(request.method, request.path, form))
        complaints.push(`${request.method} ${request.path}: ${complaint}`)
      return wire.send(request, signal)
    },
  }
}

const worlds: ReturnType<typeof simulatedWorld>[] = []
for (const [name, machine, foreignId] of [
  ['proxmox', vmMachine, FOREIGN],
  ['proxmox, containers', containerMachine, FOREIGN_CONTAINER],
] as const) {
  driverConformance(name, () => {
    const world = simulatedWorld(machine, foreignId)
    worlds.push(world)
    return world
  })
}

describe('requests of the Proxmox driver', () => {
  it('all of them pass the validation of the real API', () => {
    assert.ok(worlds.length > 10)
    assert.notDeepEqual(checkRequest('PUT', '/nodes/pve1/qemu/114/config', { cores: '0' }), [])
    assert.deepEqual(
      worlds.flatMap((world) => world.complaints),
      [],
    )
  })
})
