import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, type TestClient, WEB } from '../../../test-client.ts'

const VM = `${HOST}/qemu/114`
/** Of the image that the disk is made from. */
const DISK_KIB = 3.5 * 1024 * 1024

async function site(): Promise<TestClient> {
  const client = createTestClient()
  assert.equal(await client.task('POST', `${HOST}/qemu`, WEB), 'OK')
  return client
}

/** How many seconds a task took. */
async function seconds(client: TestClient, path: string, params: Record<string, string>): Promise<number> {
  const begun = client.clock.now()
  assert.equal(await client.task('POST', path, params), 'OK')
  return Math.round((client.clock.now() - begun) / 1000)
}

const slow = String(Math.floor(DISK_KIB / 100))

for (const [what, path, params, least] of [
  ['a copy', `${VM}/clone`, { newid: '150', full: '1', bwlimit: slow }, 100],
  ['a move', `${VM}/move_disk`, { disk: 'scsi0', storage: 'local', bwlimit: slow }, 100],
  ['a backup', `${HOST}/vzdump`, { vmid: '114', storage: 'local', bwlimit: slow }, 25],
] as const) {
  test(`${what} goes no faster than it was asked to`, async () => {
    const took = await seconds(await site(), path, params)
    assert.ok(took >= least && took < least + 10, `${took} s`)
  })
}

test('a limit of nothing is none', async () => {
  const client = await site()
  assert.ok((await seconds(client, `${VM}/clone`, { newid: '150', full: '1', bwlimit: '0' })) < 20)
})

test("who asks for nothing gets the storage's limit, and where it has none, the datacentre's", async () => {
  const client = await site()
  await client.call('PUT', '/cluster/options', { bwlimit: `clone=${slow}` })
  const first = await seconds(client, `${VM}/clone`, { newid: '150', full: '1' })
  assert.ok(first >= 100 && first < 110, `${first} s`)
  await client.call('PUT', '/storage/local-zfs', { bwlimit: `default=${Math.floor(DISK_KIB / 50)}` })
  const second = await seconds(client, `${VM}/clone`, { newid: '151', full: '1' })
  assert.ok(second >= 50 && second < 60, `${second} s`)
  const asked = await seconds(client, `${VM}/clone`, { newid: '152', full: '1', bwlimit: '0' })
  assert.ok(asked < 20, 'who may allocate may ask for more')
})
