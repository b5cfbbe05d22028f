import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Survey } from '../../../model/resource.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { printDescription } from '../marks.ts'
import { proxmoxRules as rules } from '../rules.ts'
import { EXAMPLE_UID, exampleObserved, exampleResource } from '../testing/vm-example.ts'

const SURVEY: Survey = {
  connection: 'default',
  atMs: 0,
  hosts: [{ name: 'pve1', online: true }],
  storages: [],
  resources: [
    { connection: 'default', type: 'vm', externalId: '900', host: 'pve1', template: true },
    { connection: 'default', type: 'vm', externalId: '901', host: 'pve1' },
    { connection: 'default', type: 'vm', externalId: '902', host: 'pve2' },
  ],
  tasks: [],
}

const blockedPaths = (vm: Partial<VmSpec>, config: object = {}) =>
  rules
    .diff(exampleResource(vm), exampleObserved({ ...config }))
    .flatMap(({ path, blocked }) => (blocked ? [path] : []))
const obstacles = (vm: Partial<VmSpec>) => rules.obstacles(exampleResource(vm), SURVEY).map(({ message }) => message)

describe('what a token may not set', () => {
  const rows: readonly (readonly [string, Partial<VmSpec>])[] = [
    ['cpu.affinity', { cpu: { affinity: '0-3' } }],
    ['cpu.architecture', { cpu: { architecture: 'aarch64' } }],
    ['memory.hugepages', { memory: { hugepages: 'any' } }],
    ['memory.keepHugepages', { memory: { keepHugepages: true } }],
    ['memory.shared', { memory: { shared: 32 } }],
    ['hookScript', { hookScript: 'local:snippets/x.sh' }],
    ['amdSev', { amdSev: { type: 'std' } }],
    ['usb.usb0', { usb: [{ slot: 'usb0', device: '1234:5678' }] }],
    ['pci.hostpci0', { pci: [{ slot: 'hostpci0', device: '0000:01:00.0' }] }],
    ['serial.serial0', { serial: [{ slot: 'serial0', device: '/dev/ttyS0' }] }],
  ]
  for (const [path, vm] of rows) {
    it(`${path} is refused before anything runs, for a new VM and for one that is there`, () => {
      assert.deepEqual(blockedPaths(vm), [path])
      const [message, ...more] = obstacles(vm)
      assert.match(message ?? '', /SSH lane/)
      assert.deepEqual(more, [])
    })
  }

  it('what is so already is no reason to refuse', () => {
    assert.deepEqual(blockedPaths({ cpu: { affinity: '0-3' } }, { affinity: '0-3' }), [])
    assert.deepEqual(obstacles({ cpu: { architecture: 'x86_64' }, memory: { keepHugepages: false } }), [])
    const [create] = rules.createSteps(exampleResource({ cpu: { architecture: 'x86_64' } }), '114')
    assert.equal(create?.call?.params.arch, undefined)
  })

  it('[A26] by its mapping a device is attached', () => {
    const vm: Partial<VmSpec> = {
      usb: [
        { slot: 'usb0', mapping: 'coral' },
        { slot: 'usb1', device: 'spice' },
      ],
      pci: [{ slot: 'hostpci0', mapping: 'gpu' }],
    }
    assert.deepEqual(blockedPaths(vm), [])
    assert.deepEqual(obstacles(vm), [])
  })
})

describe('moving a disk', () => {
  const disks = [{ slot: 'scsi0', storage: 'fast', format: 'qcow2' as const }]
  const there = { scsi0: 'local:114/vm-114-disk-0.raw,size=8G' }

  it('is one call for storage and format, which takes the source away', () => {
    const resource = exampleResource({ disks })
    const observed = exampleObserved(there)
    const [step, ...more] = rules.updateSteps(resource, observed, rules.diff(resource, observed))
    assert.deepEqual(step?.call, {
      method: 'POST',
      path: '/nodes/pve1/qemu/114/move_disk',
      params: { disk: 'scsi0', storage: 'fast', format: 'qcow2', delete: '1', digest: 'd1' },
    })
    assert.equal(step?.verb, 'move')
    assert.deepEqual(more, [])
  })

  it('is refused while snapshots stand on it, and for a TPM while the VM runs', () => {
    assert.deepEqual(blockedPaths({ disks }, { ...there, parent: 'one' }), [
      'disks.scsi0.storage',
      'disks.scsi0.format',
    ])
    const tpm = { tpm: { storage: 'fast' } }
    const config = { tpmstate0: 'local:114/vm-114-disk-1.raw,size=4M,version=v2.0' }
    assert.deepEqual(blockedPaths(tpm, config), ['tpm.storage'])
    const stopped = exampleObserved(config, { power: 'stopped' })
    assert.deepEqual(
      rules.updateSteps(exampleResource(tpm), stopped, rules.diff(exampleResource(tpm), stopped)).map((s) => s.verb),
      ['move'],
    )
  })
})

