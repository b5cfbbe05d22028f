import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { askForTicket } from '../../../testing/ask-for-ticket.ts'

/** What PVE::API2::ACL, PVE::API2::User and PVE::AccessControl say. */

test('check_path: rights can be set on known places only, and be taken from any', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.data('POST', '/access/users', { userid: 'other@pve' })
  const put = (path: string, more: Record<string, string> = {}) =>
    client.call('PUT', '/access/acl', { path, users: 'other@pve', roles: 'PVEAuditor', ...more })
  for (const path of [
    '/',
    '//vms//100/',
    'vms',
    '/pool/a/b/c',
    '/sdn/zones/z/v/12',
    '/access/realm/pve',
    '/mapping/pci/x',
  ])
    assert.equal((await put(path)).status, 200, path)
  for (const path of [
    '/vms/99',
    '/vms/abc',
    '/foo',
    '/pool/a/b/c/d',
    '/sdn/zones/z/v/0',
    '/nodes/a/b',
    '/access/users',
  ]) {
    const answer = await put(path)
    assert.equal(answer.status, 400, path)
    assert.deepEqual(JSON.parse(answer.body).errors, { path: `invalid ACL path '${path}'` })
  }
  assert.equal((await put('/vms/99', { delete: '1' })).status, 200)
  const list = await client.data<{ path: string }[]>('GET', '/access/acl')
  assert.ok(list.some(({ path }) => path === '/vms/100'))
})

