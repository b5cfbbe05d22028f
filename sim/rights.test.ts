import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, HOST, type TestClient, WEB } from './test-client.ts'

/** Exactly the rights that a pool-scoped token needs. */
const POOL_ROLE =
  'VM.Allocate VM.PowerMgmt VM.Config.CPU VM.Config.Memory VM.Config.Disk VM.Config.Network VM.Config.HWType VM.Config.Options VM.Config.Cloudinit VM.GuestAgent.Audit Pool.Audit'

/** A client whose token is kept apart from its user, and has only what is given to it. */
async function limited(): Promise<{ root: TestClient; send: TestClient['call'] }> {
  const root = createTestClient()
  await root.data('POST', '/pools', { poolid: 'team' })
  await root.data('POST', '/access/users', { userid: 'croft@pve', password: 'long-enough' })
  const { value } = await root.data<{ value: string }>('POST', '/access/users/croft@pve/token/ci', { privsep: '1' })
  const send: TestClient['call'] = (method, path, params) =>
    root.clock.runUntil(
      root.datacentre.handle({
        method,
        path: `/api2/json${path}`,
        headers: {
          authorization: `PVEAPIToken=croft@pve!ci=${value}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        ...(params === undefined ? {} : { body: new URLSearchParams(params).toString() }),
      }),
    )
  return { root, send }
}

const give = (root: TestClient, path: string, roles: string) =>
  root.data('PUT', '/access/acl', { path, roles, users: 'croft@pve', tokens: 'croft@pve!ci' })

test('a token without rights sees empty lists and is told which right it lacks', async () => {
  const { send } = await limited()
  assert.equal((await send('GET', '/nodes/still-fawn/qemu')).body, '{"data":[]}')
  assert.equal(
    (await send('GET', '/nodes/still-fawn/qemu/108/config')).reason,
    'Permission check failed (/vms/108, VM.Audit)',
  )
  assert.equal((await send('POST', `${HOST}/qemu`, WEB)).reason, 'Permission check failed')
})

test('a token with rights on its pool makes a guest there, and does not see it until it is done', async () => {
  const { root, send } = await limited()
  await root.data('POST', '/access/roles', { roleid: 'CroftPool', privs: POOL_ROLE })
  await give(root, '/pool/team', 'CroftPool,PVEVMUser')
  assert.equal(
    (await send('POST', `${HOST}/qemu`, { ...WEB, pool: 'team' })).reason,
    'Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)',
  )
  await give(root, '/storage/local-zfs', 'PVEDatastoreUser')
  assert.equal(
    (await send('POST', `${HOST}/qemu`, { ...WEB, pool: 'team' })).reason,
    'Permission check failed (/storage/local, Datastore.AllocateSpace|Datastore.Audit)',
    'the image that it is made from is read',
  )
  await give(root, '/storage/local', 'PVEDatastoreUser')
  assert.equal(
    (await send('POST', `${HOST}/qemu`, { ...WEB, pool: 'team' })).reason,
    'Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)',
  )
  await give(root, '/sdn/zones/localnetwork', 'PVESDNUser')
  const upid = JSON.parse((await send('POST', `${HOST}/qemu`, { ...WEB, pool: 'team' })).body).data
  assert.equal(
    await exitOf(root, upid),
    'unable to create VM 114 - 403 Permission check failed (/vms/114, VM.Config.Options)',
    'for its tags: it is in no pool yet',
  )
  await root.data('POST', '/access/roles', { roleid: 'CroftTags', privs: 'VM.Config.Options' })
  await give(root, '/vms', 'CroftTags')
  assert.equal((await send('POST', `${HOST}/qemu`, { ...WEB, pool: 'team' })).status, 200)
  assert.equal((await send('GET', `${HOST}/qemu/114/config`)).status, 403)
  await root.pass(60_000)
  assert.equal((await send('GET', `${HOST}/qemu/114/config`)).status, 200)
  assert.equal((await send('POST', `${HOST}/qemu/114/status/start`)).status, 200)
  assert.equal(
    (await send('PUT', `${HOST}/qemu/114/config`, { startup: 'order=1' })).reason,
    'Permission check failed (/, Sys.Modify)',
  )
})

test('a token has no more than its user, and its user no less for it', async () => {
  const { root, send } = await limited()
  await root.data('PUT', '/access/acl', { path: '/vms', roles: 'PVEVMUser', tokens: 'croft@pve!ci' })
  assert.equal((await send('GET', '/nodes/still-fawn/qemu/108/config')).status, 403)
  await root.data('PUT', '/access/acl', { path: '/vms', roles: 'PVEVMUser', users: 'croft@pve' })
  assert.equal((await send('GET', '/nodes/still-fawn/qemu/108/config')).status, 200)
})

test('rights set deeper replace those from above', async () => {
  const { root, send } = await limited()
  await give(root, '/vms', 'PVEVMUser')
  await give(root, '/vms/108', 'NoAccess')
  assert.equal((await send('GET', '/nodes/still-fawn/qemu/108/config')).status, 403)
  assert.equal((await send('GET', '/nodes/pumped-piglet/qemu/109/config')).status, 200)
})

test('of what lies on a storage everybody sees what the rights on it and on its guest allow', async () => {
  const { root, send } = await limited()
  assert.equal(await root.task('POST', `${HOST}/qemu`, WEB), 'OK')
  const seen = async (storage: string) => {
    const { body } = await send('GET', `${HOST}/storage/${storage}/content`)
    return (JSON.parse(body) as { data: { volid: string }[] | null }).data?.map(({ volid }) => volid)
  }
  const disk = 'local-zfs:vm-114-disk-0'
  await give(root, '/storage', 'PVEDatastoreUser')
  assert.deepEqual(await seen('local-zfs'), [])
  assert.ok(!(await seen('local'))?.some((volid) => volid.includes(':snippets/')), 'a snippet is for who may do all')
  assert.equal((await send('GET', `${HOST}/storage/local-zfs/content/${disk}`)).status, 403)
  await give(root, '/vms/114', 'PVEVMAdmin')
  assert.deepEqual(await seen('local-zfs'), [disk])
  assert.equal((await send('GET', `${HOST}/storage/local-zfs/content/${disk}`)).status, 200)
})

test('who asks for a volume to be removed and waits is told its end', async () => {
  const root = createTestClient()
  assert.equal(await root.task('POST', `${HOST}/qemu`, WEB), 'OK')
  const at = `${HOST}/storage/local-zfs/content/local-zfs:vm-114-disk-0`
  assert.match(await root.data<string>('DELETE', `${at.replace('disk-0', 'disk-9')}`), /^UPID:/)
  assert.equal(await root.data('DELETE', `${at}?delay=10`), null)
})

test('jobs of replication are listed to whoever may see their guest', async () => {
  const { root, send } = await limited()
  assert.equal(await root.task('POST', `${HOST}/qemu`, WEB), 'OK')
  await root.data('POST', '/cluster/replication', { id: '114-0', type: 'local', target: 'still-fawn' })
  const listed = async (path: string) => (JSON.parse((await send('GET', path)).body) as { data: unknown[] }).data.length
  await give(root, '/vms/108', 'PVEVMUser')
  assert.equal(await listed('/cluster/replication'), 0)
  assert.equal(await listed(`${HOST}/replication`), 0)
  await give(root, '/vms/114', 'PVEVMUser')
  assert.equal(await listed('/cluster/replication'), 1)
  assert.equal(await listed(`${HOST}/replication`), 1)
})
