import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../test-client.ts'
import { type AnsweredRow, holds, type Params } from '../../testing/answered-rows.ts'

/** Sequences that were sent to the real daemon, with what it answered. */

const LXC = '/nodes/pve1/lxc'
const TEMPLATE = 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'

const create = (vmid: string, params: Params, expected: unknown = 'task: OK'): AnsweredRow => [
  'POST',
  LXC,
  { vmid, ostemplate: TEMPLATE, ...params },
  expected,
]

const put = (vmid: string, params: Params, expected: unknown = 'done'): AnsweredRow => [
  'PUT',
  `${LXC}/${vmid}/config`,
  params,
  expected,
]

function config(client: TestClient, vmid: string): Promise<Record<string, unknown>> {
  return client.data('GET', `${LXC}/${vmid}/config`)
}

test('a new container: what its root may be, and what is made of its options', async () => {
  const client = createTestClient({ preset: 'recording' })
  const loop = (path: string) => `command 'losetup --show -f /var/lib/vz/images/${path}' failed: exit code 1`
  await holds(client, [
    create(
      '300',
      { rootfs: '0' },
      '500 Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 651.',
    ),
    create('300', { rootfs: 'local:1' }, `task: unable to create CT 300 - ${loop('300/vm-300-disk-0.raw')}`),
    create('300', { storage: 'local' }, `task: unable to create CT 300 - ${loop('300/vm-300-disk-0.raw')}`),
    create(
      '300',
      { rootfs: 'local:iso/cloud.img' },
      "500 unable to use volume local:iso/cloud.img - content type needs to be 'rootdir'",
    ),
    create('300', {
      rootfs: 'local:0.0001',
      cpuunits: '20000',
      nameserver: '1.1.1.1,8.8.8.8',
      searchdomain: 'a.b,c.d',
      unused0: 'local:300/vm-300-disk-5.raw',
    }),
  ])
  const made = await config(client, '300')
  assert.deepEqual(
    [made.rootfs, made.cpuunits, made.nameserver, made.searchdomain, made.unused0],
    ['local:300/subvol-300-disk-0.subvol,size=0T', 10_000, '1.1.1.1 8.8.8.8', 'a.b c.d', undefined],
  )
})

test('mount points: numbers of disks, missing volumes, mapped ids, what is left over', async () => {
  const client = createTestClient({ preset: 'recording' })
  const gone = 'local:300/vm-300-disk-7.raw'
  await holds(client, [
    create('300', { rootfs: 'local:0' }),
    put('300', { mp0: 'local:1,mp=/one' }),
    put('300', { mp1: 'local:0.3,mp=/two,backup=0,acl=0' }),
    put('300', { mp2: `${gone},mp=/three` }),
    put(
      '300',
      { mp4: 'local:0,mp=/i,idmap=u:0:0:10;u:5:100:10' },
      "500 invalid map entry 'u 5 100 10': container uid 5 is also mapped by entry 'u 0 0 10'",
    ),
    put(
      '300',
      { mp4: 'local:0,mp=/i,idmap=g:0:0:10;g:20:9:10' },
      "500 invalid map entry 'g 20 9 10': host gid 9 is also mapped by entry 'g 0 0 10'",
    ),
    put('300', { mp4: 'local:0,mp=/i,idmap=u:0:0:10;g:0:0:10' }),
  ])
  const made = await config(client, '300')
  assert.deepEqual(
    [made.mp0, made.mp1, made.mp2, made.mp4],
    [
      'local:300/vm-300-disk-1.raw,mp=/one,size=1G',
      'local:300/vm-300-disk-2.raw,mp=/two,acl=0,backup=0,size=307M',
      `${gone},mp=/three`,
      'local:300/subvol-300-disk-3.subvol,mp=/i,idmap=u:0:0:10;g:0:0:10,size=0T',
    ],
  )
  await holds(client, [
    ['PUT', `${LXC}/300/resize`, { disk: 'mp2', size: '+1G' }, `500 volume '${gone}' does not exist`],
    ['POST', `${LXC}/300/move_volume`, { volume: 'mp2', storage: 'local' }, `task: volume '${gone}' does not exist`],
    ['POST', `${LXC}/300/status/start`, {}, `task: volume '${gone}' does not exist`],
    put('300', { delete: 'mp0' }),
    put('300', { mp0: 'local:300/vm-300-disk-1.raw,mp=/again', unused5: 'local:300/vm-300-disk-1.raw' }),
    put('300', { delete: 'unused5' }),
    ['PUT', `${LXC}/300/resize`, { disk: 'mp0', size: '+1G' }, 'task: OK'],
  ])
  assert.equal((await config(client, '300')).mp0, 'local:300/vm-300-disk-1.raw,mp=/again,size=2G', 'it is in use')
})

test('volumes that are mounted twice, cards on no bridge, processors by their limit', async () => {
  const client = createTestClient({ preset: 'recording' })
  const volid = 'local:300/subvol-300-disk-1.subvol'
  const nowhere = "500 bridge '' does not exist"
  await holds(client, [
    create('300', { rootfs: 'local:0', mp0: 'local:0,mp=/a' }),
    put('300', { mp1: `${volid},mp=/b` }),
    put('300', { delete: 'mp0', cpulimit: '1.5' }),
    put('300', { unused9: volid }),
  ])
  const kept = await config(client, '300')
  assert.deepEqual([kept.mp1, kept.unused0, kept.unused9], [`${volid},mp=/b,size=0T`, undefined, undefined])
  assert.equal((await client.data<{ cpus: unknown }>('GET', `${LXC}/300/status/current`)).cpus, '1.5')
  await holds(client, [
    put('300', { net0: 'name=eth0' }, nowhere),
    put('300', { memory: '128' }, nowhere),
    put('300', { delete: 'net0', cores: '3' }),
  ])
  assert.equal((await client.data<{ cpus: unknown }>('GET', `${LXC}/300/status/current`)).cpus, 3)
})

