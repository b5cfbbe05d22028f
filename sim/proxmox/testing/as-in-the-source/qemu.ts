import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { type AnsweredRow, holds, outcome } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Qemu, PVE::AbstractConfig and the storage plugins say, by the name of the method there. */

const NODE = '/nodes/pve1'
const VM = `${NODE}/qemu/100`

async function site(): Promise<TestClient> {
  const client = createTestClient({ preset: 'recording' })
  await client.data('POST', '/storage', { storage: 's2', type: 'dir', path: '/var/lib/vz2', content: 'images' })
  await client.data('POST', '/storage', { storage: 'isos', type: 'dir', path: '/var/lib/isos', content: 'iso' })
  const vm = {
    vmid: '100',
    name: 'a',
    memory: '512',
    scsi0: 'local:1,format=qcow2',
    ide2: 'local:iso/cloud.img,media=cdrom',
  }
  assert.equal(await client.task('POST', `${NODE}/qemu`, vm), 'OK')
  assert.equal(await client.task('POST', `${NODE}/qemu`, { vmid: '101', scsi1: 'local:1' }), 'OK')
  return client
}

const ZEROS = '0'.repeat(40)

test('move_vm_disk: the checks before the task, in their order', async () => {
  const client = await site()
  const move = (params: Record<string, string>, expected: unknown): AnsweredRow => [
    'POST',
    `${VM}/move_disk`,
    params,
    expected,
  ]
  await holds(client, [
    move({ disk: 'scsi0', storage: 'isos' }, { storage: "storage 'isos' does not support vm images" }),
    move({ disk: 'scsi0', storage: 'local' }, "500 you can't move to the same storage with same format"),
    move({ disk: 'ide2', storage: 's2' }, "500 you can't move a cdrom"),
    ['POST', `${VM}/snapshot`, { snapname: 'one' }, 'task: OK'],
    move(
      { disk: 'scsi0', storage: 's2', delete: '1' },
      "500 you can't move a disk with snapshots and delete the source",
    ),
    ['DELETE', `${VM}/snapshot/one`, undefined, 'task: OK'],
    ['POST', `${VM}/status/start`, {}, 'task: OK'],
    ['POST', `${VM}/status/stop`, {}, 'task: OK'],
  ])
})

test('clone_vm: where a copy may go and what can be copied', async () => {
  const client = await site()
  const clone = (params: Record<string, string>, expected: unknown): AnsweredRow => [
    'POST',
    `${VM}/clone`,
    params,
    expected,
  ]
  await holds(client, [
    clone({ newid: '200', storage: 'nope' }, "500 storage 'nope' does not exist"),
    clone({ newid: '200', storage: 'isos' }, { storage: "storage 'isos' does not support vm images" }),
    ['PUT', '/storage/s2', { disable: '1' }, 'done'],
    clone({ newid: '200', storage: 's2' }, "500 storage 's2' is disabled"),
    ['PUT', '/storage/s2', { disable: '0', nodes: 'pve9' }, 'done'],
    clone({ newid: '200', storage: 's2' }, "500 storage 's2' is not available on node 'pve1'"),
    clone({ newid: '200', target: 'pve9' }, "500 no such cluster node 'pve9'"),
    clone({ newid: '200', full: '0', format: 'raw' }, "500 parameter 'format' not allowed for linked clones"),
    clone({ newid: '101' }, '500 unable to create VM 101: config file already exists'),
    clone(
      { newid: '200', full: '0' },
      "500 Linked clone feature is not supported for 'local:100/vm-100-disk-0.qcow2' (scsi0)",
    ),
    ['PUT', `${VM}/config`, { protection: '1' }, 'done'],
    clone({ newid: '200', target: 'pve1' }, 'task: OK'),
  ])
  const copy = await client.data<Record<string, unknown>>('GET', `${NODE}/qemu/200/config`)
  assert.deepEqual([copy.name, copy.protection], ['Copy-of-VM-a', 1])
})

test('snapshot, delsnapshot, rollback: names, templates and the memory', async () => {
  const client = await site()
  const at = `${VM}/snapshot`
  await holds(client, [
    ['POST', at, { snapname: 'Pending' }, "500 unable to use snapshot name 'pending' (reserved name)"],
    [
      'DELETE',
      `${NODE}/qemu/999/snapshot/one`,
      undefined,
      "task: Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist",
    ],
    [
      'POST',
      `${NODE}/qemu/999/snapshot`,
      { snapname: 'one' },
      "500 Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist",
    ],
    ['POST', at, { snapname: 'one' }, 'task: OK'],
    ['PUT', `${at}/nope/config`, {}, 'done'],
    ['PUT', `${at}/nope/config`, { description: 'x' }, "500 snapshot 'nope' does not exist"],
    ['POST', `${VM}/status/start`, {}, 'task: OK'],
    ['POST', at, { snapname: 'live', vmstate: '1' }, 'task: OK'],
  ])
  const list = await client.data<{ name: string; vmstate?: number }[]>('GET', at)
  const named = list.map(({ name, vmstate }) => [name, vmstate] as const).sort(([a], [b]) => (a < b ? -1 : 1))
  assert.deepEqual(named, [
    ['current', undefined],
    ['live', 1],
    ['one', 0],
  ])
  const state = (volid: string) => volid === 'local:100/vm-100-state-live.raw'
  const volumes = async () =>
    (await client.data<{ volid: string }[]>('GET', `${NODE}/storage/local/content`)).map(({ volid }) => volid)
  assert.ok((await volumes()).some(state))
  await holds(client, [
    ['PUT', `${VM}/config`, { scsi3: 'local:1' }, 'done'],
    ['POST', `${VM}/status/stop`, {}, 'task: OK'],
    ['POST', `${at}/live/rollback`, {}, 'task: OK'],
  ])
  const { data } = JSON.parse((await client.call('GET', `${VM}/status/current`)).body) as { data: { status: string } }
  assert.equal(data.status, 'running', 'what was saved with its memory goes on by itself')
  const config = await client.data<Record<string, string>>('GET', `${VM}/config`)
  assert.equal(config.unused0, 'local:100/vm-100-disk-1.raw', 'a disk that came later is kept')
  assert.deepEqual([config.parent, config.vmstate, config.runningmachine], ['live', undefined, undefined])
  assert.equal(await outcome(client, 'DELETE', `${at}/live`), 'task: OK')
  assert.ok(!(await volumes()).some(state), 'the memory goes with it')
})

