import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, type TestClient } from '../../../test-client.ts'

/** A copy of a container lasts, marks it meanwhile, and leaves nothing when it is stopped: asked of the real daemon. */

type Row = Record<string, unknown>
const CT = `${HOST}/lxc/140`

async function site(): Promise<TestClient> {
  const client = createTestClient()
  const name = 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
  const template = { name, content: 'vztmpl', format: 'tzst', sizeBytes: 617, ctimeSeconds: 1 } as const
  client.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local')?.set(name, template)
  const made = { vmid: '140', ostemplate: `local:${name}`, rootfs: 'local-zfs:4', hostname: 'box' }
  assert.equal(await client.task('POST', `${HOST}/lxc`, made), 'OK')
  return client
}

const exitOf = async (client: TestClient, upid: string) =>
  (await client.data<Row>('GET', `${HOST}/tasks/${upid}/status`)).exitstatus

test('a copy of a container goes on under its limit, and is stopped in its own words', async () => {
  const client = await site()
  const upid = await client.data<string>('POST', `${CT}/clone`, { newid: '141', bwlimit: '200' })
  await client.pass(60_000)
  assert.equal((await client.call('PUT', `${CT}/config`, { cores: '2' })).reason, 'CT is locked (disk)')
  assert.equal((await client.call('PUT', `${HOST}/lxc/141/config`, { cores: '2' })).reason, 'CT is locked (create)')
  await client.data('DELETE', `${HOST}/tasks/${upid}`)
  assert.equal(await exitOf(client, upid), 'clone failed: interrupted by signal')
  assert.equal(client.datacentre.world.guests.has(141), false)
  assert.equal((await client.data<Row>('GET', `${CT}/config`)).lock, undefined)
})

test('a volume that is moved is marked for as long, and stays where it was when that is stopped', async () => {
  const client = await site()
  const upid = await client.data<string>('POST', `${CT}/move_volume`, {
    volume: 'rootfs',
    storage: 'local',
    bwlimit: '200',
  })
  await client.pass(60_000)
  assert.equal((await client.data<Row>('GET', `${CT}/config`)).lock, 'disk')
  await client.data('DELETE', `${HOST}/tasks/${upid}`)
  assert.equal(await exitOf(client, upid), 'received interrupt')
  const config = await client.data<Row>('GET', `${CT}/config`)
  assert.deepEqual([config.lock, config.unused0], [undefined, undefined])
  assert.match(String(config.rootfs), /^local-zfs:/)
  assert.deepEqual(await client.data('GET', `${HOST}/storage/local/content?content=rootdir`), [])
})

test('a linked copy of a template takes no such time', async () => {
  const client = await site()
  assert.equal((await client.call('POST', `${CT}/template`, {})).status, 200)
  // That is done in a task of which the answer says nothing.
  await client.pass(5_000)
  const beganMs = client.clock.now()
  assert.equal(await client.task('POST', `${CT}/clone`, { newid: '141', bwlimit: '1' }), 'OK')
  assert.ok(client.clock.now() - beganMs < 60_000)
})
