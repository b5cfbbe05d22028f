import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, type TestClient } from '../../../test-client.ts'
import { type AnsweredRow, holds, type Params } from '../../../testing/answered-rows.ts'
import { volumesOf } from '../../../world/volumes.ts'

/** What PVE::API2::LXC and its parts say before any work begins. */

const HOST = '/nodes/pumped-piglet'
const CT = `${HOST}/lxc/800`
const ZEROS = '0'.repeat(40)

async function site(): Promise<TestClient> {
  const client = createTestClient()
  const { world } = client.datacentre
  const host = world.hosts.get('pumped-piglet')
  assert.ok(host !== undefined)
  const name = 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
  volumesOf(host, 'local').set(name, { name, content: 'vztmpl', format: 'tzst', sizeBytes: 1, ctimeSeconds: 1 })
  for (const vmid of ['800', '801']) {
    const params = { vmid, ostemplate: `local:${name}`, rootfs: 'local-zfs:1', mp0: 'local-zfs:1,mp=/data' }
    assert.equal(await client.task('POST', `${HOST}/lxc`, params), 'OK')
  }
  return client
}

test('update_vm: the lock, the digest, then what does not go together', async () => {
  const client = await site()
  const put = (params: Params, expected: unknown): AnsweredRow => ['PUT', `${CT}/config`, params, expected]
  await holds(client, [
    put({ cores: '2', digest: ZEROS }, '500 detected modified configuration - file changed by other user? Try again.'),
    put({ revert: 'bogus' }, { revert: "unknown option 'bogus'" }),
    put({ revert: 'cores', cores: '2' }, { revert: "you can't use '-cores' and '-revert cores' at the same time" }),
    put(
      { delete: 'cores', revert: 'cores' },
      { delete: "you can't use '-delete cores' and '-revert cores' at the same time" },
    ),
    ['POST', `${CT}/status/start`, {}, 'task: OK'],
    ['POST', `${CT}/status/start`, {}, '500 CT 800 already running'],
    put({ arch: 'arm64' }, 'done'),
    put({ revert: 'arch' }, 'done'),
  ])
  const pending = await client.data<{ key: string; pending?: unknown }[]>('GET', `${CT}/pending`)
  assert.equal(pending.find(({ key }) => key === 'arch')?.pending, undefined, 'taken back')
  client.datacentre.patchGuest(800, { lock: 'backup' })
  await holds(client, [put({ cores: '2', digest: ZEROS }, '500 CT is locked (backup)')])
})

test('move_volume, template: where a volume may go and what stands in its way', async () => {
  const client = await site()
  const move = (params: Params, expected: unknown): AnsweredRow => ['POST', `${CT}/move_volume`, params, expected]
  await holds(client, [
    ['PUT', `${CT}/config`, { delete: 'mp0' }, 'done'],
    move(
      { volume: 'unused0', storage: 'local' },
      "500 cannot move volume 'unused0', only configured volumes can be moved to another storage",
    ),
    ['POST', `${CT}/status/start`, {}, 'task: OK'],
    ['POST', `${CT}/template`, {}, "500 you can't convert a CT to template if the CT is running"],
    [
      'POST',
      `${CT}/migrate`,
      { target: 'still-fawn' },
      "500 can't migrate running container without --online or --restart",
    ],
    move({ volume: 'rootfs', storage: 'local' }, '500 cannot move volumes of a running container'),
    ['POST', `${CT}/snapshot`, { snapname: 'vzdump' }, "500 unable to use snapshot name 'vzdump' (reserved name)"],
  ])
})

test('while a container is locked: what asks for its mark, and what does not', async () => {
  const client = await site()
  client.datacentre.patchGuest(800, { lock: 'mounted' })
  const stop = `${CT}/status/stop`
  await holds(client, [
    ['GET', `${CT}/migrate`, undefined, '500 CT is locked (mounted)'],
    ['POST', stop, { skiplock: '1' }, { skiplock: 'Only root may use this option.' }],
    // Its volumes are mounted on the host, which does not prevent a start or a stop.
    ['POST', `${CT}/status/start`, {}, 'task: OK'],
    ['POST', `${CT}/status/resume`, {}, '500 CT 800 already running'],
    ['POST', `${CT}/status/shutdown`, {}, 'task: CT is locked (mounted)'],
    ['POST', stop, {}, 'task: OK'],
    ['POST', `${CT}/status/start`, {}, 'task: OK'],
  ])
  client.datacentre.patchGuest(800, { lock: 'backup' })
  await holds(client, [
    ['POST', stop, {}, 'task: CT is locked (backup)'],
    ['POST', `${CT}/status/reboot`, {}, 'task: OK'],
    ['POST', `${CT}/migrate`, { target: 'still-fawn', restart: '1' }, 'task: migration aborted'],
    ['POST', `${CT}/snapshot/nope/rollback`, {}, "task: snapshot 'nope' does not exist"],
    ['DELETE', `${HOST}/lxc/999/snapshot/one`, undefined, `task: ${missing(999)}`],
    ['GET', `${HOST}/lxc/999`, undefined, `500 ${missing(999)}`],
  ])
})

