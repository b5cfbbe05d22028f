import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Desired } from '../../model/resource.ts'
import { link } from '../../plan/link.ts'
import { readFiles } from '../../source/files/read-files.ts'
import { findKind } from '../registry.ts'

const LAB = `apiVersion: croft.dev/v1alpha1
kind: Libvirt
metadata: {name: attic}
spec: {host: kvm1, machines: {bios: ovmf}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: kvm1}
spec: {local: true, bindings: {networks: {lan: {bridge: br0}}, storages: {vms: default}}}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: lan, vlan: 20}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: lan}
spec: {cidr: 192.168.8.0/24}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: debian}
spec: {url: "https://example.org/debian.qcow2", storage: vms}
---
`
const machine = (more = '') => `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: web-1}
spec:
  host: kvm1
  cpu: {cores: 2}
  memory: 1Gi
  disks: [{size: 10Gi, image: debian, storage: vms, ssd: true}]
  networks: [{network: lan, address: 192.168.8.20}]
${more}`

function read(text: string) {
  const revision = readFiles({ files: [{ path: 'lab.yaml', bytes: Buffer.from(text) }], links: [] })
  return link(revision, { findKind })
}

function vmOf(text: string): Extract<Desired, { type: 'vm' }>['vm'] {
  const estate = read(text)
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  const found = estate.resources.find(({ key }) => key === 'Machine/web-1')?.desired
  return found?.type === 'vm' ? found.vm : assert.fail('no machine')
}

test('a machine on a host with libvirt has what libvirt knows, and nothing of Proxmox', () => {
  const vm = vmOf(`${LAB}${machine()}`)
  assert.deepEqual(vm.disks, [
    { slot: 'virtio0', storage: 'default', sizeGb: 10, importFrom: 'default:import/debian.qcow2', backing: true },
  ])
  assert.deepEqual([vm.bios, vm.machine, vm.cpu?.type, vm.seed?.slot], ['ovmf', 'q35', 'host', 'virtio25'])
  assert.deepEqual([vm.scsiHardware, vm.bootOrder, vm.vmid, vm.cloudInit], [undefined, undefined, undefined, undefined])
  assert.deepEqual([vm.nics[0]?.bridge, vm.nics[0]?.vlan], ['br0', 20])
})

test('[A12] [A13] the address is fixed in the network configuration and bound to the hardware address', () => {
  const { seed, nics } = vmOf(`${LAB}${machine()}`)
  const card = ((seed?.document.networkConfig?.ethernets ?? {}) as Record<string, Record<string, unknown>>).net0
  assert.deepEqual(card?.addresses, ['192.168.8.20/24'])
  assert.deepEqual(card?.match, { macaddress: nics[0]?.mac?.toLowerCase() })
  assert.equal(card?.dhcp4, false)
})

test('what the machine says goes before what its connection says', () => {
  const vm = vmOf(
    `${LAB}${machine('  libvirt: {bios: seabios, disks: copy, bus: scsi, seed: cdrom, emulated: true}\n')}`,
  )
  assert.deepEqual([vm.bios, vm.disks[0]?.slot, vm.disks[0]?.backing], ['seabios', 'scsi0', undefined])
  assert.deepEqual([vm.seed?.slot, vm.emulated, vm.cpu?.type], ['sata5', true, 'maximum'])
})

test('an arm64 machine is a virt that starts by UEFI, with nothing on it that such a machine lacks', () => {
  const vm = vmOf(
    `${LAB.replace('bios: ovmf', 'architecture: arm64')}${machine('  libvirt: {seed: cdrom, emulated: true}\n')}`,
  )
  assert.deepEqual([vm.machine, vm.bios, vm.cpu?.architecture, vm.cpu?.type], ['virt', 'ovmf', 'aarch64', 'maximum'])
  assert.deepEqual([vm.disks[0]?.slot, vm.seed?.slot], ['virtio0', 'scsi11'])
  assert.equal(vmOf(`${LAB}${machine('  libvirt: {architecture: arm64}\n')}`).seed?.slot, 'virtio25')
})

test('an existing domain is taken over by its UUID, and keeps what nobody declares', () => {
  const uuid = '11111111-2222-4333-8444-555555555555'
  const estate = read(`${LAB}${machine(`  libvirt: {uuid: ${uuid}, adopt: true}\n`)}`)
  const [resource] = estate.resources.filter(({ key }) => key === 'Machine/web-1')
  assert.deepEqual([resource?.policy.adopt, resource?.policy.deletion], [uuid, 'Orphan'])
  const vm = resource?.desired.type === 'vm' ? resource.desired.vm : assert.fail('no machine')
  assert.deepEqual([vm.machine, vm.cpu?.type, vm.seed, vm.vmid], [undefined, undefined, undefined, undefined])
})