describe('taking out what is declared no more', () => {
  const mark = { uid: EXAMPLE_UID, owner: 'EnvironmentVM/web-1', estate: 'home', deletion: 'Delete' as const }
  const ours = (devices: readonly string[], config: object) =>
    exampleObserved({ description: printDescription('', { ...mark, devices }, '114'), ...config })
  const config = { scsi1: 'local:114/vm-114-disk-1.raw,size=8G', net1: 'virtio=BC:24:11:00:00:01,bridge=vmbr0' }

  it('what croft put there is detached, and a disk is kept', () => {
    const observed = ours(['net1', 'scsi1'], config)
    const changes = rules.diff(exampleResource(), observed)
    assert.deepEqual(
      changes.map(({ path, to, effect }) => [path, to, effect]),
      [
        ['nics.net1', 'taken out', 'live'],
        ['disks.scsi1', 'detached, kept as an unused disk', 'live'],
      ],
    )
    assert.equal(rules.updateSteps(exampleResource(), observed, changes)[0]?.call?.params.delete, 'net1,scsi1')
  })

  it('what somebody else put there stays', () => {
    assert.deepEqual(rules.diff(exampleResource(), ours([], config)), [])
  })

  it('a place that somebody emptied is no longer ours', () => {
    const observed = ours(['scsi1'], {})
    const changes = rules.diff(exampleResource(), observed)
    assert.deepEqual(
      changes.map(({ path }) => path),
      ['mark'],
    )
    const [step] = rules.updateSteps(exampleResource(), observed, changes)
    assert.equal(step?.call?.params.description, printDescription('', mark, '114'))
  })

  it('a protected disk is not detached', () => {
    const observed = ours(['scsi1'], { ...config, protection: 1 })
    assert.match(rules.diff(exampleResource(), observed)[0]?.blocked?.allow ?? '', /protection: false/)
  })
})

describe('cloning', () => {
  const clone = { vmid: 900, full: false }

  it('copies under the chosen id, with a description that says whose it is', () => {
    const resource = exampleResource({
      clone,
      power: 'running',
      disks: [{ slot: 'scsi0', storage: 'fast', sizeGb: 20 }],
    })
    const steps = rules.createSteps(resource, '114', SURVEY)
    assert.deepEqual(
      steps.map((step) => step.verb),
      ['create', 'configure', 'resize', 'start'],
    )
    const [first] = steps
    assert.equal(first?.call?.path, '/nodes/pve1/qemu/900/clone')
    assert.equal(first?.call?.params.newid, '114')
    assert.equal(first?.call?.params.full, '0')
    assert.match(first?.call?.params.description ?? '', new RegExp(`id=114 uid=${EXAMPLE_UID}$`))
    assert.equal(first?.taskSubject, '900')
    // Clones of a template share its lock; a source that may run is locked for a single clone.
    assert.ok(first?.queues.every((queue) => !queue.startsWith('single/')))
    const running = {
      ...SURVEY,
      resources: SURVEY.resources.map((one) => ({ ...one, template: false, power: 'running' as const })),
    }
    assert.ok(rules.createSteps(resource, '114', running)[0]?.queues.includes('single/guest/900'))
  })

  it('needs a source that is there, where it is said to be, and for a linked clone a template', () => {
    assert.deepEqual(obstacles({ clone }), [])
    assert.match(obstacles({ clone: { vmid: 999, full: true } })[0] ?? '', /no VM 999/)
    assert.match(obstacles({ clone: { vmid: 901, full: false } })[0] ?? '', /not a template/)
    assert.deepEqual(obstacles({ clone: { vmid: 901, full: true } }), [])
    assert.match(obstacles({ clone: { vmid: 902, full: true } })[0] ?? '', /is on pve2, not on pve1/)
    assert.deepEqual(obstacles({ clone: { vmid: 902, full: true, host: 'pve2' } }), [])
  })
})

it('a guest that is protected in Proxmox is not even shut down for removal', () => {
  assert.equal(rules.undeletable?.(exampleObserved()), undefined)
  assert.match(rules.undeletable?.(exampleObserved({ protection: 1 }))?.allow ?? '', /qm set 114 --protection 0$/)
})
