import assert from 'node:assert/strict'
import { test } from 'node:test'
import { device } from '../device.ts'
import { machine } from '../machine.ts'
import { declare, expand } from './testing/fixture.ts'

const HOST = declare('Host', 'alpha', {
  bindings: { networks: { lan: { bridge: 'vmbr1', vlan: 7 } }, storages: { fast: 'local-zfs', files: 'local' } },
})
const IMAGE = declare('Image', 'debian', {
  url: 'https://images.test/debian-12.tar.zst',
  storage: 'files',
  content: 'vztmpl',
})
const NETWORK = declare('Network', 'lan', { gateway: '192.168.4.1', dns: { servers: ['192.168.4.1'] } })
const PROXMOX = declare('Proxmox', 'default', { endpoint: 'https://pve.test:8006', token: { env: 'T' } })

const SPEC = {
  host: 'alpha',
  lxc: { nesting: true, swap: '256Mi' },
  cpu: { cores: 1 },
  memory: '512Mi',
  disks: [
    { size: '8Gi', image: 'debian', storage: 'fast' },
    { size: '4Gi', storage: 'fast', path: '/var/lib/zones', backup: true },
  ],
  networks: [{ network: 'lan' }],
}

test('a Machine with lxc is a container: its first disk from a template, the others mounted', () => {
  const dns = declare('Machine', 'dns-1', SPEC)
  const expanded = expand(dns, [HOST, IMAGE, NETWORK, PROXMOX, dns])
  assert.ok('role' in expanded && expanded.role === 'resource')
  assert.deepEqual(expanded.needs, ['Image/debian@alpha'])
  assert.deepEqual(expanded.desired, {
    type: 'container',
    container: {
      host: 'alpha',
      name: 'dns-1',
      power: 'running',
      image: 'local:vztmpl/debian-12.tar.zst',
      unprivileged: true,
      cpu: { cores: 1 },
      memory: { dedicatedMb: 512, swapMb: 256 },
      rootDisk: { storage: 'local-zfs', sizeGb: 8 },
      mounts: [{ slot: 'mp0', path: '/var/lib/zones', storage: 'local-zfs', sizeGb: 4, backup: true }],
      nics: [{ slot: 'net0', name: 'eth0', bridge: 'vmbr1', vlan: 7, v4: 'dhcp' }],
      dns: { servers: ['192.168.4.1'] },
      features: { nesting: true },
    },
  })
})

test('what means nothing for a container, or is missing for one, is said', () => {
  const said = (change: object) => {
    const spec = machine.schema.parse({ ...SPEC, ...change })
    const manifest = { apiVersion: '', kind: '', metadata: { name: 'x', labels: {}, annotations: {} }, spec }
    return (machine.check?.(spec, manifest) ?? []).map(({ path }) => path.slice(1).join('.'))
  }
  assert.deepEqual(said({}), [])
  assert.deepEqual(said({ user: 'ubuntu', proxmox: { bios: 'ovmf' }, cpu: { cores: 1, type: 'host' } }), [
    'user',
    'proxmox.bios',
    'cpu.type',
  ])
  assert.deepEqual(said({ disks: [SPEC.disks[0], { size: '4Gi', storage: 'fast' }] }), ['disks.1.path'])
  assert.deepEqual(said({ lxc: undefined }), ['disks.1.path'])
})

const CORAL = declare('Device', 'coral', { host: 'alpha', files: [{ path: '/dev/apex_0', mode: '0660', gid: 44 }] })
const GPU = declare('Device', 'gpu', {
  host: 'alpha',
  pci: { id: '8086:56a0', address: '0000:03:00.0' },
  files: [{ path: '/dev/dri/renderD128' }, { path: '/dev/dri/by-path/pci-0000:03:00.0-card', readOnly: true }],
})
const STICK = declare('Device', 'stick', { host: 'alpha', usb: { ids: ['10c4:ea60'] } })