test('update_acl: who may not set rights gives away no more than they have', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.data('POST', '/access/users', { userid: 'lead@pve' })
  await client.data('POST', '/access/roles', { roleid: 'Lead', privs: 'VM.Allocate,VM.Audit' })
  await client.data('POST', '/access/roles', { roleid: 'Audits', privs: 'VM.Audit' })
  await client.data('PUT', '/access/acl', { path: '/vms/100', users: 'lead@pve', roles: 'Lead', propagate: '0' })
  const { value } = await client.data<{ value: string }>('POST', '/access/users/lead@pve/token/tt', { privsep: '0' })
  const give = async (params: Record<string, string>) => {
    const answer = await client.clock.runUntil(
      client.datacentre.handle({
        method: 'PUT',
        path: '/api2/json/access/acl',
        headers: {
          authorization: `PVEAPIToken=lead@pve!tt=${value}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ path: '/vms/100', users: 'admin@pve', ...params }).toString(),
      }),
    )
    const refused = 'ACL update failed: 400 Parameter verification failed.'
    if (answer.status === 200) return 200
    assert.equal(answer.reason, refused)
    return String(JSON.parse(answer.body).message).replace(`${refused}\nrole: `, '').trim()
  }
  assert.equal(
    await give({ roles: 'PVEVMAdmin' }),
    "Cannot add role 'PVEVMAdmin' - requires 'Permissions.Modify' or superset of privileges.",
  )
  assert.equal(await give({ roles: 'NoAccess' }), "Cannot add role 'NoAccess' - requires 'Permissions.Modify'")
  assert.equal(
    await give({ roles: 'PVEVMAdmin', delete: '1' }),
    "Cannot remove role 'PVEVMAdmin' - requires 'Permissions.Modify' or superset of privileges.",
  )
  assert.equal(await give({ roles: 'Audits', propagate: '0' }), 200)
})

test('users and tokens: passwords of other systems, options that cannot be deleted', async () => {
  const client = createTestClient({ preset: 'recording' })
  const reason = async (path: string, params: Record<string, string>) =>
    (await client.call('POST', path, params)).reason
  assert.equal(
    await reason('/access/users', { userid: 'a@nowhere', password: 'secret123' }),
    "create user failed: auth domain 'nowhere' does not exist",
  )
  assert.equal(await reason('/access/users', { userid: 'a@nowhere' }), 'OK')
  const token = '/access/users/admin@pve/token/t1'
  const answer = await client.call('PUT', token, { delete: 'expire' })
  assert.equal(
    JSON.parse(answer.body).message,
    "updating token info failed: 400 Parameter verification failed.\ndelete: unknown option 'expire'\n",
  )
  await client.data('PUT', token, { comment: 'x' })
  await client.data('PUT', token, { comment: '' })
  assert.equal((await client.data<{ comment?: string }>('GET', token)).comment, undefined)
})

test('rights that are asked for inside a call', async () => {
  const client = createTestClient({ preset: 'recording' })
  const login = async (userid: string, role: string) => {
    await client.data('POST', '/access/users', { userid })
    await client.data('PUT', '/access/acl', { path: '/', users: userid, roles: role })
    const { value } = await client.data<{ value: string }>('POST', `/access/users/${userid}/token/t1`, { privsep: '0' })
    return async (method: string, path: string, params?: Readonly<Record<string, string>>) => {
      const answer = await client.clock.runUntil(
        client.datacentre.handle({
          method,
          path: `/api2/json${path}`,
          headers: {
            authorization: `PVEAPIToken=${userid}!t1=${value}`,
            ...(params === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
          },
          ...(params === undefined ? {} : { body: new URLSearchParams(params).toString() }),
        }),
      )
      return `${answer.status} ${answer.reason}`
    }
  }
  await client.task('POST', '/nodes/pve1/qemu', { vmid: '100', net0: 'virtio,bridge=vmbr0' })
  await client.data('POST', '/pools', { poolid: 'p1' })
  const machines = await login('vma@pve', 'PVEVMAdmin')
  assert.equal(
    await machines('PUT', '/nodes/pve1/qemu/100/config', { delete: 'net0' }),
    '403 Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)',
    'a card is taken out by who may use its network',
  )
  const pools = await login('poo@pve', 'PVEPoolAdmin')
  assert.equal(
    await pools('PUT', '/pools/p1', { vms: '100' }),
    '500 update pools failed: 403 Permission check failed (/vms/100, Permissions.Modify|VM.Allocate)',
  )
})

test('tickets: capabilities are those of every place where rights were set, and expired users get none', async () => {
  const client = createTestClient({ preset: 'recording' })
  const user = { password: 'longenough' }
  await client.data('POST', '/access/users', { ...user, userid: 'one@pve' })
  await client.data('POST', '/access/users', { ...user, userid: 'late@pve', expire: '1000' })
  await client.data('POST', '/pools', { poolid: 'p1' })
  await client.data('PUT', '/access/acl', { path: '/vms/100', users: 'one@pve', roles: 'PVEVMUser' })
  await client.data('PUT', '/access/acl', { path: '/pool/p1', users: 'one@pve', roles: 'PVEDatastoreUser' })
  const { cap, clustername } = await askForTicket(client, { username: 'one@pve', password: user.password })
  assert.equal(cap.vms['VM.Audit'], 1)
  assert.equal(cap.storage['Datastore.Audit'], 1)
  assert.deepEqual([cap.nodes, cap.dc, cap.access], [{}, {}, {}])
  assert.equal(clustername, undefined)
  assert.equal(
    await askForTicket(client, { username: 'late@pve', password: user.password }),
    '401 authentication failure',
  )
})

test('tickets: who may look at the cluster is told its name', async () => {
  const client = createTestClient()
  await client.data('POST', '/access/users', { userid: 'one@pve', password: 'longenough' })
  await client.data('POST', '/access/users', { userid: 'two@pve', password: 'longenough' })
  await client.data('PUT', '/access/acl', { path: '/', users: 'one@pve', roles: 'PVEAuditor' })
  assert.ok(client.datacentre.world.hosts.size > 1)
  assert.equal((await askForTicket(client, { username: 'one@pve', password: 'longenough' })).clustername, 'sim')
  assert.equal((await askForTicket(client, { username: 'two@pve', password: 'longenough' })).clustername, undefined)
})

test('users: who looks after a group sees its members, in the order of their names', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.data('POST', '/access/groups', { groupid: 'g1' })
  for (const userid of ['zoe@pve', 'lead@pve']) await client.data('POST', '/access/users', { userid })
  await client.data('POST', '/access/users', { userid: 'ann@pve', groups: 'g1' })
  await client.data('PUT', '/access/acl', { path: '/access/groups/g1', users: 'lead@pve', roles: 'PVEUserAdmin' })
  const { value } = await client.data<{ value: string }>('POST', '/access/users/lead@pve/token/tt', { privsep: '0' })
  const answer = await client.clock.runUntil(
    client.datacentre.handle({
      method: 'GET',
      path: '/api2/json/access/users',
      headers: { authorization: `PVEAPIToken=lead@pve!tt=${value}` },
    }),
  )
  const names = (rows: readonly { userid: string }[]) => rows.map(({ userid }) => userid)
  assert.deepEqual(names(JSON.parse(answer.body).data), ['ann@pve'])
  const all = names(await client.data<{ userid: string }[]>('GET', '/access/users'))
  assert.deepEqual(all, [...all].sort())
})

test('permissions: what a path should name and nobody gave is a dash', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.data('POST', '/access/users', { userid: 'some@pve' })
  await client.data('PUT', '/access/acl', { path: '/nodes/pve1', users: 'some@pve', roles: 'PVEAuditor' })
  const { value } = await client.data<{ value: string }>('POST', '/access/users/some@pve/token/tt', { privsep: '0' })
  const asked = async (method: string, path: string) => {
    const headers = { authorization: `PVEAPIToken=some@pve!tt=${value}` }
    const answer = await client.clock.runUntil(client.datacentre.handle({ method, path: `/api2/json${path}`, headers }))
    return answer.reason
  }
  assert.equal(await asked('GET', '/cluster/acme/meta'), 'Permission check failed (/nodes/-, Sys.Audit)')
  assert.equal(
    await asked('PUT', '/cluster/jobs/realm-sync/x1'),
    'Permission check failed (/access/realm/-, Realm.AllocateUser)',
  )
})