test('a change is asked about as a whole before any of it is written', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    create('300', { rootfs: 'local:0', cores: '1' }),
    create('301', { rootfs: 'local:0', unprivileged: '0' }),
    put('300', { delete: 'unprivileged', cores: '2' }, "500 unable to delete read-only option: 'unprivileged'"),
    put('301', { delete: 'unprivileged' }),
    put('300', { delete: 'cores', unprivileged: '1' }, "500 unable to modify read-only option: 'unprivileged'"),
    put('300', { delete: 'memory,cores', hostname: 'other' }, "500 unable to delete required option 'memory'"),
    put('300', { rootfs: 'local:2' }),
    put('300', { rootfs: 'local:300/subvol-300-disk-0.subvol', description: '' }),
    [
      'GET',
      `${LXC}/300/config?snapshot=xx&current=1`,
      undefined,
      {
        snapshot: "cannot use 'snapshot' parameter with 'current'",
        current: "cannot use 'snapshot' parameter with 'current'",
      },
    ],
  ])
  const kept = await config(client, '300')
  assert.deepEqual(
    [kept.cores, kept.hostname, kept.rootfs, kept.unused0, kept.description],
    [1, 'CT300', 'local:300/subvol-300-disk-0.subvol', undefined, undefined],
  )
  assert.equal(await client.task('POST', `${LXC}/300/move_volume`, { volume: 'rootfs', storage: 'local' }), 'OK')
  assert.equal((await config(client, '300')).rootfs, 'local:300/subvol-300-disk-1.subvol,size=0T', 'measured anew')
})

test('a template is made by a task that nobody is told of', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [create('300', { rootfs: 'local:0' }), ['POST', `${LXC}/300/template`, {}, 'done']])
  await client.pass(60_000)
  const tasks = await client.data<{ type: string; id: string }[]>('GET', '/nodes/pve1/tasks?typefilter=vztemplate')
  assert.deepEqual(
    tasks.map(({ type, id }) => [type, id]),
    [['vztemplate', '300']],
  )
  assert.equal((await config(client, '300')).template, 1)
})

test('who may do what with a container, and which right is asked for first', async () => {
  const client = createTestClient({ preset: 'recording' })
  const { world } = client.datacentre
  await holds(client, [
    create('300', { rootfs: 'local:0', env: 'A=1', net0: 'name=eth0,bridge=vmbr0' }),
    put('300', { mp0: 'local:1,mp=/one' }),
    put('300', { delete: 'mp0' }),
  ])
  await client.data('POST', '/access/users', { userid: 'ct@pve' })
  await client.data('POST', '/access/users/ct@pve/token/one', { privsep: '0' })
  const rights = async (...privs: string[]) => {
    const role = world.access.roles.has('Some') ? 'PUT' : 'POST'
    const name: Params = role === 'POST' ? { roleid: 'Some' } : {}
    await client.data(role, role === 'POST' ? '/access/roles' : '/access/roles/Some', {
      ...name,
      privs: privs.join(','),
    })
    await client.data('PUT', '/access/acl', { path: '/vms', roles: 'Some', users: 'ct@pve' })
  }
  const { value } = await client.data<{ value: string }>('POST', '/access/users/ct@pve/token/two', { privsep: '0' })
  const asked = async (method: string, path: string, params?: Params) => {
    const answer = await client.clock.runUntil(
      client.datacentre.handle({
        method,
        path: `/api2/json${path}`,
        headers: {
          authorization: `PVEAPIToken=ct@pve!two=${value}`,
          ...(params === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(params === undefined ? {} : { body: new URLSearchParams(params).toString() }),
      }),
    )
    return answer.status === 200 ? JSON.parse(answer.body).data : `${answer.status} ${answer.reason}`
  }
  await rights('VM.Audit', 'VM.Config.Disk')
  const denied = (what: string) => `403 Permission check failed (${what})`
  // What its programs are told may be secret.
  for (const part of ['config', 'pending'])
    assert.equal(await asked('GET', `${LXC}/300/${part}`), denied('/vms/300, VM.Config.Options'))
  assert.equal(await asked('PUT', `${LXC}/300/config`, { delete: 'unused0' }), denied('/vms/300, VM.Config.Options'))
  assert.equal(
    await asked('PUT', `${LXC}/300/resize`, { disk: 'rootfs', size: '+1G' }),
    denied('/vms/300, VM.Config.Options'),
  )
  await rights('VM.Audit', 'VM.Config.Options', 'VM.Clone', 'VM.Allocate')
  assert.equal((await asked('GET', `${LXC}/300/config`)).env, 'A=1')
  assert.equal(await asked('PUT', `${LXC}/300/config`, { mp1: '/srv,mp=/srv' }), denied('/vms/300, VM.Config.Disk'))
  assert.equal(
    await asked('POST', LXC, { vmid: '301', ostemplate: TEMPLATE }),
    denied('/storage/local, Datastore.AllocateSpace|Datastore.Audit'),
  )
})
