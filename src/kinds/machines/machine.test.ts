import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declare, expand, vmOf } from './testing/fixture.ts'

const host = (name: string, bridge = 'vmbr0', storages: object = { fast: 'local-zfs', files: 'local' }) =>
  declare('Host', name, { bindings: { networks: { lan: { bridge } }, storages } })
const machine = (name: string, spec: object) =>
  declare('Machine', name, { host: 'a', cpu: { cores: 2 }, memory: '4Gi', ...spec })
const image = (spec: object = {}) =>
  declare('Image', 'noble', { url: 'https://example.org/noble.qcow2', storage: 'files', ...spec })
const messages = (expanded: object) =>
  'problems' in expanded ? (expanded.problems as { message: string }[]).map(({ message }) => message) : []

test('[A18] [R39] one declaration gets the bridge that its host calls lan', () => {
  const hosts = [host('a', 'vmbr25gbe'), host('b')]
  const on = (name: string) => vmOf(machine('m', { host: name, networks: [{ network: 'lan' }] }), hosts).nics
  assert.deepEqual(on('a'), [{ slot: 'net0', bridge: 'vmbr25gbe', model: 'virtio' }])
  assert.deepEqual(on('b'), [{ slot: 'net0', bridge: 'vmbr0', model: 'virtio' }])
})

test('the VLAN of a binding goes before that of the network', () => {
  const bound = declare('Host', 'a', { bindings: { networks: { lan: { bridge: 'vmbr0', vlan: 30 } } } })
  const network = declare('Network', 'lan', { vlan: 20 })
  assert.equal(vmOf(machine('m', { networks: [{ network: 'lan' }] }), [bound, network]).nics[0]?.vlan, 30)
})

test('[A19] [R39] a name that the host does not bind is a problem that names the hosts which do', () => {
  const hosts = [host('a', 'vmbr0', {}), host('b'), host('c')]
  const expanded = expand(
    machine('m', { disks: [{ size: '10Gi', storage: 'fast' }], networks: [{ network: 'dmz' }] }),
    hosts,
  )
  assert.deepEqual(messages(expanded), [
    'host a does not bind the storage fast; it is bound on b, c',
    'host a does not bind the network dmz, and no other host does',
  ])
  assert.deepEqual(messages(expand(machine('m', { host: 'x' }), hosts)), ['there is no Host x'])
})

test('a machine from an image is complete: disk, drive, addresses, boot order, and it waits for the image', () => {
  const all = [
    host('a'),
    image(),
    declare('AddressPool', 'lan', { cidr: '192.168.4.0/24' }),
    declare('Network', 'lan', {
      addressPool: 'lan',
      gateway: '192.168.4.1',
      vlan: 20,
      dns: { servers: ['192.168.4.1'], domain: 'home.arpa' },
    }),
  ]
  const web = machine('web-1', {
    disks: [
      { size: '50Gi', image: 'noble', storage: 'fast' },
      { size: '1Ti', storage: 'fast', discard: true },
    ],
    networks: [{ network: 'lan', address: '192.168.4.20' }],
    user: 'ubuntu',
    userData: 'local:snippets/web.yaml',
    tags: ['Web'],
  })
  assert.deepEqual(expand(web, [...all, web]), {
    role: 'resource',
    desired: {
      type: 'vm',
      vm: {
        host: 'a',
        name: 'web-1',
        power: 'running',
        tags: ['web'],
        cpu: { cores: 2 },
        memory: { dedicatedMb: 4096 },
        scsiHardware: 'virtio-scsi-single',
        disks: [
          { slot: 'scsi0', storage: 'local-zfs', sizeGb: 50, importFrom: 'local:import/noble.qcow2' },
          { slot: 'scsi1', storage: 'local-zfs', sizeGb: 1024, discard: 'on' },
        ],
        nics: [{ slot: 'net0', bridge: 'vmbr0', model: 'virtio', vlan: 20 }],
        cloudInit: {
          storage: 'local-zfs',
          slot: 'ide2',
          user: 'ubuntu',
          addresses: [{ v4: '192.168.4.20/24', gateway4: '192.168.4.1' }],
          dnsServers: ['192.168.4.1'],
          dnsDomain: 'home.arpa',
          userData: 'local:snippets/web.yaml',
        },
        agent: { enabled: true },
        bootOrder: ['scsi0'],
      },
    },
    needs: ['Image/noble@a'],
  })
})

test('a machine that is taken over is not told what nobody wrote, and stays when its declaration goes', () => {
  const taken = machine('old', { proxmox: { vmid: 108, adopt: true }, power: false })
  assert.deepEqual(taken.policy, {
    deletion: 'Orphan',
    protect: false,
    paused: false,
    manage: 'full',
    replace: 'refused',
    adopt: '108',
  })
  assert.deepEqual(vmOf(taken, [host('a')]), {
    host: 'a',
    vmid: 108,
    name: 'old',
    power: 'stopped',
    cpu: { cores: 2 },
    memory: { dedicatedMb: 4096 },
    disks: [],
    nics: [],
    agent: { enabled: true },
  })
})

test('a machine has the serial port of its console only where one is declared', () => {
  const serial = (proxmox: object) => vmOf(machine('web-1', { proxmox }), [host('a')])?.serial
  assert.deepEqual(serial({ serialPort: true }), [{ slot: 'serial0', device: 'socket' }])
  assert.equal(serial({}), undefined)
})

test('an image is on the hosts it names, or on those whose machines need it', () => {
  const hosts = [host('a'), host('b'), host('c', 'vmbr0', {})]
  const users = [
    machine('m1', { disks: [{ size: '10Gi', image: 'noble', storage: 'fast' }] }),
    machine('m2', { host: 'b', disks: [{ size: '10Gi', image: 'noble', storage: 'fast' }] }),
  ]
  const parts = (spec: object) => {
    const expanded = expand(image(spec), [...hosts, ...users, image(spec)])
    return 'role' in expanded && expanded.role === 'resources'
      ? expanded.parts.map(({ key }) => key)
      : messages(expanded)
  }
  assert.deepEqual(parts({}), ['Image/noble@a', 'Image/noble@b'])
  assert.deepEqual(parts({ hosts: ['b'] }), ['Image/noble@b'])
  assert.deepEqual(parts({ hosts: ['c'] }), ['host c does not bind the storage files; it is bound on a, b'])
  const elsewhere = image({ hosts: ['b'] })
  assert.deepEqual(messages(expand(users[0] ?? host('a'), [...hosts, ...users, elsewhere])), [
    'Image noble is not kept on host a; it is on b',
  ])
})

test('with several connections a host says which one it belongs to', () => {
  const proxmox = (name: string) =>
    declare('Proxmox', name, { endpoint: 'https://127.0.0.1:8006', token: { env: 'T' } })
  const unsaid = [proxmox('x'), proxmox('y'), host('a')]
  assert.deepEqual(messages(expand(machine('m', {}), unsaid)), [
    'host a does not say which connection it belongs to; there are x, y',
  ])
  const said = [proxmox('x'), proxmox('y'), declare('Host', 'a', { connection: 'y' })]
  const expanded = expand(machine('m', {}), said)
  assert.equal('role' in expanded && expanded.role === 'resource' && expanded.connection, 'y')
})