test('update_vm: the checks before anything is written, for PUT and for POST', async () => {
  const client = await site()
  const put = (params: Record<string, string>, expected: unknown): AnsweredRow => [
    'PUT',
    `${VM}/config`,
    params,
    expected,
  ]
  await holds(client, [
    put({}, '500 no options specified'),
    put(
      { delete: 'onboot', revert: 'onboot' },
      { revert: "you can't use '-delete onboot' and -revert onboot' at the same time" },
    ),
    put({ revert: 'bogus' }, { revert: "unknown option 'bogus'" }),
    put({ balloon: '1024' }, '500 balloon value too large (must be smaller than assigned memory)'),
    put({ scsi4: 'local:iso/cloud.img' }, { scsi4: "explicit 'media=cdrom' is required for iso images" }),
    put({ scsi4: 'local:import/cloud.qcow2' }, { scsi4: "content type needs to be 'images' or 'iso'" }),
    put({ boot: 'order=scsi0', delete: 'scsi0' }, "500 invalid bootorder: device 'scsi0' does not exist'"),
    ['POST', `${VM}/config`, { cores: '2', digest: ZEROS }, '500 checksum mismatch (file change by other user?)'],
    ['POST', `${VM}/config`, { cores: '2', background_delay: '5' }, 'done'],
    ['POST', `${VM}/config`, { ide3: 'local:cloudinit', background_delay: '5' }, 'done'],
    [
      'POST',
      `${VM}/config`,
      { ide1: 'local:cloudinit', background_delay: '5' },
      "500 failed to update VM 100: ide1 - cloud-init drive is already attached at 'ide3'",
    ],
    put({ delete: 'cdrom' }, 'done'),
    ['PUT', `${VM}/resize`, { disk: 'ide3', size: '+1G' }, "task: you can't resize a cdrom"],
    [
      'PUT',
      `${VM}/resize`,
      { disk: 'scsi0', size: '+1G', skiplock: '1' },
      { skiplock: 'Only root may use this option.' },
    ],
    [
      'PUT',
      `${NODE}/qemu/999/resize`,
      { disk: 'scsi0', size: '+1G' },
      "task: Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist",
    ],
  ])
  client.datacentre.patchGuest(100, { lock: 'migrate' })
  await holds(client, [
    ['POST', `${VM}/config`, { cores: '3' }, '500 VM is locked (migrate)'],
    ['PUT', `${VM}/snapshot/one/config`, { description: 'x' }, '500 VM is locked (migrate)'],
    ['GET', `${VM}/migrate`, undefined, '500 VM is locked (migrate)'],
  ])
})

test('a new machine: what is added, what is kept, and what is found only by the task', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/nodes/pve1/qemu'
  await holds(client, [
    [
      'POST',
      at,
      { vmid: '300', ide2: 'local:iso/gone.iso,media=cdrom' },
      "task: unable to create VM 300 - volume 'local:iso/gone.iso' does not exist",
    ],
    ['POST', at, { vmid: '300', unused0: 'local:x' }, "500 unable to parse directory volume name 'x'"],
    ['POST', at, { vmid: '300', sshkeys: 'ssh-rsa%20AAAA' }, '500 SSH public key validation error'],
    [
      'POST',
      at,
      { vmid: '300', scsi0: 'local:1,size=x' },
      {
        scsi0:
          'invalid format - format error\nscsi0.size: invalid format - value does not look like a valid disk size: x\n\n',
      },
    ],
    ['POST', at, { vmid: '300', smbios1: 'family=x', scsi1: 'none', net0: 'virtio,bridge=vmbr0' }, 'task: OK'],
    ['PUT', `${at}/300/config`, { delete: 'net0,scsi1' }, 'done'],
  ])
  const made = await client.data<Record<string, unknown>>('GET', `${at}/300/config`)
  assert.deepEqual(
    [made.smbios1, made.boot],
    ['family=x', ' '],
    'whatever goes leaves the order of devices to boot from',
  )
  await holds(client, [
    ['PUT', `${at}/300/config`, { ide0: 'cdrom' }, 'done'],
    ['POST', `${at}/300/clone`, { newid: '301' }, 'task: OK'],
  ])
  const copy = await client.data<Record<string, unknown>>('GET', `${at}/301/config`)
  assert.equal(copy.ide0, 'cdrom,media=cdrom')
  assert.match(String(copy.smbios1), /^family=x,uuid=[0-9a-f-]{36}$/, 'a copy has an identity of its own')
})