const missing = (vmid: number) => `Configuration file 'nodes/pumped-piglet/lxc/${vmid}.conf' does not exist`

test('a volume that goes to another storage marks its container before the task begins', async () => {
  const client = await site()
  const upid = await client.data<string>('POST', `${CT}/move_volume`, { volume: 'rootfs', storage: 'local' })
  assert.equal(client.datacentre.world.guests.get(800)?.config.get('lock'), 'disk')
  assert.equal(await exitOf(client, upid), 'OK')
  assert.equal(client.datacentre.world.guests.get(800)?.config.get('lock'), undefined)
})

test('snapshots of a container stand on each other, and a pool goes back to the newest only', async () => {
  const client = await site()
  const take = (snapname: string): AnsweredRow => ['POST', `${CT}/snapshot`, { snapname }, 'task: OK']
  await holds(client, [
    take('one'),
    take('two'),
    [
      'POST',
      `${CT}/snapshot/one/rollback`,
      {},
      "task: can't rollback, 'one' is not most recent snapshot on 'local-zfs:subvol-800-disk-0'",
    ],
    [
      'POST',
      `${CT}/move_volume`,
      { volume: 'mp0', storage: 'local', delete: '1' },
      "500 you can't move a volume with snapshots and delete the source",
    ],
  ])
  const rows = await client.data<{ name: string; parent?: string }[]>('GET', `${CT}/snapshot`)
  assert.deepEqual(
    rows.map(({ name, parent }) => [name, parent]),
    [
      ['one', undefined],
      ['two', 'one'],
      ['current', 'two'],
    ],
  )
  await holds(client, [['DELETE', `${CT}/snapshot/two`, undefined, 'task: OK']])
  const left = await client.data<{ parent?: string }[]>('GET', `${CT}/snapshot`)
  assert.equal(left.at(-1)?.parent, 'one')
})

test('create_vm: in which order a new container is refused', async () => {
  const client = await site()
  const ostemplate = 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
  const create = (params: Params, expected: unknown): AnsweredRow => ['POST', `${HOST}/lxc`, params, expected]
  await holds(client, [
    create({ vmid: '800', ostemplate, pool: 'nope' }, "500 CT 800 already exists on node 'pumped-piglet'"),
    create(
      { vmid: '810', ostemplate, mp0: 'local-zfs:1,mp=/x' },
      "500 mount points configured, but 'rootfs' not set - aborting",
    ),
    create({ vmid: '810', ostemplate, rootfs: 'local-zfs:2' }, 'task: OK'),
    ['PUT', `${HOST}/lxc/810/config`, { protection: '1' }, 'done'],
    [
      'PUT',
      `${HOST}/lxc/810/config`,
      { mp0: 'local-zfs:1,mp=/x' },
      "500 can't update CT 810 drive 'mp0' - protection mode enabled",
    ],
    ['PUT', `${HOST}/lxc/810/config`, { delete: 'ostype' }, "500 unable to delete required option 'ostype'"],
  ])
  const made = await client.data<Record<string, string>>('GET', `${HOST}/lxc/810/config`)
  assert.equal(made.rootfs, 'local-zfs:subvol-810-disk-0,size=2G')
})

test('a container becomes a template in the background, and has no snapshots then', async () => {
  const client = await site()
  await holds(client, [['POST', `${CT}/template`, {}, 'done']])
  await client.pass(60_000)
  await holds(client, [
    ['POST', `${CT}/snapshot`, { snapname: 'one' }, "task: you can't take a snapshot if it's a template"],
  ])
  const { rootfs } = await client.data<Record<string, string>>('GET', `${CT}/config`)
  assert.match(rootfs ?? '', /^local-zfs:basevol-800-disk-0,/)
})
