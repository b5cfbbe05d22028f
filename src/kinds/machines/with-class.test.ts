import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Declaration } from '../../model/declaration.ts'
import { readText, told } from '../../source/testing/fixture.ts'
import { declare, expand, vmOf } from './testing/fixture.ts'

const bindings = { networks: { lan: { bridge: 'vmbr0' } }, storages: { fast: 'local-zfs', files: 'local' } }
const AROUND: readonly Declaration[] = [
  declare('Proxmox', 'default', { endpoint: 'https://127.0.0.1:8006', token: { env: 'T' } }),
  declare('Host', 'alpha', { bindings }),
  declare('Image', 'noble', { url: 'https://example.com/noble.qcow2', storage: 'files' }),
  declare('MachineClass', 'web', {
    cpu: { cores: 2, type: 'host' },
    memory: '4Gi',
    disks: [{ size: '20Gi', image: 'noble', storage: 'fast' }],
    networks: [{ network: 'lan' }],
    proxmox: { bios: 'ovmf', pool: 'web' },
    user: 'ops',
    tags: ['web'],
    agent: false,
    onBoot: true,
  }),
]

const machine = (spec: object) => vmOf(declare('Machine', 'm', { host: 'alpha', ...spec }), AROUND)

test('a machine is what its class says', () => {
  const vm = machine({ class: 'web' })
  assert.deepEqual([vm.cpu, vm.memory], [{ cores: 2, type: 'host' }, { dedicatedMb: 4096 }])
  assert.deepEqual([vm.bios, vm.pool, vm.tags, vm.agent, vm.onBoot], ['ovmf', 'web', ['web'], { enabled: false }, true])
  assert.deepEqual([vm.disks.length, vm.nics.length], [1, 1])
  assert.match(JSON.stringify(vm.seed?.document.userData), /"name":"ops"/)
})

test('what the machine says itself comes first: blocks field by field, lists whole', () => {
  const vm = machine({
    class: 'web',
    cpu: { cores: 8 },
    memory: '16Gi',
    proxmox: { pool: 'db' },
    disks: [{ size: '5Gi', storage: 'fast' }],
    agent: true,
    tags: ['db'],
  })
  assert.deepEqual([vm.cpu, vm.memory?.dedicatedMb], [{ cores: 8, type: 'host' }, 16_384])
  assert.deepEqual([vm.bios, vm.pool, vm.tags, vm.agent], ['ovmf', 'db', ['db'], { enabled: true }])
  assert.deepEqual(
    vm.disks.map(({ sizeGb, importFrom }) => [sizeGb, importFrom]),
    [[5, undefined]],
  )
})

test('an image is kept where machines are made from it, also those that a class makes', () => {
  const made = declare('Machine', 'm', { host: 'alpha', class: 'web' })
  const image = AROUND.find(({ kind }) => kind === 'Image')
  assert.ok(image)
  const expanded = expand(image, [...AROUND, made])
  assert.ok('role' in expanded && expanded.role === 'resources')
  assert.deepEqual(
    expanded.parts.map(({ key }) => key),
    ['Image/noble@alpha'],
  )
})

test('a class that is not there, or says too little, is told at the class', () => {
  const complaints = (spec: object, more: readonly Declaration[] = []) => {
    const expanded = expand(declare('Machine', 'm', { host: 'alpha', ...spec }), [...AROUND, ...more])
    return 'problems' in expanded
      ? expanded.problems.map(({ path, message, hint }) => `${path.join('.')}: ${message} (${hint})`)
      : []
  }
  assert.deepEqual(complaints({ class: 'wbe' }), ['spec.class: there is no MachineClass wbe (did you mean web?)'])
  const empty = declare('MachineClass', 'empty', { cpu: { type: 'host' } })
  assert.deepEqual(complaints({ class: 'empty' }, [empty]), [
    'spec.class: neither the machine nor MachineClass empty says cpu.cores (add cpu.cores to either)',
  ])
})

test('without a class a machine must say how large it is', () => {
  const text =
    'apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: {name: m}\nspec:\n  host: alpha\n  cpu: {type: host}\n'
  assert.deepEqual(told(readText(text).problems), [
    'missing-field 4:1 memory is missing (say it here, or name a class that does)',
    'missing-field 6:3 cpu.cores is missing (say it here, or name a class that does)',
  ])
})

test('a fixed address belongs to a machine, not to a class', () => {
  const text = `apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: m}
spec:
  networks: [{network: lan, address: 10.0.0.5}]
  disks: [{size: 500Mi, storage: fast}]
`
  assert.deepEqual(told(readText(text).problems), [
    'bad-value 6:18 size is 500Mi; disks grow in whole Gi (write it in Gi)',
    'bad-value 5:38 a fixed address belongs to one machine (write pool or dhcp here)',
  ])
})
