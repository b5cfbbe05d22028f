import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, type TestClient } from './test-client.ts'

type Params = Readonly<Record<string, string>>

const JOB = { id: 'nightly', schedule: '02:30', storage: 'local', all: '1' }

/** A token that may change the datacentre, and nothing else. */
async function modifier(): Promise<{ readonly root: TestClient; readonly send: TestClient['call'] }> {
  const root = createTestClient()
  await root.data('POST', '/access/users', { userid: 'ann@pve' })
  const { value } = await root.data<{ value: string }>('POST', '/access/users/ann@pve/token/ci', { privsep: '0' })
  await root.data('POST', '/access/roles', { roleid: 'Modifier', privs: 'Sys.Modify Sys.Audit' })
  await root.data('PUT', '/access/acl', { path: '/', roles: 'Modifier', users: 'ann@pve', propagate: '0' })
  const headers = {
    authorization: `PVEAPIToken=ann@pve!ci=${value}`,
    'content-type': 'application/x-www-form-urlencoded',
  }
  const send: TestClient['call'] = (method, path, params = {}) =>
    root.clock.runUntil(
      root.datacentre.handle({
        method,
        path: `/api2/json${path}`,
        headers,
        body: new URLSearchParams(params).toString(),
      }),
    )
  return { root, send }
}

test('a backup job asks for rights on its storage, its fleecing storage and its pool', async () => {
  const { root, send } = await modifier()
  const give = (path: string, roles: string) => root.data('PUT', '/access/acl', { path, roles, users: 'ann@pve' })
  const reason = async (params: Params) => (await send('POST', '/cluster/backup', params)).reason
  assert.equal(await reason(JOB), 'Permission check failed (/storage/local, Datastore.Allocate)')
  const { storage: _, ...unsaid } = JOB
  assert.equal(await reason(unsaid), 'Permission check failed (/storage/local, Datastore.Allocate)')
  await give('/storage/local', 'PVEDatastoreAdmin')
  const fleecing = { ...JOB, fleecing: 'enabled=1,storage=local-zfs' }
  assert.equal(await reason(fleecing), 'Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)')
  await root.data('POST', '/pools', { poolid: 'team' })
  const { all: _all, ...some } = JOB
  assert.equal(await reason({ ...some, pool: 'team' }), 'Permission check failed (/pool/team, VM.Backup)')
  assert.equal((await send('POST', '/cluster/backup', { ...JOB, script: '/bin/x' })).status, 400)
  assert.equal(await reason(JOB), 'OK')
  await root.data('PUT', '/access/acl', {
    path: '/storage/local',
    roles: 'PVEDatastoreAdmin',
    users: 'ann@pve',
    delete: '1',
  })
  const change = await send('PUT', '/cluster/backup/nightly', { comment: 'x' })
  assert.equal(change.reason, 'Permission check failed (/storage/local, Datastore.Allocate)')
})

test('a change that names guests, all of them or a pool takes the place of what the job named before', async () => {
  const { data } = createTestClient()
  const job = () => data<Record<string, unknown>>('GET', '/cluster/backup/nightly')
  const shown = async () => {
    const { vmid, all, exclude, pool } = await job()
    return JSON.parse(JSON.stringify({ vmid, all, exclude, pool })) as unknown
  }
  await data('POST', '/pools', { poolid: 'team' })
  await data('POST', '/cluster/backup', { ...JOB, exclude: '108' })
  await data('PUT', '/cluster/backup/nightly', { vmid: '109' })
  assert.deepEqual(await shown(), { vmid: '109' })
  await data('PUT', '/cluster/backup/nightly', { pool: 'team' })
  assert.deepEqual(await shown(), { pool: 'team' })
  await data('PUT', '/cluster/backup/nightly', { all: '1' })
  assert.deepEqual(await shown(), { all: 1 })
})

test('a job for all but some needs no word about all; a template for notes is read as a whole', async () => {
  const { data, call } = createTestClient()
  const { all: _, ...rest } = JOB
  await data('POST', '/cluster/backup', { ...rest, exclude: '108' })
  assert.equal((await data<{ all: number }>('GET', '/cluster/backup/nightly')).all, 1)
  const notes = async (template: string) => {
    const { body } = await call('PUT', '/cluster/backup/nightly', { storage: 'local', 'notes-template': template })
    return (JSON.parse(body) as { message?: string }).message?.trim()
  }
  const INVALID = '400 Parameter verification failed.\nnotes-template: '
  assert.equal(
    await notes('{{who}} \\t {{node}} {{x}}'),
    `${INVALID}found unknown: escape sequence '\\t' at char 8, variable 'who' at char 4, variable 'x' at char 24`,
  )
  assert.equal(await notes('{{ node }} {{guestname}} \\n'), undefined)
})

test('fleecing needs a storage; a backup at once asks for the rights of a job', async () => {
  const { root, send } = await modifier()
  const { status, body } = await root.call('POST', '/cluster/backup', { ...JOB, fleecing: '1' })
  assert.equal(status, 400)
  assert.match(body, /'storage' parameter is required when 'enabled' is set/)
  assert.equal((await root.call('POST', '/cluster/backup', { ...JOB, fleecing: 'enabled=0' })).status, 200)
  const at = `${HOST}/vzdump`
  assert.equal((await send('POST', at, { vmid: '108', dumpdir: '/tmp' })).status, 400)
  assert.equal(
    (await send('POST', at, { vmid: '108', 'prune-backups': 'keep-last=1' })).reason,
    'Permission check failed (/storage/local, Datastore.Allocate)',
  )
  assert.equal(
    (await send('POST', at, { vmid: '108', stop: '1' })).reason,
    `Permission check failed (/${HOST.slice(1)}, Sys.Modify)`,
  )
})

test('what a call says is judged before it is known whether there is such a job', async () => {
  const { call, data } = createTestClient()
  const said = async (method: string, path: string, params: Params) => (await call(method, path, params)).reason
  await data('POST', '/cluster/backup', JOB)
  assert.equal(await said('PUT', '/cluster/backup/none', {}), 'no options specified')
  assert.equal(await said('PUT', '/cluster/backup/none', { comment: 'x' }), 'no such vzdump job')
  const { schedule: _, ...never } = JOB
  assert.equal((await call('POST', '/cluster/backup', never)).status, 400)
  assert.equal(await said('POST', '/cluster/backup', JOB), "Job 'nightly' already exists")
})

test('a job that is switched off says when it would run, and every day of the week is no day', async () => {
  const { data } = createTestClient()
  const { schedule: _, ...rest } = JOB
  const job = async (id: string) => {
    const jobs = await data<Record<string, unknown>[]>('GET', '/cluster/backup')
    return jobs.find((one) => one.id === id)
  }
  await data('POST', '/cluster/backup', {
    ...rest,
    starttime: '2:30',
    dow: 'mon,tue,wed,thu,fri,sat,sun',
    enabled: '0',
  })
  assert.equal((await job('nightly'))?.schedule, '2:30')
  assert.equal(typeof (await job('nightly'))?.['next-run'], 'number')
  await data('PUT', '/cluster/backup/nightly', { starttime: '3:00', dow: 'sat;sun' })
  assert.equal((await job('nightly'))?.schedule, 'sat,sun 3:00')
})
