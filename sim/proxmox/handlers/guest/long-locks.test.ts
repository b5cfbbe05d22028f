import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, HOST, type TestClient, WEB } from '../../../test-client.ts'

/** What others are told while a long task works on a guest, and what is left when it ends. */

type Config = Record<string, unknown>
const VM = `${HOST}/qemu/114`
const CT = `${HOST}/lxc/140`

async function site(): Promise<TestClient> {
  const client = createTestClient()
  assert.equal(await client.task('POST', `${HOST}/qemu`, WEB), 'OK')
  return client
}

/** Begins a task and lets it get going. */
async function begin(client: TestClient, method: string, path: string, params?: Record<string, string>) {
  const upid = await client.data<string>(method, path, params)
  await client.clock.runUntil(() => markOf(client, 114) !== undefined || markOf(client, 140) !== undefined)
  return upid
}

const markOf = (client: TestClient, vmid: number) => client.datacentre.world.guests.get(vmid)?.config.get('lock')

test('while a backup runs, changes are refused at once and its mark can be read', async () => {
  const client = await site()
  const upid = await begin(client, 'POST', `${HOST}/vzdump`, { vmid: '114', storage: 'local' })
  const before = client.clock.now()
  assert.equal((await client.call('PUT', `${VM}/config`, { cores: '4' })).reason, 'VM is locked (backup)')
  assert.ok(client.clock.now() - before < 10_000, 'nobody waits for the lock file')
  assert.equal((await client.data<Config>('GET', `${VM}/config`)).lock, 'backup')
  assert.equal((await client.call('POST', `${VM}/clone`, { newid: '150' })).reason, 'VM is locked (backup)')
  assert.equal(await client.task('POST', `${VM}/snapshot`, { snapname: 'one' }), 'VM is locked (backup)')
  assert.equal(await client.task('POST', `${VM}/status/start`), 'VM is locked (backup)')
  assert.equal(await client.task('DELETE', VM), 'VM is locked (backup)')
  assert.equal(await exitOf(client, upid), 'OK')
  assert.equal(markOf(client, 114), undefined)
})

test('a guest that is locked fails in the backup, and the others are backed up', async () => {
  const client = await site()
  assert.equal(await client.task('POST', `${HOST}/qemu`, { ...WEB, vmid: '115' }), 'OK')
  client.datacentre.patchGuest(114, { lock: 'migrate' })
  assert.equal(await client.task('POST', `${HOST}/vzdump`, { vmid: '114,115', storage: 'local' }), 'job errors')
  const kept = await client.data<Config[]>('GET', `${HOST}/storage/local/content?content=backup`)
  assert.deepEqual(
    kept.map(({ vmid }) => vmid),
    [115],
  )
})

test('[T-08] a host runs one backup job at a time: the second waits for the first', async () => {
  const client = await site()
  assert.equal(await client.task('POST', `${HOST}/qemu`, { ...WEB, vmid: '115' }), 'OK')
  const first = await begin(client, 'POST', `${HOST}/vzdump`, { vmid: '114', storage: 'local' })
  const second = await client.data<string>('POST', `${HOST}/vzdump`, { vmid: '115', storage: 'local' })
  const lines = () => client.data<{ t: string }[]>('GET', `${HOST}/tasks/${second}/log`)
  const asked = 'INFO: trying to get global lock - waiting...'
  await client.clock.advanceTo(client.clock.now() + 1_000)
  assert.deepEqual(
    (await lines()).map(({ t }) => t),
    [asked],
  )
  assert.equal(markOf(client, 115), undefined, 'its guest is free meanwhile')
  assert.equal(await exitOf(client, first), 'OK')
  assert.equal(await exitOf(client, second), 'OK')
  assert.deepEqual(
    (await lines()).slice(0, 2).map(({ t }) => t),
    [asked, 'INFO: got global lock'],
  )
})

