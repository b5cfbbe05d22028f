import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createDatacentre } from '../../../sim/datacentre.ts'
import { createLibvirtHost, libvirtShell, putImage } from '../../../sim/libvirt/shell.ts'
import { virsh } from '../../../sim/libvirt/virsh.ts'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import { seededRandom } from '../../lib/random.ts'
import type { Connection } from '../../model/estate.ts'
import { Secret } from '../../model/secret.ts'
import type { VmSpec } from '../../model/vm.ts'
import { type DriverWorld, driverConformance } from '../testing/conformance.ts'
import { libvirtDriver } from './driver.ts'
import { uuidOf } from './names.ts'
import { faultyShell } from './testing/faulty-shell.ts'

const FOREIGN = '11111111-2222-4333-8444-555555555555'

const VM: VmSpec = {
  host: 'kvm1',
  name: 'conformance',
  power: 'running',
  onBoot: false,
  cpu: { cores: 2, type: 'host' },
  memory: { dedicatedMb: 2048 },
  machine: 'q35',
  tags: ['Web'],
  description: 'A machine\nof two lines <&>',
  disks: [
    { slot: 'virtio0', storage: 'default', sizeGb: 20, importFrom: 'default:import/debian.qcow2', discard: 'on' },
  ],
  nics: [{ slot: 'net0', bridge: 'default', model: 'virtio', mac: '52:54:00:00:00:01' }],
  agent: { enabled: true },
}

const connection: Connection = {
  name: 'lab',
  driver: 'libvirt',
  endpoint: 'qemu+ssh://ops@kvm1/system',
  ssh: { name: 'kvm1', address: '192.0.2.1', port: 22, user: 'ops', hostKeys: [], sudo: 'none' },
  estate: 'conformance',
  ids: { from: 1, to: 1 },
  limits: { perHost: 2, perStorage: 1, reads: 4 },
  origin: { file: 'x.yaml', line: 1, column: 1 },
}

function machine(backing: boolean): DriverWorld['machine'] {
  const base: VmSpec = { ...VM, disks: VM.disks.map((disk) => ({ ...disk, backing })) }
  return {
    sizeGb: 20,
    declared: ({ cores, memoryMb, sizeGb, vmid: _vmid, ...rest }) => ({
      type: 'vm',
      vm: {
        ...base,
        ...rest,
        ...(cores === undefined ? {} : { cpu: { ...VM.cpu, cores } }),
        ...(memoryMb === undefined ? {} : { memory: { dedicatedMb: memoryMb } }),
        ...(sizeGb === undefined ? {} : { disks: base.disks.map((disk) => ({ ...disk, sizeGb })) }),
      },
    }),
  }
}

/** The driver on the simulated libvirt: machines boot, agents answer, copies take time. */
function simulatedWorld(backing: boolean): DriverWorld {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const random = seededRandom(7)
  const { world } = createDatacentre({ clock, random, preset: 'empty', hosts: ['kvm1'] })
  const host = createLibvirtHost(world, 'kvm1')
  putImage(host, 'default', 'debian.qcow2')
  const theirs = (uuid: string, name: string) =>
    virsh(
      host,
      ['define', '/dev/stdin'],
      `<domain type='kvm'>\n  <name>${name}</name>\n  <uuid>${uuid}</uuid>\n  <description>made by hand</description>\n  <memory unit='KiB'>1048576</memory>\n  <vcpu>1</vcpu>\n  <os><type>hvm</type></os>\n  <qemu:commandline xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'><qemu:arg value='-snapshot'/></qemu:commandline>\n</domain>`,
    )
  theirs(FOREIGN, 'theirs')
  const shell = faultyShell(libvirtShell(host))
  return {
    driver: libvirtDriver,
    connection,
    deps: {
      clock,
      random,
      openWire: () => assert.fail('libvirt needs no wire'),
      openShell: () => shell,
      resolveSecret: () => Promise.resolve(new Secret('x')),
    },
    machine: machine(backing),
    foreignId: FOREIGN,
    run: (promise) => clock.runUntil(promise),
    pass: (ms) => clock.advanceTo(clock.now() + ms),
    nowMs: () => clock.now(),
    calls: shell.calls,
    writes: shell.writes,
    others: () =>
      JSON.stringify(
        [...host.domains.values()].filter(({ name }) => name !== 'conformance').map((one) => one.definition),
      ),
    meddle: (id) => void virsh(host, ['desc', id, 'somebody was here'], undefined),
    makeMany: (count) => {
      for (let at = 0; at < count; at++) theirs(uuidOf(`many-${at}`), `many-${at}`)
    },
    hideEverything: shell.hide,
    refuseToken: () => shell.refuse(true),
    acceptToken: () => shell.refuse(false),
    loseNextWrite: shell.loseNext,
    spoilNextWrite: shell.spoilNext,
    secrets: [],
  }
}

driverConformance('libvirt, disks on their image', () => simulatedWorld(true))
driverConformance('libvirt, disks as copies', () => simulatedWorld(false))

void it('a UUID is the same for the same declaration, and a valid one', () => {
  assert.equal(uuidOf('0123456789abcdef'), uuidOf('0123456789abcdef'))
  assert.notEqual(uuidOf('0123456789abcdef'), uuidOf('0123456789abcdee'))
  assert.match(uuidOf('0123456789abcdef'), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
