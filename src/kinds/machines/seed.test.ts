import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceUid } from '../../model/declaration.ts'
import type { VmSpec } from '../../model/vm.ts'
import { declare, expand, vmOf } from './testing/fixture.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGj1Zr3mQyv9dQm0yq0S3mX8w1vK5n2bJ7cT4uR6hLpA admin'
const around = [
  declare('Host', 'a', {
    bindings: { networks: { lan: { bridge: 'vmbr0' } }, storages: { fast: 'local-zfs', files: 'local' } },
  }),
  declare('Image', 'noble', { url: 'https://example.org/noble.qcow2', storage: 'files' }),
  declare('AddressPool', 'lan', { cidr: '192.168.4.0/24' }),
  declare('Network', 'lan', {
    addressPool: 'lan',
    gateway: '192.168.4.1',
    gateway6: 'fd00::1',
    dns: { servers: ['192.168.4.1'], domain: 'home.arpa' },
  }),
]
const machine = (name: string, spec: object = {}) =>
  declare('Machine', name, {
    host: 'a',
    cpu: { cores: 2 },
    memory: '4Gi',
    disks: [{ size: '20Gi', image: 'noble', storage: 'fast' }],
    networks: [{ network: 'lan' }],
    ...spec,
  })
const made = (name: string, spec: object = {}): VmSpec => {
  const one = machine(name, spec)
  return vmOf(one, [...around, one])
}
const problems = (spec: object) => {
  const one = machine('web-1', spec)
  const expanded = expand(one, [...around, one])
  return 'problems' in expanded ? expanded.problems.map(({ path, message }) => `${path.join('.')}: ${message}`) : []
}

test('[R3] [R12] a machine from an image gets a document with its name, its user and its address', () => {
  const vm = made('web-1', {
    user: 'ops',
    sshKeys: [KEY],
    networks: [{ network: 'lan', address: '192.168.4.20' }],
    userData: { packages: ['qemu-guest-agent'] },
  })
  const mac = vm.nics[0]?.mac ?? ''
  assert.match(mac, /^[0-9A-F][26AE](:[0-9A-F]{2}){5}$/)
  assert.equal(vm.cloudInit, undefined)
  assert.deepEqual(vm.bootOrder, ['scsi0', 'ide2'])
  assert.deepEqual(vm.seed?.document.userData, {
    hostname: 'web-1',
    fqdn: 'web-1.home.arpa',
    users: [
      {
        name: 'ops',
        shell: '/bin/bash',
        sudo: 'ALL=(ALL) NOPASSWD:ALL',
        lock_passwd: true,
        ssh_authorized_keys: [KEY],
      },
    ],
    packages: ['qemu-guest-agent'],
  })
  assert.deepEqual(vm.seed?.document.networkConfig, {
    version: 2,
    ethernets: {
      net0: {
        match: { macaddress: mac.toLowerCase() },
        dhcp4: false,
        dhcp6: false,
        addresses: ['192.168.4.20/24'],
        routes: [{ to: '0.0.0.0/0', via: '192.168.4.1' }],
        nameservers: { addresses: ['192.168.4.1'], search: ['home.arpa'] },
      },
    },
  })
  assert.deepEqual(
    [vm.seed?.onChange, vm.seed?.slot, vm.seed?.storage, vm.seed?.removeAfterSeconds],
    ['ignore', 'ide2', undefined, 300],
  )
})

test('[A3] three machines of one sort: three documents that differ in name, address and hardware address alone', () => {
  const shared = { user: 'ops', sshKeys: [KEY], userData: { runcmd: ['true'] } }
  const all = ['worker-a', 'worker-b', 'worker-c'].map((name) => made(name, shared))
  assert.equal(new Set(all.map((vm) => vm.seed?.hash)).size, 3)
  const plain = all.map((vm) =>
    JSON.stringify(vm.seed?.document)
      .replaceAll(vm.name, 'NAME')
      .replaceAll(vm.nics[0]?.mac?.toLowerCase() ?? '', 'MAC')
      .replace(/"192\.168\.4\.\d+\/24"/, 'ADDRESS')
      .replace(/croft-[0-9a-f]{12}/, 'INSTANCE'),
  )
  assert.equal(new Set(plain).size, 1)
})

