import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../test-client.ts'
import { type AnsweredRow, holds, type Params } from '../../testing/answered-rows.ts'
import { volumesOf } from '../../world/volumes.ts'

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

test('move_volume, clone_vm, template: where a volume may go and what stands in its way', async () => {
  const client = await site()
  const move = (params: Params, expected: unknown): AnsweredRow => ['POST', `${CT}/move_volume`, params, expected]
  await holds(client, [
    move({ volume: 'rootfs', 'target-vmid': '801' }, "500 Cannot move to/from 'rootfs'"),
    move({ volume: 'mp0', 'target-vmid': '999' }, '500 could not find CT 999'),
    move(
      { volume: 'mp0', 'target-vmid': '801', digest: ZEROS },
      '500 Container 800: detected modified configuration - file changed by other user? Try again.',
    ),
    move({ volume: 'mp7', 'target-vmid': '801' }, "500 volume 'mp7' for container '800' does not exist"),
    move({ volume: 'mp0', 'target-vmid': '801' }, "500 Target volume key 'mp0' is already in use for container '801'"),
    ['PUT', `${CT}/config`, { delete: 'mp0' }, 'done'],
    move(
      { volume: 'unused0', storage: 'local' },
      "500 cannot move volume 'unused0', only configured volumes can be moved to another storage",
    ),
    ['POST', `${CT}/clone`, { newid: '810', storage: 'nope' }, "500 storage 'nope' does not exist"],
    [
      'POST',
      `${CT}/clone`,
      { newid: '810', full: '0', storage: 'local-zfs' },
      "500 parameter 'storage' not allowed for linked clones",
    ],
    ['POST', `${CT}/clone`, { newid: '810', snapname: 'nope' }, "500 snapshot 'nope' does not exist"],
    [
      'POST',
      `${CT}/clone`,
      { newid: '810', target: 'still-fawn' },
      "500 can't clone CT to node 'still-fawn' (CT uses local storage)",
    ],
    ['POST', `${CT}/status/start`, {}, 'task: OK'],
    ['POST', `${CT}/clone`, { newid: '810' }, '500 Full clone of a running container is only possible from a snapshot'],
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
