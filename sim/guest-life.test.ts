import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST, type TestClient, WEB } from './test-client.ts'

type Config = Record<string, unknown>
const GUEST = `${HOST}/qemu/114`

async function running(client: TestClient): Promise<void> {
  assert.equal(await client.task('POST', `${HOST}/qemu`, WEB), 'OK')
  assert.equal(await client.task('POST', `${GUEST}/status/start`), 'OK')
  await client.pass(60_000)
}

const statusOf = async (client: TestClient) => (await client.data<Config>('GET', `${GUEST}/status/current`)).status

test('a started guest boots, and only then does its agent answer', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  assert.equal((await client.call('POST', `${GUEST}/agent/ping`)).reason, 'VM 114 is not running')
  await client.task('POST', `${GUEST}/status/start`)
  assert.equal((await client.call('POST', `${GUEST}/agent/ping`)).reason, 'QEMU guest agent is not running')
  await client.pass(60_000)
  assert.deepEqual(await client.data('POST', `${GUEST}/agent/ping`), { result: {} })
  const { result } = await client.data<{ result: { name: string; 'ip-addresses': { 'ip-address': string }[] }[] }>(
    'GET',
    `${GUEST}/agent/network-get-interfaces`,
  )
  assert.deepEqual(
    result.map((face) => face.name),
    ['lo', 'eth0'],
  )
  assert.match(result[1]?.['ip-addresses'][0]?.['ip-address'] ?? '', /^192\.168\.4\.\d+$/)
})

test('without the agent in its configuration a guest never answers', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, { ...WEB, agent: '0' })
  await client.task('POST', `${GUEST}/status/start`)
  await client.pass(120_000)
  assert.equal((await client.call('POST', `${GUEST}/agent/ping`)).reason, 'QEMU guest agent is not running')
})

test('a guest with a system shuts down; one without does not hear it', async () => {
  const client = createTestClient()
  await running(client)
  assert.equal(await client.task('POST', `${GUEST}/status/shutdown`, { timeout: '30' }), 'OK')
  assert.equal(await statusOf(client), 'stopped')
  await client.task('POST', `${HOST}/qemu`, { vmid: '115', scsi0: 'local-zfs:1' })
  await client.task('POST', `${HOST}/qemu/115/status/start`)
  await client.pass(60_000)
  assert.equal(
    await client.task('POST', `${HOST}/qemu/115/status/shutdown`, { timeout: '3' }),
    'VM quit/powerdown failed - got timeout',
  )
  assert.equal(await client.task('POST', `${HOST}/qemu/115/status/shutdown`, { timeout: '3', forceStop: '1' }), 'OK')
})

test('a guest that is still booting does not hear a shutdown', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  await client.task('POST', `${GUEST}/status/start`)
  assert.equal(
    await client.task('POST', `${GUEST}/status/shutdown`, { timeout: '5' }),
    'VM quit/powerdown failed - got timeout',
  )
})

test('memory and cores of a running guest wait for its restart; its name does not', async () => {
  const client = createTestClient()
  await running(client)
  await client.data('PUT', `${GUEST}/config`, { memory: '4096', cores: '4', name: 'renamed', description: 'new' })
  const shown = await client.data<Config>('GET', `${GUEST}/config`)
  const current = await client.data<Config>('GET', `${GUEST}/config?current=1`)
  assert.deepEqual([shown.memory, shown.cores, shown.name], ['4096', 4, 'renamed'])
  assert.deepEqual([current.memory, current.cores, current.name], ['2048', 2, 'renamed'])
  const pending = await client.data<Config[]>('GET', `${GUEST}/pending`)
  assert.deepEqual(
    pending.find((entry) => entry.key === 'memory'),
    { key: 'memory', value: '2048', pending: '4096' },
  )
  assert.equal(await client.task('POST', `${GUEST}/status/reset`), 'OK')
  assert.equal((await client.data<Config>('GET', `${GUEST}/config?current=1`)).memory, '2048')
  await client.pass(60_000)
  assert.equal(await client.task('POST', `${GUEST}/status/reboot`), 'OK')
  assert.equal((await client.data<Config>('GET', `${GUEST}/config?current=1`)).memory, '4096')
  assert.equal(await statusOf(client), 'running')
})

