import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, type TestClient } from '../../test-client.ts'
import { holds, type Params } from '../../testing/answered-rows.ts'

/** Sequences that were sent to the real daemon, with what it answered: machines, and who may do what with them. */

const QEMU = '/nodes/pve1/qemu'
const VM = `${QEMU}/100`

test('sizes of disks are whole KiB, processors are those that are said, and Windows keeps its board', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    ['POST', QEMU, { vmid: '100', scsi0: 'local:0.3', scsi1: 'local:0.0000001', vcpus: '99' }, 'task: OK'],
    ['POST', QEMU, { vmid: '101', machine: 'q35', ostype: 'win11' }, 'task: OK'],
    ['PUT', `${VM}/config`, { machine: 'q35,viommu=intel' }, 'done'],
    ['PUT', `${VM}/config`, { ostype: 'win11' }, 'done'],
    ['PUT', `${VM}/config`, { ide0: 'cdrom', ide2: 'none,media=cdrom' }, 'done'],
    ['PUT', `${VM}/config`, { protection: '1' }, 'done'],
    ['PUT', `${VM}/config`, { delete: 'ide0' }, "500 can't remove drive 'ide0' - protection mode enabled"],
  ])
  const config = await client.data<Record<string, string>>('GET', `${VM}/config`)
  assert.deepEqual(
    [config.scsi0, config.scsi1, config.machine],
    [
      'local:100/vm-100-disk-0.raw,size=314573K',
      'local:100/vm-100-disk-1.raw,size=1K',
      'pc-q35-10.0+pve1,viommu=intel',
    ],
  )
  const other = await client.data<Record<string, string>>('GET', `${QEMU}/101/config`)
  assert.equal(other.machine, 'pc-q35-10.0+pve1')
  assert.equal((await client.data<{ cpus: number }>('GET', `${VM}/status/current`)).cpus, 99)
  const { local_disks: disks } = await client.data<{ local_disks: Record<string, unknown>[] }>('GET', `${VM}/migrate`)
  assert.deepEqual(
    disks.map(({ drivename, volid, cdrom, size }) => [drivename, volid, cdrom, size]),
    [
      ['ide0', 'cdrom', 1, undefined],
      ['scsi0', 'local:100/vm-100-disk-0.raw', 0, 314_573 * 1024],
      ['scsi1', 'local:100/vm-100-disk-1.raw', 0, 1024],
    ],
  )
})

/** Makes a user with these rights and reports how its calls end. */
async function somebody(client: TestClient, grants: Readonly<Record<string, string>>) {
  await client.data('POST', '/access/users', { userid: 'some@pve' })
  let number = 0
  for (const [path, privs] of Object.entries(grants)) {
    const roleid = `Role${number++}`
    await client.data('POST', '/access/roles', { roleid, privs })
    await client.data('PUT', '/access/acl', { path, roles: roleid, users: 'some@pve' })
  }
  const { value } = await client.data<{ value: string }>('POST', '/access/users/some@pve/token/one', { privsep: '0' })
  return async (method: string, path: string, params?: Params): Promise<string> => {
    const answer = await client.clock.runUntil(
      client.datacentre.handle({
        method,
        path: `/api2/json${path}`,
        headers: {
          authorization: `PVEAPIToken=some@pve!one=${value}`,
          ...(params === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(params === undefined ? {} : { body: new URLSearchParams(params).toString() }),
      }),
    )
    if (answer.status !== 200) return answer.reason
    const { data } = JSON.parse(answer.body)
    return typeof data === 'string' && data.startsWith('UPID') ? exitOf(client, data) : 'done'
  }
}

const denied = (what: string) => `Permission check failed (${what})`

test('a change asks for the storage before the guest, and for what a slot holds last', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.task('POST', QEMU, { vmid: '100', scsi0: 'local:1', tags: 'a' })
  const ask = await somebody(client, { '/vms': 'VM.Audit,VM.Config.CPU,VM.Config.Network' })
  const put = (params: Params) => ask('PUT', `${VM}/config`, params)
  assert.deepEqual(
    [
      await put({ scsi1: 'local:1' }),
      await put({ ide2: 'local:iso/cloud.img,media=cdrom' }),
      await put({ ide2: 'none,media=cdrom' }),
      await put({ ide3: 'local:cloudinit' }),
      await put({ ide0: 'cdrom' }),
      await put({ delete: 'unused0' }),
      await put({ delete: 'scsi0' }),
      await put({ startup: 'order=1' }),
      await put({ tags: 'b' }),
      await put({ cores: '2', vga: 'std' }),
      await put({ vmstatestorage: 'local' }),
    ],
    [
      denied('/storage/local, Datastore.AllocateSpace'),
      denied('/storage/local, Datastore.AllocateSpace|Datastore.Audit'),
      denied('/vms/100, VM.Config.CDROM'),
      denied('/vms/100, VM.Config.Cloudinit'),
      denied('/, Sys.Console'),
      'done',
      denied('/vms/100, VM.Config.Disk'),
      denied('/vms/100, VM.Config.Options'),
      denied('/vms/100, VM.Config.Options'),
      denied('/vms/100, VM.Config.HWType'),
      denied('/vms/100, VM.Config.Disk'),
    ],
  )
})

test('what needs more than the guest: storages for its state, random numbers of the host, sizes', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.task('POST', QEMU, { vmid: '100', scsi0: 'local:1' })
  const privs = 'VM.Audit,VM.Config.Disk,VM.Config.CDROM,VM.Config.Cloudinit,VM.Config.HWType'
  const ask = await somebody(client, { '/vms': privs })
  const put = (params: Params) => ask('PUT', `${VM}/config`, params)
  assert.deepEqual(
    [
      await put({ ide3: 'local:cloudinit' }),
      await put({ vmstatestorage: 'local' }),
      await put({ rng0: 'source=/dev/hwrng' }),
      await put({ rng0: 'source=/dev/urandom' }),
      await ask('PUT', `${VM}/resize`, { disk: 'scsi0', size: '+1M' }),
    ],
    [
      'done',
      denied('/storage/local, Datastore.AllocateSpace'),
      denied('/mapping/hwrng, Mapping.Use'),
      'done',
      `403 ${denied('/storage/local, Datastore.AllocateSpace')}`,
    ],
  )
})

test('a new machine in a pool: disks need their storage alone, and tags a right that the pool does not give yet', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.data('POST', '/pools', { poolid: 'team' })
  const ask = await somebody(client, {
    '/pool/team': 'VM.Allocate,VM.Audit,VM.Config.Options',
    '/storage/local': 'Datastore.AllocateSpace',
  })
  const create = (params: Params) => ask('POST', QEMU, { vmid: '300', pool: 'team', ...params })
  assert.deepEqual(
    [
      await create({ name: 'x', tags: 'a' }),
      await create({ scsi0: 'local:1', cores: '2' }),
      await create({ serial0: 'socket' }),
      await create({ ide2: 'cdrom' }),
      await create({ scsi0: 'local:1', name: 'x', ide2: 'local:cloudinit' }),
      await ask('PUT', `${QEMU}/300/config`, { tags: 'a' }),
    ],
    [
      `unable to create VM 300 - 403 ${denied('/vms/300, VM.Config.Options')}`,
      denied('/vms/300, VM.Config.CPU'),
      denied('/vms/300, VM.Config.HWType'),
      'Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 651.',
      'OK',
      'done',
    ],
  )
})
