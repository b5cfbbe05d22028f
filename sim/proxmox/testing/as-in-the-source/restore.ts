import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Qemu and ::VZDump say of backups that are read again. */

const QEMU = '/nodes/pve1/qemu'
const DISK = 'local:100/vm-100-disk-0.raw,size=2G'

test('a machine comes back from its backup, in place or under another id', async () => {
  const client = createTestClient({ preset: 'recording' })
  const mac = 'BC:24:11:00:00:01'
  await client.task('POST', QEMU, {
    vmid: '100',
    memory: '512',
    scsi0: 'local:2',
    net0: `virtio=${mac},bridge=vmbr0`,
  })
  await client.task('POST', '/nodes/pve1/vzdump', { vmid: '100', storage: 'local', compress: 'zstd' })
  const content = await client.data<{ volid: string; content: string }[]>('GET', '/nodes/pve1/storage/local/content')
  const archive = content.find((volume) => volume.content === 'backup')?.volid ?? ''
  const text = await client.data<string>('GET', `/nodes/pve1/vzdump/extractconfig?volume=${archive}`)
  assert.match(text, /^memory: 512$/m)
  assert.match(text, /^#qmdump#map:scsi0:drive-scsi0:local:raw:$/m)
  await client.call('PUT', `${QEMU}/100/config`, { memory: '1024' })
  await holds(client, [
    ['POST', QEMU, { vmid: '100', archive }, "500 unable to restore VM 100 - VM 100 already exists on node 'pve1'"],
    ['POST', QEMU, { vmid: '101', archive, scsi1: 'local:1' }, { scsi1: "option conflicts with option 'archive'" }],
    [
      'POST',
      QEMU,
      { vmid: '101', archive: 'local:backup/none.vma' },
      "500 volume 'local:backup/none.vma' does not exist",
    ],
    ['POST', QEMU, { vmid: '100', archive, force: '1' }, 'task: OK'],
    ['POST', QEMU, { vmid: '101', archive, unique: '1', cores: '3' }, 'task: OK'],
  ])
  const first = await client.data<Record<string, string>>('GET', `${QEMU}/100/config`)
  const second = await client.data<Record<string, string>>('GET', `${QEMU}/101/config`)
  assert.deepEqual([String(first.memory), first.scsi0, first.lock], ['512', DISK, undefined])
  assert.deepEqual([String(second.cores), second.scsi0], ['3', DISK.replaceAll('100', '101')])
  assert.ok(first.net0?.includes(mac))
  assert.ok(!second.net0?.includes(mac), 'a unique copy has an address of its own')
})
