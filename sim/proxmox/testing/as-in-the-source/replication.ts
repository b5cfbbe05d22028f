import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, type TestClient, WEB } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** What PVE::API2::ReplicationConfig, ::Replication and PVE::ReplicationState say. */
const AT = '/cluster/replication'
const JOB = { id: '114-0', type: 'local', target: 'still-fawn' }

type Row = Record<string, unknown>

async function withGuest(): Promise<TestClient> {
  const client = createTestClient()
  assert.equal(await client.task('POST', `${HOST}/qemu`, WEB), 'OK')
  return client
}

test('replication: what does not fit the site is told before what is there already', async () => {
  const client = await withGuest()
  await holds(client, [
    ['POST', AT, JOB, 'done'],
    ['POST', AT, { ...JOB, target: 'nope' }, "500 Target 'nope' does not exist."],
    ['POST', AT, { ...JOB, target: 'fun-bedbug' }, '500 Source and target must not be identical'],
    ['POST', AT, JOB, "500 replication job '114-0' already exists"],
    [
      'POST',
      AT,
      { ...JOB, id: '114-1' },
      "500 replication job for guest '114' to target 'local/still-fawn' already exists",
    ],
    ['PUT', `${AT}/114-0`, { comment: 'x', delete: 'comment' }, 'done'],
    ['PUT', `${AT}/114-0`, { delete: 'target' }, "500 unable to delete required option 'target'"],
    ['PUT', `${AT}/114-0`, { delete: 'other' }, "500 no such option 'other'"],
  ])
  const one = await client.data<Row>('GET', `${AT}/114-0`)
  assert.equal(one.comment, undefined, 'what is both set and deleted is deleted')
  assert.equal(typeof one.digest, 'string')
  const [row] = await client.data<Row[]>('GET', AT)
  assert.deepEqual(row, { ...JOB, guest: 114, jobnum: 0, source: 'fun-bedbug' })
})

test('replication: a job that is deleted is marked, and goes when its node has looked', async () => {
  const client = await withGuest()
  await client.data('POST', AT, JOB)
  await client.data('DELETE', `${AT}/114-0`)
  assert.equal((await client.data<Row[]>('GET', AT))[0]?.remove_job, 'full')
  await client.pass(60_000)
  assert.deepEqual(await client.data('GET', AT), [])
  await client.data('POST', AT, JOB)
  await client.data('DELETE', `${AT}/114-0?keep=1`)
  assert.equal((await client.data<Row[]>('GET', AT))[0]?.remove_job, 'local')
  assert.equal((await client.call('DELETE', `${AT}/114-0?keep=1&force=1`)).status, 400)
  await client.data('DELETE', `${AT}/114-0?force=1`)
  assert.deepEqual(await client.data('GET', AT), [])
})

test('replication: each call asks for its own right', async () => {
  const client = await withGuest()
  await client.data('POST', AT, JOB)
  await client.data('POST', '/access/users', { userid: 'some@pve' })
  const { value } = await client.data<{ value: string }>('POST', '/access/users/some@pve/token/tt', { privsep: '0' })
  const refused = async (method: string, path: string) => {
    const headers = { authorization: `PVEAPIToken=some@pve!tt=${value}` }
    const answer = await client.clock.runUntil(client.datacentre.handle({ method, path: `/api2/json${path}`, headers }))
    return `${answer.status} ${answer.reason}`
  }
  const audit = '403 Permission check failed (/vms/114, VM.Audit)'
  const replicate = '403 Permission check failed (/vms/114, VM.Replicate)'
  assert.equal(await refused('GET', `${AT}/114-0`), audit)
  assert.equal(await refused('DELETE', `${AT}/114-0?force=1`), replicate)
})