test('an existing network or pool is the one with the UUID that it states', () => {
  const uuid = '11111111-2222-4333-8444-555555555555'
  const network = `---\napiVersion: croft.dev/v1alpha1\nkind: LibvirtNetwork\nmetadata: {name: lab}\nspec: {host: kvm1, uuid: ${uuid}, mode: isolated}\n`
  const pool = `---\napiVersion: croft.dev/v1alpha1\nkind: LibvirtPool\nmetadata: {name: vms}\nspec: {host: kvm1, uuid: ${uuid}, path: /srv/vms}\n`
  const { resources } = read(`${LAB}${network}${pool}`)
  for (const key of ['LibvirtNetwork/lab', 'LibvirtPool/vms']) {
    const found = resources.find((one) => one.key === key) ?? assert.fail(key)
    assert.equal(found.policy.adopt, uuid)
    // It identifies the network and does not set its UUID.
    assert.ok(found.desired.type === 'setting' && !('uuid' in found.desired.setting.fields))
  }
})

for (const [more, message] of [
  ['  libvirt: {adopt: true}\n', 'adopt takes over an existing domain, and uuid does not say which'],
  [
    '  libvirt: {uuid: 11111111-2222-4333-8444-555555555555}\n',
    'the UUID of a new domain follows from its declaration',
  ],
  ['  libvirt: {architecture: arm64, machine: q35}\n', 'an arm64 machine is no q35'],
  ['  libvirt: {architecture: arm64, bios: seabios}\n', 'an arm64 machine has no BIOS'],
  ['  libvirt: {architecture: arm64, bus: sata}\n', 'an arm64 machine has no SATA'],
  [
    '  libvirt: {bios: ovmf}\n  proxmox: {vmid: 108}\n',
    'a machine runs on libvirt or on Proxmox, and both libvirt and proxmox are set',
  ],
] as const) {
  test(`refused: ${message}`, () => {
    assert.deepEqual(
      read(`${LAB}${machine(more)}`)
        .problems.filter(({ severity }) => severity === 'error')
        .map((one) => one.message),
      [message],
    )
  })
}

test('[S-15] a path that leads out of the image is refused, and so is one that is none', () => {
  for (const path of ['/etc/../../etc/sudoers.d/x', '../x', '/etc/$(reboot)', '/']) {
    const image = `apiVersion: croft.dev/v1alpha1\nkind: Image\nmetadata: {name: x}\nspec: {storage: vms, build: {debian: {suite: bookworm}, files: [{path: ${JSON.stringify(path)}, content: a}]}}\n`
    assert.equal(
      read(`${LAB}${image}`).problems.some(({ severity }) => severity === 'error'),
      true,
      path,
    )
  }
})

test('a connection without a pinned key over SSH is refused', () => {
  const far = `apiVersion: croft.dev/v1alpha1\nkind: Libvirt\nmetadata: {name: far}\nspec: {endpoint: "qemu+ssh://ops@[fd00::8]:2222/system"`
  assert.match(read(`${far}}\n`).problems[0]?.message ?? '', /trusts no key on first use/)
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
  const [connection] = read(`${far}, ssh: {hostKeys: ["${key}"]}}\n`).connections
  assert.deepEqual(
    [connection?.ssh?.address, connection?.ssh?.port, connection?.ssh?.user, connection?.ssh?.hostKeys],
    ['fd00::8', 2222, 'ops', [key]],
  )
})

const device = (name: string, spec: string) => `---
apiVersion: croft.dev/v1alpha1
kind: Device
metadata: {name: ${name}}
spec: {host: kvm1, ${spec}}
`

test('a device on a host with libvirt is looked up by its machine, and nothing is kept for it', () => {
  const text = `${LAB}${machine('  devices: [gpu, stick]\n')}${device('gpu', 'pci: {id: "10de:2484", address: "0000:01:00.0"}')}${device('stick', 'usb: {ids: ["10c4:ea60"]}')}`
  const vm = vmOf(text)
  assert.deepEqual(vm.pci, [{ slot: 'hostpci0', device: '0000:01:00.0' }])
  assert.deepEqual(vm.usb, [{ slot: 'usb0', device: '10c4:ea60' }])
  assert.deepEqual(
    read(text).resources.map(({ key }) => key),
    ['Image/debian@kvm1', 'Machine/web-1'],
  )
})

for (const [what, spec, message] of [
  ['a whole slot', 'pci: {id: "10de:2484", address: "0000:01:00"}', /names none/],
  ['a part of a card', 'pci: {id: "10de:2484", address: "0000:01:00.0", mdev: true}', /no part of a card/],
  ['an id that changes', 'usb: {ids: ["1a6e:089a", "18d1:9302"], port: "2-1"}', /changes it/],
] as const)
  test(`libvirt is not given ${what}`, () => {
    const { problems } = read(`${LAB}${machine('  devices: [it]\n')}${device('it', spec)}`)
    assert.ok(
      problems.some((problem) => message.test(problem.message)),
      problems.map((problem) => problem.message).join('; '),
    )
  })

test('with qemu+ssh the connection is the host that machines name', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
  const remote = LAB.replace(
    'spec: {host: kvm1, machines: {bios: ovmf}}',
    `spec: {endpoint: "qemu+ssh://ops@192.0.2.1:2222/system", ssh: {hostKeys: ["${key}"]}}`,
  ).replace('local: true, ', '')
  const estate = read(`${remote}${machine()}`)
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  const [connection] = estate.connections
  const { name, address, port, user, hostKeys } = connection?.ssh ?? assert.fail('no way there')
  assert.deepEqual([name, address, port, user, hostKeys], ['kvm1', '192.0.2.1', 2222, 'ops', [key]])
})
