import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { VmSpec } from '../../../model/vm.ts'
import { parseProperties } from '../property-string.ts'
import { proxmoxRules } from '../rules.ts'
import { exampleObserved, exampleResource } from '../testing/vm-example.ts'

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const id = fc.stringMatching(/^[a-z][a-z0-9-]{1,8}$/)

const anyVm: fc.Arbitrary<Partial<VmSpec>> = fc
  .record({
    tags: maybe(fc.array(id)),
    description: maybe(fc.constantFrom('', 'hello\nworld', '# Titel ÄÖÜ 漢字\n100% a=b&c')),
    onBoot: maybe(fc.boolean()),
    protection: maybe(fc.boolean()),
    tablet: maybe(fc.boolean()),
    startup: maybe(fc.record({ order: fc.nat(9), upSeconds: fc.nat(99) })),
    cpu: maybe(
      fc.record({
        cores: fc.integer({ min: 1, max: 8 }),
        sockets: fc.integer({ min: 1, max: 2 }),
        type: fc.constantFrom('kvm64', 'host', 'x86-64-v2-AES'),
        flags: fc.subarray(['+aes', '-pcid', '+pdpe1gb']),
        units: fc.constantFrom(100, 1024, 300),
        limit: fc.constantFrom(0, 2.5),
        numa: fc.boolean(),
      }),
    ),
    memory: maybe(fc.record({ dedicatedMb: fc.constantFrom(512, 4096), floatingMb: fc.constantFrom(0, 512) })),
    machine: maybe(fc.constantFrom('pc', 'q35', 'q35,viommu=virtio')),
    bios: maybe(fc.constantFrom('seabios' as const, 'ovmf' as const)),
    agent: maybe(
      fc.record({
        enabled: fc.boolean(),
        trim: fc.boolean(),
        type: fc.constantFrom('virtio' as const, 'isa' as const),
      }),
    ),
    vga: maybe(fc.record({ type: fc.constantFrom('std', 'serial0', 'virtio') })),
    disks: fc.uniqueArray(
      fc.record({
        slot: fc.constantFrom('scsi0', 'scsi1', 'virtio0', 'sata1'),
        storage: fc.constantFrom('local', 'local-zfs'),
        sizeGb: fc.integer({ min: 1, max: 99 }),
        iothread: fc.boolean(),
        ssd: fc.boolean(),
        discard: fc.constantFrom('on' as const, 'ignore' as const),
        cache: fc.constantFrom('none', 'writeback'),
        backup: fc.boolean(),
      }),
      { selector: (disk) => disk.slot, minLength: 1 },
    ),
    nics: fc.uniqueArray(
      fc.record({
        slot: fc.constantFrom('net0', 'net1'),
        bridge: fc.constantFrom('vmbr0', 'vmbr1'),
        model: fc.constantFrom('virtio', 'e1000'),
        firewall: fc.boolean(),
        vlan: fc.constantFrom(0, 10),
        trunks: fc.subarray([10, 11, 12, 30]),
      }),
      { selector: (nic) => nic.slot },
    ),
    cloudInit: maybe(
      fc.record({
        storage: fc.constant('local'),
        slot: fc.constant('ide2'),
        user: id,
        sshKeys: fc.array(id),
        addresses: fc.array(
          fc.record({ v4: fc.constantFrom('dhcp', '10.0.0.5/24'), gateway6: fc.constant('fd00::1') }),
          { maxLength: 2 },
        ),
        dnsServers: fc.array(fc.ipV4()),
        upgrade: fc.boolean(),
      }),
    ),
    bootOrder: maybe(fc.constantFrom(['scsi0'], ['scsi0', 'net0'])),
  })
  .map((vm) => Object.fromEntries(Object.entries(vm).filter(([, value]) => value !== undefined)))

/** Defaults that Proxmox may omit, as for values that were never set. */
const DEFAULTS: Readonly<Record<string, string>> = {
  onboot: '0',
  protection: '0',
  tablet: '1',
  cores: '1',
  sockets: '1',
  numa: '0',
  cpulimit: '0',
  machine: 'pc',
  bios: 'seabios',
  vga: 'std',
  ciupgrade: '1',
  nameserver: '',
  sshkeys: '',
  cpu: 'kvm64',
}
const PART_DEFAULTS = [
  'iothread=0',
  'ssd=0',
  'discard=ignore',
  'cache=none',
  'backup=1',
  'link_down=0',
  'firewall=0',
  'fstrim_cloned_disks=0',
  'type=virtio',
]
const LISTS = /^(?:scsi|virtio|sata|ide|net|ipconfig)\d+$|^(?:agent|startup|cpu)$/

/** Proxmox's answer to the parameters: another order, other types, no defaults, generated names and addresses. */
function answered(params: Readonly<Record<string, string>>, chance: () => number): Record<string, unknown> {
  const shuffle = <T>(list: readonly T[]) =>
    list
      .map((item) => [chance(), item] as const)
      .sort((a, b) => a[0] - b[0])
      .map(([, item]) => item)
  const config: Record<string, unknown> = {}
  for (const [key, value] of shuffle(Object.entries(params))) {
    if (key === 'vmid' || (value === DEFAULTS[key] && chance() < 0.5)) continue
    if (key === 'tags') config[key] = shuffle(value.split(';')).join(chance() < 0.3 ? ',' : ';')
    else if (LISTS.test(key)) config[key] = shuffle(parts(key, value, chance)).join(',')
    else config[key] = /^\d+$/.test(value) && chance() < 0.5 ? Number(value) : value
  }
  return config
}

function parts(key: string, value: string, chance: () => number): string[] {
  const made = value
    .replace(/^([\w-]+):cloudinit$/, '$1:114/vm-114-cloudinit.qcow2,media=cdrom')
    .replace(/^([\w-]+):(\d+)(?=,|$)/, '$1:114/vm-114-disk-0.raw,size=$2G')
    .replace(/^(virtio|e1000)(?=,)/, '$1=BC:24:11:00:00:01')
  const bare = key === 'agent' ? 'enabled' : key === 'cpu' ? 'cputype' : key.startsWith('net') ? 'model' : 'file'
  return [...parseProperties(made, bare)]
    .map(
      ([name, part]) => `${name}=${name === 'flags' || name === 'trunks' ? part.split(';').reverse().join(';') : part}`,
    )
    .filter((part) => !PART_DEFAULTS.includes(part) || chance() < 0.5)
    .map((part) => (part.startsWith(`${bare}=`) && chance() < 0.5 ? part.slice(bare.length + 1) : part))
}

describe('[F-38] zero differences', () => {
  it('whatever Proxmox makes of what was sent, it is what was declared', () => {
    fc.assert(
      fc.property(anyVm, fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })), (vm, stream) => {
        const resource = exampleResource(vm)
        const params = proxmoxRules.createSteps(resource, '114')[0]?.call?.params ?? {}
        const config = answered(params, () => stream.next().value as number)
        assert.deepEqual(proxmoxRules.diff(resource, exampleObserved(config)), [])
      }),
      { numRuns: 400 },
    )
  })
})
