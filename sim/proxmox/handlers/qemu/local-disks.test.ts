import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** What is listed of the disks that keep a VM on its host, asked of the real daemon. */

type Row = Record<string, unknown>
const VM = '/nodes/pve1/qemu/100'

test('a volume is listed once, with the snapshots that remember it and the size that is written down', async () => {
  const client = createTestClient({ preset: 'recording' })
  const made = { vmid: '100', scsi0: 'local:1,format=qcow2', ide2: 'local:cloudinit', ide3: 'none,media=cdrom' }
  await holds(client, [
    ['POST', '/nodes/pve1/qemu', made, 'task: OK'],
    ['POST', `${VM}/snapshot`, { snapname: 'one' }, 'task: OK'],
    ['PUT', `${VM}/config`, { scsi1: 'local:2,replicate=0' }, 'done'],
    ['PUT', `${VM}/config`, { delete: 'scsi1' }, 'done'],
  ])
  const { local_disks: rows } = await client.data<{ local_disks: Row[] }>('GET', `${VM}/migrate`)
  const plain = { cdrom: 0, is_attached: 1, is_cloudinit: 0, is_tpmstate: 0, is_unused: 0, is_vmstate: 0, shared: 0 }
  const GIB = 1024 ** 3
  const kept = { referenced_in_snapshot: { one: 1 } }
  const expected = [
    { ...plain, ...kept, volid: 'local:100/vm-100-disk-0.qcow2', drivename: 'scsi0', size: GIB, replicate: 1 },
    {
      ...plain,
      ...kept,
      volid: 'local:100/vm-100-cloudinit.qcow2',
      drivename: 'ide2',
      cdrom: 1,
      is_cloudinit: 1,
      replicate: 1,
    },
    { ...plain, volid: 'local:100/vm-100-disk-1.raw', is_attached: 0, is_unused: 1, replicate: 1 },
  ]
  const byVolume = (a: Row, b: Row) => String(a.volid).localeCompare(String(b.volid))
  assert.deepEqual([...rows].sort(byVolume), [...expected].sort(byVolume))
})
