import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimulatedGuest } from '../runtime.ts'
import { milestonesAfter } from './milestones.ts'

const bare: SimulatedGuest = {
  vmid: 114,
  host: 'fun-bedbug',
  name: '',
  running: false,
  booted: false,
  agent: false,
  startedAtMs: 0,
  config: {},
  disks: [],
}

test('milestones are told once, in order, and none before an earlier one', () => {
  assert.deepEqual(milestonesAfter(0, bare), ['VM 114 is there on fun-bedbug'])
  assert.deepEqual(milestonesAfter(1, bare), [])
  assert.deepEqual(milestonesAfter(1, { ...bare, running: true }), [])
  const made: SimulatedGuest = {
    ...bare,
    config: { scsi0: 'local:114/disk', ide2: 'local:114/vm-114-cloudinit.qcow2' },
    disks: [{ volume: 'local:114/disk', bytes: 3 * 1024 ** 3 }],
  }
  assert.deepEqual(milestonesAfter(1, made), ['the image is imported into scsi0', 'cloud-init is attached'])
  const grown = { ...made, running: true, booted: true, agent: true, disks: [{ volume: 'x', bytes: 50 * 1024 ** 3 }] }
  assert.deepEqual(milestonesAfter(3, grown), [
    'the disk is grown to 50 GiB',
    'it is started',
    'it has booted',
    'its agent is up',
  ])
})
