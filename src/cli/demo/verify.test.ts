import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { SimulatedGuest } from '../runtime.ts'
import { missingFrom } from './verify.ts'

const server: SimulatedGuest = {
  vmid: 108,
  host: 'still-fawn',
  name: 'k3s-vm-still-fawn',
  running: true,
  booted: true,
  agent: true,
  startedAtMs: 5,
  config: {},
  disks: [],
}
const third: SimulatedGuest = {
  ...server,
  vmid: 114,
  host: 'fun-bedbug',
  name: 'k3s-vm-fun-bedbug',
  config: { ide2: 'local:114/vm-114-cloudinit.qcow2,media=cdrom' },
  disks: [{ volume: 'local:114/vm-114-disk-0.qcow2', bytes: 50 * 1024 ** 3 }],
}
const record: ResourceRecord = {
  key: 'EnvironmentVM/k3s-vm-fun-bedbug',
  uid: 'u',
  connection: 'default',
  type: 'vm',
  generation: 'g',
  policy: DEFAULT_POLICY,
  conditions: [{ type: 'Ready', status: 'True', reason: '', message: '', sinceMs: 0 }],
  createdMs: 0,
  status: 'Running',
}

test('a tour that reached its end lacks nothing', () => {
  assert.deepEqual(missingFrom([server], [server, third], [record]), [])
})

test('everything that the tour tells is checked in the datacentre itself', () => {
  const cases: readonly [readonly SimulatedGuest[], readonly ResourceRecord[], RegExp][] = [
    [[server], [record], /VM 114/],
    [[server, { ...third, host: 'still-fawn' }], [record], /on fun-bedbug/],
    [[server, { ...third, booted: false }], [record], /a booted VM 114/],
    [[server, { ...third, agent: false }], [record], /the agent/],
    [[server, { ...third, disks: [] }], [record], /50 GiB/],
    [[server, { ...third, config: {} }], [record], /cloud-init/],
    [[server, third, { ...third, vmid: 115 }], [record], /exactly one more/],
    [[{ ...server, startedAtMs: 9 }, third], [record], /VM 108 untouched/],
    [[third], [record], /VM 108 untouched/],
    [[server, third], [{ ...record, conditions: [] }], /Ready of/],
    [[server, third], [], /any resource/],
  ]
  for (const [after, records, expected] of cases)
    assert.match(missingFrom([server], after, records).join('; '), expected)
})
