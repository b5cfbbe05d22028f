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

test('a file is judged by its storage and its name, an upload and a download each in their own words', async () => {
  const client = createTestClient()
  const zfs = `${HOST}/storage/local-zfs`
  await client.data('PUT', '/storage/local', { content: 'iso,import,images' })
  const said = async (path: string, more: Readonly<Record<string, string>>) => {
    const { status, reason, body } = await client.call('POST', path, { ...FILE, ...more })
    return status === 400 ? (JSON.parse(body) as { errors: unknown }).errors : reason
  }
  const wrong = { filename: 'wrong file extension' }
  const invalid = { filename: 'invalid filename or wrong extension' }
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, unknown])[] = [
    [`${zfs}/download-url`, {}, "can't upload to storage type 'zfspool', not a file based storage!"],
    [`${STORAGE}/download-url`, { filename: 'alpine.txt' }, invalid],
    [`${STORAGE}/download-url`, { filename: 'alpine.ovf' }, invalid],
    [`${STORAGE}/download-url`, { filename: '.qcow2' }, invalid],
    [`${STORAGE}/download-url`, { filename: 'x.zip', content: 'iso' }, wrong],
    [
      `${STORAGE}/download-url`,
      { filename: 'x.zip', content: 'vztmpl' },
      "storage 'local' is not configured for content-type 'vztmpl'",
    ],
  ]
  for (const [path, more, expected] of rows)
    assert.deepEqual(await said(path, more), expected, `${path} ${JSON.stringify(more)}`)
  assert.equal(
    await client.task('POST', `${STORAGE}/download-url`, { ...FILE, filename: 'a/b (1)+ü.raw', compression: 'gz' }),
    'decompression not supported for import',
  )
  await client.task('POST', `${STORAGE}/download-url`, { ...FILE, filename: 'a/b (1)+ü.raw' })
  assert.ok((await volumes(client, 'import')).includes('local:import/b__1___.raw'))
  await client.data('PUT', '/storage/local', { content: 'iso,vztmpl' })
  await client.task('POST', `${STORAGE}/download-url`, { ...FILE, content: 'vztmpl', filename: 'app.tar' })
  assert.ok((await volumes(client, 'vztmpl')).includes('local:vztmpl/app.tar'))
})

test('a volume is described, and removed without complaint even when it is gone', async () => {
  const client = createTestClient()
  const volume = `${STORAGE}/content/local:import/noble-server-cloudimg-amd64.qcow2`
  assert.equal((await client.data<Row>('GET', volume)).size, 3.5 * 1024 ** 3)
  assert.equal(await client.task('DELETE', volume), 'OK')
  assert.equal(await client.task('DELETE', volume), 'OK')
  assert.equal((await client.call('GET', volume)).status, 500)
})