test('a container is given the device files of the host, each in a place of its own, and shares them with others', () => {
  const [one, two] = ['frigate', 'jellyfin'].map((name) =>
    declare('Machine', name, { ...SPEC, host: 'auto', devices: ['coral', 'gpu'] }),
  )
  assert.ok(one !== undefined && two !== undefined)
  const expanded = expand(one, [HOST, IMAGE, NETWORK, PROXMOX, CORAL, GPU, one, two])
  assert.ok('role' in expanded && expanded.role === 'resource', JSON.stringify(expanded))
  assert.ok(expanded.desired.type === 'container')
  assert.equal(expanded.desired.container.host, 'alpha')
  assert.deepEqual(expanded.desired.container.devices, [
    { slot: 'dev0', path: '/dev/apex_0', mode: '0660', gid: 44 },
    { slot: 'dev1', path: '/dev/dri/renderD128' },
    { slot: 'dev2', path: '/dev/dri/by-path/pci-0000:03:00.0-card', denyWrite: true },
  ])
})

for (const [what, devices, more, message] of [
  ['a device without files', ['stick'], {}, /Device stick names none/],
  ['a device on another host', ['coral'], { host: 'beta' }, /coral is plugged into alpha, and the machine is on beta/],
  ['files alone for a VM', ['coral'], { lxc: undefined }, /Device coral has only files/],
] as const)
  test(`${what} is refused with the way out`, () => {
    const dns = declare('Machine', 'dns-1', { ...SPEC, ...more, devices })
    const expanded = expand(dns, [HOST, IMAGE, NETWORK, PROXMOX, CORAL, STICK, dns])
    assert.match('problems' in expanded ? expanded.problems.map((one) => one.message).join() : '', message)
  })

test('a device that a VM is given is not in a container at the same time', () => {
  const container = declare('Machine', 'dns-1', { ...SPEC, devices: ['gpu'] })
  const vm = declare('Machine', 'game-1', { ...SPEC, lxc: undefined, devices: ['gpu'] })
  const expanded = expand(container, [HOST, IMAGE, NETWORK, PROXMOX, GPU, container, vm])
  assert.match(JSON.stringify(expanded), /Device gpu is also given to Machine\/game-1/)
})

test('a Device is one sort of thing: pci, usb, or files alone', () => {
  const said = (spec: object) => {
    const { spec: read } = declare('Device', 'x', { host: 'alpha', ...spec })
    const manifest = { apiVersion: '', kind: '', metadata: { name: 'x', labels: {}, annotations: {} }, spec: read }
    return (device.check?.(read as never, manifest) ?? []).length
  }
  const pci = { id: '8086:56a0', address: '0000:03:00.0' }
  const usb = { ids: ['10c4:ea60'] }
  const files = [{ path: '/dev/apex_0' }]
  assert.deepEqual(
    [{ pci }, { usb, files }, { files }, {}, { pci, usb }, { pci, usb, files }].map(said),
    [0, 0, 0, 1, 1, 1],
  )
})

test('every way to set up a network card is given both families and their gateways', () => {
  const pool = declare('AddressPool', 'lan', { cidr: '192.168.4.0/24' })
  const both = declare('Network', 'lan', { addressPool: 'lan', gateway: '192.168.4.1', gateway6: 'fd00::1' })
  const bases = { host: 'alpha', cpu: { cores: 1 }, memory: '512Mi' }
  const disk = { size: '8Gi', image: 'debian', storage: 'fast' }
  const of = (spec: object) => {
    const networks = [{ network: 'lan', address: '192.168.4.9', ipv6: 'fd00::9/64' }]
    const one = declare('Machine', 'm', { ...bases, disks: [disk], networks, ...spec })
    const expanded = expand(one, [HOST, IMAGE, pool, both, PROXMOX, one])
    assert.ok('role' in expanded && expanded.role === 'resource', JSON.stringify(expanded))
    return expanded.desired
  }
  const card = { v4: '192.168.4.9/24', gateway4: '192.168.4.1', v6: 'fd00::9/64', gateway6: 'fd00::1' }
  const container = of({ lxc: {} })
  assert.ok(container.type === 'container')
  assert.deepEqual(container.container.nics, [{ slot: 'net0', name: 'eth0', bridge: 'vmbr1', vlan: 7, ...card }])
  const own = of({ userData: 'local:snippets/base.yaml' })
  assert.ok(own.type === 'vm')
  assert.deepEqual(own.vm.cloudInit?.addresses, [card])
  const seeded = of({ user: 'ubuntu' })
  assert.ok(seeded.type === 'vm')
  const text = JSON.stringify(seeded.vm.seed?.document.networkConfig)
  for (const part of Object.values(card)) assert.ok(text.includes(part), part)
})