test('what is set back to what it was does not wait any more', async () => {
  const client = createTestClient()
  await running(client)
  await client.data('PUT', `${GUEST}/config`, { memory: '4096' })
  await client.data('PUT', `${GUEST}/config`, { memory: '2048' })
  const pending = await client.data<Config[]>('GET', `${GUEST}/pending`)
  assert.ok(pending.every((entry) => !('pending' in entry)))
})

test('cards and disks are plugged into a running guest', async () => {
  const client = createTestClient()
  await running(client)
  await client.data('PUT', `${GUEST}/config`, { net1: 'virtio,bridge=vmbr0', scsi1: 'local-zfs:5' })
  const current = await client.data<Config>('GET', `${GUEST}/config?current=1`)
  assert.equal(current.scsi1, 'local-zfs:vm-114-disk-1,size=5G')
  assert.match(String(current.net1), /^virtio=/)
  await client.data('PUT', `${GUEST}/config`, { delete: 'scsi1' })
  assert.equal((await client.data<Config>('GET', `${GUEST}/config`)).unused0, 'local-zfs:vm-114-disk-1')
})

test('[F-08] a write with an old digest is refused', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  const { digest } = await client.data<{ digest: string }>('GET', `${GUEST}/config`)
  assert.match(digest, /^[0-9a-f]{40}$/)
  client.datacentre.patchGuest(114, { description: 'somebody was here' })
  const answer = await client.call('PUT', `${GUEST}/config`, { cores: '4', digest })
  assert.equal(answer.status, 500)
  assert.equal(answer.reason, 'checksum mismatch (file change by other user?)')
  assert.equal((await client.data<Config>('GET', `${GUEST}/config`)).cores, 2)
})

test('growing a disk is a task; shrinking it is a task that fails', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  assert.equal(await client.task('PUT', `${GUEST}/resize`, { disk: 'scsi0', size: '40G' }), 'OK')
  assert.equal(await client.task('PUT', `${GUEST}/resize`, { disk: 'scsi0', size: '+2G' }), 'OK')
  assert.equal((await client.data<Config>('GET', `${GUEST}/config`)).scsi0, 'local-zfs:vm-114-disk-0,size=42G')
  assert.equal(
    await client.task('PUT', `${GUEST}/resize`, { disk: 'scsi0', size: '10G' }),
    'shrinking disks is not supported',
  )
  assert.equal(
    await client.task('PUT', `${GUEST}/resize`, { disk: 'scsi7', size: '10G' }),
    "disk 'scsi7' does not exist",
  )
})

test('a bridge, a disk or a snippet that is missing makes the start fail', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, { ...WEB, net0: 'virtio,bridge=vmbr9' })
  assert.equal(await client.task('POST', `${GUEST}/status/start`), "bridge 'vmbr9' does not exist")
  await client.data('PUT', `${GUEST}/config`, {
    net0: 'virtio,bridge=vmbr0',
    ide2: 'local-zfs:cloudinit',
    cicustom: 'user=local:snippets/none.yaml',
  })
  assert.equal(await client.task('POST', `${GUEST}/status/start`), "volume 'local:snippets/none.yaml' does not exist")
  await client.data('PUT', `${GUEST}/config`, { delete: 'cicustom' })
  await client.task('DELETE', `${HOST}/storage/local-zfs/content/local-zfs:vm-114-disk-0`)
  assert.equal(await client.task('POST', `${GUEST}/status/start`), "volume 'local-zfs:vm-114-disk-0' does not exist")
})

