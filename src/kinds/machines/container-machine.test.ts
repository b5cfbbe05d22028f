import assert from 'node:assert/strict'
import { test } from 'node:test'
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
