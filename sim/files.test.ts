import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, type TestClient } from './test-client.ts'

type Row = Record<string, unknown>
const STORAGE = `${HOST}/storage/local`
const FILE = { url: 'https://images.example.test/alpine.qcow2', content: 'import', filename: 'alpine.qcow2' }

const volumes = async (client: TestClient, content: string) =>
  (await client.data<Row[]>('GET', `${STORAGE}/content?content=${content}`)).map((row) => row.volid)

test('a download takes its time and then lies on the storage of that host only', async () => {
  const client = createTestClient()
  const began = client.clock.now()
  assert.equal(await client.task('POST', `${STORAGE}/download-url`, FILE), 'OK')
  assert.ok(client.clock.now() - began > 5_000)
  assert.ok((await volumes(client, 'import')).includes('local:import/alpine.qcow2'))
  assert.deepEqual(await client.data('GET', '/nodes/still-fawn/storage/local/content?content=import'), [])
  assert.match(
    await client.task('POST', `${STORAGE}/download-url`, FILE),
    /^refusing to override existing file '\/var\/lib\/vz\/import\/alpine.qcow2'$/,
  )
})

test('[S-24] a file with another checksum than expected is not kept', async () => {
  const client = createTestClient()
  const sha256 = 'ab'.repeat(32)
  client.datacentre.world.downloads.set(FILE.url, { sizeBytes: 1_000_000, virtualBytes: 2_000_000, sha256, sha512: '' })
  const wrong = await client.task('POST', `${STORAGE}/download-url`, {
    ...FILE,
    checksum: 'cd'.repeat(32),
    'checksum-algorithm': 'sha256',
  })
  assert.equal(wrong, `checksum mismatch: got '${sha256}' != expect '${'cd'.repeat(32)}'`)
  assert.ok(!(await volumes(client, 'import')).includes('local:import/alpine.qcow2'))
  assert.equal(
    await client.task('POST', `${STORAGE}/download-url`, { ...FILE, checksum: sha256, 'checksum-algorithm': 'sha256' }),
    'OK',
  )
})

test('an address that refuses or has nothing fails the task', async () => {
  const client = createTestClient()
  client.datacentre.world.downloads.set('https://x.test/none.qcow2', {
    sizeBytes: 0,
    virtualBytes: 0,
    sha256: '',
    sha512: '',
    status: 404,
  })
  assert.equal(
    await client.task('POST', `${STORAGE}/download-url`, { ...FILE, url: 'https://x.test/none.qcow2' }),
    'download failed: exit code 8',
  )
  assert.match(
    await client.task('POST', `${STORAGE}/download-url`, { ...FILE, url: 'http://127.0.0.1:9/x.qcow2' }),
    /Connection refused/,
  )
})

test('a storage is asked for what it can hold', async () => {
  const client = createTestClient()
  const answer = await client.call('POST', `${HOST}/storage/local-zfs/download-url`, FILE)
  assert.equal(answer.status, 500)
  const bad = await client.call('POST', `${STORAGE}/download-url`, { ...FILE, filename: 'alpine.txt' })
  assert.match(bad.body, /wrong file extension/)
})

test('a volume is described, and removed without complaint even when it is gone', async () => {
  const client = createTestClient()
  const volume = `${STORAGE}/content/local:import/noble-server-cloudimg-amd64.qcow2`
  assert.equal((await client.data<Row>('GET', volume)).size, 3.5 * 1024 ** 3)
  assert.equal(await client.task('DELETE', volume), 'OK')
  assert.equal(await client.task('DELETE', volume), 'OK')
  assert.equal((await client.call('GET', volume)).status, 500)
})