test('destroying: refused while it runs or is protected; then guest, volumes and membership are gone', async () => {
  const client = createTestClient()
  await client.data('POST', '/pools', { poolid: 'team' })
  await client.task('POST', `${HOST}/qemu`, { ...WEB, pool: 'team', ide2: 'local-zfs:cloudinit' })
  await client.task('POST', `${GUEST}/status/start`)
  assert.equal((await client.call('DELETE', GUEST)).reason, 'VM 114 is running - destroy failed')
  await client.task('POST', `${GUEST}/status/stop`)
  await client.data('PUT', `${GUEST}/config`, { protection: '1' })
  assert.equal((await client.call('DELETE', GUEST)).reason, "can't remove VM 114 - protection mode enabled")
  await client.data('PUT', `${GUEST}/config`, { protection: '0' })
  assert.equal(await client.task('DELETE', `${GUEST}?purge=1`), 'OK')
  assert.equal((await client.call('GET', `${GUEST}/config`)).status, 500)
  assert.equal(client.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local-zfs')?.size, 0)
  assert.equal(client.datacentre.world.pools.get('team')?.guests.size, 0)
})

test('while a guest is worked on, others wait ten seconds and are told so', async () => {
  const client = createTestClient({ timing: { cloneBytesPerSecond: 10_000_000 } })
  await client.task('POST', `${HOST}/qemu`, WEB)
  await client.data('POST', `${GUEST}/clone`, { newid: '120', full: '1' })
  await client.pass(1_000)
  const began = client.clock.now()
  const answer = await client.call('PUT', `${GUEST}/config`, { cores: '1' })
  assert.equal(answer.reason, "can't lock file '/var/lock/qemu-server/lock-114.conf' - got timeout")
  assert.equal(client.clock.now() - began, 10_000)
})

test('a copy shows nothing but its lock until it is done, and the task has the id of the source', async () => {
  const client = createTestClient({ timing: { cloneBytesPerSecond: 100_000_000 } })
  await client.task('POST', `${HOST}/qemu`, WEB)
  const upid = await client.data<string>('POST', `${GUEST}/clone`, { newid: '120', name: 'copy', full: '1' })
  assert.match(upid, /:qmclone:114:/)
  await client.pass(2_000)
  const early = await client.data<Config>('GET', `${HOST}/qemu/120/config`)
  assert.deepEqual(Object.keys(early).sort(), ['description', 'digest', 'lock'])
  await client.pass(120_000)
  const copy = await client.data<Config>('GET', `${HOST}/qemu/120/config`)
  const source = await client.data<Config>('GET', `${GUEST}/config`)
  assert.equal(copy.name, 'copy')
  assert.equal(copy.scsi0, 'local-zfs:vm-120-disk-0,size=3584M')
  assert.notEqual(copy.net0, source.net0)
  assert.notEqual(copy.smbios1, source.smbios1)
})

test('a template cannot go while copies stand on it', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  assert.equal(await client.task('POST', `${GUEST}/template`), 'OK')
  assert.equal(await client.task('POST', `${GUEST}/status/start`), "you can't start a vm if it's a template")
  assert.equal(await client.task('POST', `${GUEST}/clone`, { newid: '120' }), 'OK')
  assert.match(await client.task('DELETE', GUEST), /^base volume 'local-zfs:base-114-disk-0' is still in use/)
  assert.equal(await client.task('DELETE', `${HOST}/qemu/120`), 'OK')
  assert.equal(await client.task('DELETE', GUEST), 'OK')
})

test('a snapshot brings back what was', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, WEB)
  assert.equal(await client.task('POST', `${GUEST}/snapshot`, { snapname: 'before' }), 'OK')
  await client.data('PUT', `${GUEST}/config`, { cores: '8' })
  assert.equal(await client.task('POST', `${GUEST}/snapshot/before/rollback`), 'OK')
  assert.equal((await client.data<Config>('GET', `${GUEST}/config`)).cores, 2)
  assert.equal(await client.task('DELETE', `${GUEST}/snapshot/before`), 'OK')
})
