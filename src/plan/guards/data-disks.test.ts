import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataDisks as disksOf } from '../../drivers/proxmox/irreplaceable.ts'
import { DEFAULT_POLICY, type Policy } from '../../model/declaration.ts'
import { destroying, removed } from '../../model/destruction.ts'
import type { Approval } from '../../model/estate.ts'
import type { Action, Doing } from '../../model/plan.ts'
import { estateOf, guest, NOW, ORIGIN, step } from '../testing/fixture.ts'
import { dataDisks } from './data-disks.ts'

const DELETE = { do: 'delete', externalId: '1', host: 'a', steps: [], reason: '' } as Action & Doing
const OTHERS = ['create', 'update', 'adopt', 'replace'].map((what) => ({ ...DELETE, do: what }) as Action & Doing)
const HARMLESS = 'configure'

function judged(
  action: Action & Doing,
  disks: readonly string[],
  more: { readonly policy?: Partial<Policy>; readonly approvals?: readonly Partial<Approval>[] } = {},
): string {
  const approvals = (more.approvals ?? []).map((one) => ({ name: 'x', deletes: [], origin: ORIGIN, ...one }))
  const entry = { key: 'Machine/db', uid: 'u', connection: 'c', type: 'vm' as const, action }
  const policy = { ...DEFAULT_POLICY, ...more.policy }
  const context = {
    estate: estateOf([], { approvals }),
    members: new Map(),
    suspicions: new Map(),
    deleting: [],
    machines: new Map([['', 1]]),
    sourceOf: () => '',
    nowMs: NOW,
  }
  const verb = action.do === 'delete' ? 'delete' : HARMLESS
  const gone = step(verb, '1', verb === 'delete' ? destroying(removed(guest(1), disks)) : {})
  const after = dataDisks.judge({ ...action, steps: [gone] } as Action & Doing, { entry, policy }, context)
  return after.do === 'hold' ? `hold: ${after.reason}` : after.do
}

test('a machine with data disks is deleted only when a person named it, or said before that its data may go', () => {
  const held = 'hold: Machine/db has data on scsi1, unused0, which would be gone with it'
  assert.equal(judged(DELETE, ['scsi1', 'unused0']), held)
  assert.equal(judged(DELETE, []), 'delete')
  assert.equal(judged(DELETE, ['scsi1', 'unused0'], { approvals: [{ maxDeletes: 5 }] }), held)
  assert.equal(judged(DELETE, ['scsi1', 'unused0'], { approvals: [{ deletes: ['Machine/web'] }] }), held)
  assert.equal(judged(DELETE, ['scsi1', 'unused0'], { approvals: [{ deletes: ['Machine/db'], expiresMs: NOW }] }), held)
  assert.equal(judged(DELETE, ['scsi1'], { approvals: [{ deletes: ['Machine/db'] }] }), 'delete')
  assert.equal(judged(DELETE, ['scsi1'], { policy: { dataMayGo: true } }), 'delete')
  for (const action of OTHERS) assert.equal(judged(action, ['scsi1']), action.do)
})

test('what a guest starts from is no data disk; what was taken out of it is', () => {
  const of = (config: Readonly<Record<string, string>>) =>
    disksOf({ ...guest(100), close: { config, atMs: NOW } }).join(' ')
  const disk = 'local:vm-100-disk-0,size=8G'
  assert.equal(of({ scsi0: disk }), '')
  assert.equal(of({ scsi0: disk, boot: 'order=scsi0', ide2: 'local:cloudinit,media=cdrom' }), '')
  assert.equal(of({ scsi0: disk, scsi1: disk, boot: 'order=scsi0;net0' }), 'scsi1')
  assert.equal(of({ scsi0: disk, scsi1: disk, boot: 'order=net0;scsi1' }), 'scsi0')
  assert.equal(of({ scsi0: disk, unused0: disk }), 'unused0')
  assert.equal(of({ rootfs: disk, mp0: disk }), 'mp0')
  assert.equal(of({}), '')
})