test('snapshots carry their own marks, and a half-made one is shown as such', async () => {
  const client = await site()
  const taken = await begin(client, 'POST', `${VM}/snapshot`, { snapname: 'one' })
  assert.equal((await client.call('PUT', `${VM}/config`, { cores: '4' })).reason, 'VM is locked (snapshot)')
  const [half] = await client.data<Config[]>('GET', `${VM}/snapshot`)
  assert.deepEqual([half?.name, half?.snapstate], ['one', 'prepare'])
  assert.equal(await exitOf(client, taken), 'OK')
  const [whole] = await client.data<Config[]>('GET', `${VM}/snapshot`)
  assert.deepEqual([whole?.name, whole?.snapstate], ['one', undefined])
  const back = await begin(client, 'POST', `${VM}/snapshot/one/rollback`)
  assert.equal((await client.call('PUT', `${VM}/config`, { cores: '4' })).reason, 'VM is locked (rollback)')
  assert.equal(await exitOf(client, back), 'OK')
  const gone = await begin(client, 'DELETE', `${VM}/snapshot/one`)
  assert.equal((await client.call('PUT', `${VM}/config`, { cores: '4' })).reason, 'VM is locked (snapshot-delete)')
  // That there is no such snapshot is found before the lock is.
  assert.equal(await client.task('DELETE', `${VM}/snapshot/two`), "snapshot 'two' does not exist")
  assert.equal(await exitOf(client, gone), 'OK')
  assert.equal(markOf(client, 114), undefined)
})

test('a power loss during a backup leaves its mark for a person to clear', async () => {
  const client = await site()
  await begin(client, 'POST', `${HOST}/vzdump`, { vmid: '114', storage: 'local' })
  client.datacentre.hostPower('fun-bedbug', 'off')
  client.datacentre.hostPower('fun-bedbug', 'on')
  await client.pass(600_000)
  assert.equal(markOf(client, 114), 'backup')
})

test('a running guest goes on in the process that a backup reads from', async () => {
  const client = await site()
  assert.equal(await client.task('POST', `${VM}/status/start`), 'OK')
  const upid = await begin(client, 'POST', `${HOST}/vzdump`, { vmid: '114', storage: 'local' })
  assert.equal(await client.task('POST', `${VM}/status/suspend`), 'OK')
  assert.equal(await client.task('POST', `${VM}/status/start`), 'OK')
  assert.equal(await client.task('POST', `${VM}/status/stop`), 'VM is locked (backup)')
  assert.equal(await exitOf(client, upid), 'OK')
})

test('[T-08] a copy that cannot have the lock of its source gives up after a second and leaves nothing', async () => {
  const client = await site()
  assert.equal(await client.task('POST', `${VM}/status/start`), 'OK')
  const first = await client.data<string>('POST', `${VM}/clone`, { newid: '150', full: '1' })
  await client.clock.runUntil(() => markOf(client, 150) === 'clone')
  const second = await client.data<string>('POST', `${VM}/clone`, { newid: '151', full: '1' })
  const begun = client.clock.now()
  assert.equal(await exitOf(client, second), "can't lock file '/var/lock/qemu-server/lock-114.conf' - got timeout")
  assert.ok(client.clock.now() - begun < 5_000)
  assert.equal(client.datacentre.world.guests.has(151), false)
  assert.equal(await exitOf(client, first), 'OK')
})

test('[T-08] whoever waits for a container in vain is told of its own lock file', async () => {
  const client = await site()
  const name = 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
  const host = client.datacentre.world.hosts.get('fun-bedbug')
  assert.ok(host)
  host.volumes.get('local')?.set(name, { name, content: 'vztmpl', format: 'tzst', sizeBytes: 617, ctimeSeconds: 1 })
  const made = { vmid: '140', ostemplate: `local:${name}`, rootfs: 'local-zfs:4', hostname: 'box' }
  assert.equal(await client.task('POST', `${HOST}/lxc`, made), 'OK')
  host.locks.set('lock-140', { held: 1, mode: 'exclusive', waiting: [] })
  const { reason } = await client.call('PUT', `${CT}/config`, { cores: '2' })
  assert.equal(reason, "can't lock file '/run/lock/lxc/pve-config-140.lock' - got timeout")
})

test('[T-08] what a long copy of a stopped VM keeps waiting, in the words of each call', async () => {
  const client = await site()
  assert.equal(await client.task('PUT', `${VM}/resize`, { disk: 'scsi0', size: '+200G' }), 'OK')
  const first = await client.data<string>('POST', `${VM}/clone`, { newid: '150', full: '1' })
  await client.clock.runUntil(() => markOf(client, 150) === 'clone')
  const busy = "can't lock file '/var/lock/qemu-server/lock-114.conf' - got timeout"
  assert.equal(await client.task('DELETE', `${VM}/snapshot/nope`), busy)
  assert.equal(await client.task('POST', `${VM}/snapshot/nope/rollback`), busy)
  assert.equal(await client.task('POST', `${VM}/migrate`, { target: 'pumped-piglet' }), 'migration aborted')
  assert.equal(await exitOf(client, first), 'OK')
})