test('a declared hardware address stays, another is the same for the same machine of the same estate', () => {
  const card = { network: 'lan', mac: 'BC:24:11:00:00:01' }
  assert.equal(made('web-1', { networks: [card] }).nics[0]?.mac, 'BC:24:11:00:00:01')
  assert.equal(made('web-1').nics[0]?.mac, made('web-1').nics[0]?.mac)
  assert.notEqual(made('web-1').nics[0]?.mac, made('web-2').nics[0]?.mac)
  assert.equal(resourceUid('default', 'Machine/web-1').length, 16)
  const one = machine('web-1')
  const estate = (name: string) =>
    declare('Proxmox', 'p', { endpoint: 'https://127.0.0.1:8006', token: { env: 'T' }, estate: name })
  const mac = (name: string) => vmOf(one, [...around, one, estate(name)]).nics[0]?.mac
  assert.equal(mac('default'), made('web-1').nics[0]?.mac)
  assert.notEqual(mac('other'), mac('default'))
})

test('dual stack and DHCP', () => {
  const ethernets = (networks: object[]) =>
    made('web-1', { networks }).seed?.document.networkConfig?.ethernets as Record<string, Record<string, unknown>>
  const both = ethernets([{ network: 'lan', address: '192.168.4.20', ipv6: 'fd00::20/64' }]).net0
  assert.deepEqual(both?.addresses, ['192.168.4.20/24', 'fd00::20/64'])
  assert.deepEqual(both?.routes, [
    { to: '0.0.0.0/0', via: '192.168.4.1' },
    { to: '::/0', via: 'fd00::1' },
  ])
  const dhcp = ethernets([{ network: 'lan', address: 'dhcp', ipv6: 'auto' }]).net0
  assert.deepEqual([dhcp?.dhcp4, dhcp?.dhcp6, dhcp?.['accept-ra'], dhcp?.addresses], [true, false, true, undefined])
})

test('user data may be text, and what is wrong with it is said where it stands', () => {
  assert.deepEqual(made('web-1', { userData: '#cloud-config\npackage_update: yes\n' }).seed?.document.userData, {
    hostname: 'web-1',
    fqdn: 'web-1.home.arpa',
    package_update: true,
  })
  assert.deepEqual(problems({ userData: '#cloud-config\nruncmd: x\n' }), [
    'spec.userData: runcmd is text; expected a list',
  ])
  assert.deepEqual(problems({ userData: { write_files: [{ content: 'x' }], runcdm: ['x'] } }), [
    'spec.userData.write_files.0: write_files[0].path is missing',
    'spec.userData.runcdm: "runcdm" is nothing that cloud-init knows',
  ])
  assert.deepEqual(problems({ userData: { hostname: 'other' } }), [
    'spec.userData.hostname: hostname is also written by croft, and differently',
  ])
  assert.deepEqual(made('web-1', { hostname: 'other', userData: { hostname: 'other' } }).name, 'web-1')
  assert.deepEqual(problems({ cloudInit: { storage: 'nowhere' } }), [
    'spec.cloudInit.storage: host a does not bind the storage nowhere, and no other host does',
  ])
  assert.equal(made('web-1', { cloudInit: { storage: 'files', onChange: 'rerun' } }).seed?.storage, 'local')
})

test('a snippet on the host, and a machine that was taken over, keep to the cloud-init of Proxmox', () => {
  for (const spec of [{ userData: 'local:snippets/web.yaml' }, { user: 'ops', proxmox: { vmid: 108, adopt: true } }]) {
    const vm = made('web-1', spec)
    assert.equal(vm.seed, undefined)
    assert.equal(vm.cloudInit?.slot, 'ide2')
    assert.equal(vm.nics[0]?.mac, undefined)
  }
})
