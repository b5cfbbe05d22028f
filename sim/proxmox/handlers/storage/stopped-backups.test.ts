import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'

/** How a stopped backup job ends, asked of the real daemon. */

const NODE = '/nodes/pve1'
type Row = Record<string, unknown>

async function site(...vmids: readonly string[]): Promise<TestClient> {
  const client = createTestClient({ preset: 'recording' })
  for (const vmid of vmids)
    assert.equal(await client.task('POST', `${NODE}/qemu`, { vmid, scsi0: 'local:4,format=qcow2' }), 'OK')
  return client
}

const backup = (client: TestClient, vmid: string) =>
  client.data<string>('POST', `${NODE}/vzdump`, { vmid, storage: 'local', bwlimit: '200' })

const exitOf = async (client: TestClient, upid: string) =>
  (await client.data<Row>('GET', `${NODE}/tasks/${upid}/status`)).exitstatus

const lockOf = async (client: TestClient, vmid: string) =>
  (await client.data<Row>('GET', `${NODE}/qemu/${vmid}/config`)).lock

test('a job for one guest ends with errors, and the guest is free', async () => {
  const client = await site('100')
  const upid = await backup(client, '100')
  await client.pass(2_000)
  assert.equal(await lockOf(client, '100'), 'backup')
  await client.data('DELETE', `${NODE}/tasks/${upid}`)
  assert.equal(await exitOf(client, upid), 'job errors')
  assert.equal(await lockOf(client, '100'), undefined)
  assert.deepEqual(await client.data('GET', `${NODE}/storage/local/content?content=backup`), [])
})

test('a job for many goes on with the next guest, is killed, and leaves its mark there', async () => {
  const client = await site('100', '101', '102')
  const upid = await backup(client, '100,101,102')
  await client.pass(2_000)
  const beganMs = client.clock.now()
  await client.data('DELETE', `${NODE}/tasks/${upid}`)
  assert.equal(client.clock.now() - beganMs, 5_000, 'the answer waits for the end')
  await client.pass(1_000)
  assert.equal(await exitOf(client, upid), 'unexpected status')
  assert.deepEqual(await Promise.all(['100', '101', '102'].map((vmid) => lockOf(client, vmid))), [
    undefined,
    'backup',
    undefined,
  ])
  const again = await client.data<string>('POST', `${NODE}/vzdump`, { vmid: '102', storage: 'local' })
  await client.pass(60_000)
  assert.equal(await exitOf(client, again), 'OK', 'whoever was killed holds no lock of the host')
})

test('a job that still waits for another is gone at once', async () => {
  const client = await site('100', '101')
  const first = await backup(client, '100')
  await client.pass(2_000)
  const second = await backup(client, '101')
  await client.pass(2_000)
  await client.data('DELETE', `${NODE}/tasks/${second}`)
  assert.equal(await exitOf(client, second), 'unexpected status')
  const lines = await client.data<{ t: string }[]>('GET', `${NODE}/tasks/${second}/log`)
  assert.deepEqual(
    lines.map(({ t }) => t),
    [
      'INFO: trying to get global lock - waiting...',
      "ERROR: can't acquire lock '/var/run/vzdump.lock' - interrupted by signal",
    ],
  )
  assert.equal(await exitOf(client, first), undefined)
})
