import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VmSpec } from '../../../model/vm.ts'
import { proxmoxRules } from '../rules.ts'
import { exampleResource } from '../testing/vm-example.ts'

const DISK = { slot: 'scsi0', storage: 'local', sizeGb: 10 }
const VM: Partial<VmSpec> = {
  power: 'stopped',
  memory: { dedicatedMb: 512 },
  disks: [DISK],
  nics: [{ slot: 'net0', model: 'virtio', bridge: 'vmbr0', mac: 'BC:24:11:00:00:01' }],
}

function wordsOf(more: Partial<VmSpec>, externalId = '114', uid = '0123456789abcdef') {
  const resource = { ...exampleResource({ ...VM, ...more }), uid }
  return proxmoxRules.likeness?.(proxmoxRules.createSteps(resource, externalId))
}

const ALIKE: readonly (readonly [string, Partial<VmSpec>])[] = [
  ['another name', { name: 'web-2' }],
  ['more memory', { memory: { dedicatedMb: 4096 } }],
  ['a larger disk', { disks: [{ ...DISK, sizeGb: 20 }] }],
  [
    'a card of another address',
    { nics: [{ slot: 'net0', model: 'virtio', bridge: 'vmbr0', mac: 'BC:24:11:AA:BB:0C' }] },
  ],
]
for (const [what, more] of ALIKE)
  test(`${what} is said in the same words`, () => {
    assert.ok(wordsOf({}) !== undefined)
    assert.equal(wordsOf(more, '115', 'fedcba9876543210'), wordsOf({}))
  })

const UNLIKE: readonly (readonly [string, Partial<VmSpec>])[] = [
  ['another host', { host: 'pve2' }],
  ['another storage', { disks: [{ ...DISK, storage: 'fast' }] }],
  ['another bridge', { nics: [{ slot: 'net0', model: 'virtio', bridge: 'vmbr1', mac: 'BC:24:11:00:00:01' }] }],
  ['a field more', { onBoot: true }],
  ['another tag', { tags: ['web'] }],
  ['text of a person', { description: 'mine' }],
]
for (const [what, more] of UNLIKE)
  test(`${what} is said in other words`, () => {
    assert.ok(wordsOf(more) !== undefined)
    assert.notEqual(wordsOf(more), wordsOf({}))
  })

test('a flag and its opposite are other words', () => {
  assert.notEqual(wordsOf({ onBoot: true }), wordsOf({ onBoot: false }))
})

const MORE_FOLLOWS: readonly (readonly [string, Partial<VmSpec>])[] = [
  ['a start', { power: 'running' }],
  ['a disk that grows after it was copied', { disks: [{ ...DISK, importFrom: 'local:import/noble.qcow2' }] }],
  ['a template', { template: true }],
]
for (const [what, more] of MORE_FOLLOWS)
  test(`where ${what} follows, what was made is read`, () => assert.equal(wordsOf(more), undefined))

test('a container is read', () => {
  const [step] = proxmoxRules.createSteps(exampleResource(VM), '114')
  assert.ok(step?.lane === 'rest')
  const call = { ...step.call, path: '/nodes/pve1/lxc' }
  assert.equal(proxmoxRules.likeness?.([{ ...step, call }]), undefined)
})
