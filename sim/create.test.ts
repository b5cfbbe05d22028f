import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, HOST, WEB } from './test-client.ts'

type Config = Record<string, unknown>

test('a guest that is being made shows its lock and nothing else, then everything', async () => {
  const client = createTestClient()
  const upid = await client.data<string>('POST', `${HOST}/qemu`, WEB)
  assert.match(upid, /^UPID:fun-bedbug:[0-9A-F]{8}:[0-9A-F]{8}:[0-9A-F]{8}:qmcreate:114:root@pam!croft:$/)
  const early = await client.data<Config>('GET', `${HOST}/qemu/114/config`)
  assert.deepEqual(Object.keys(early).sort(), ['digest', 'lock'])
  assert.equal(early.lock, 'create')
  assert.equal(await exitOf(client, upid), 'OK')
  const config = await client.data<Config>('GET', `${HOST}/qemu/114/config`)
  assert.equal(config.scsi0, 'local-zfs:vm-114-disk-0,size=3584M')
  assert.match(String(config.net0), /^virtio=BC:24:11:[0-9A-F:]{8},bridge=vmbr0$/)
  assert.equal(config.boot, 'order=scsi0;net0')
  assert.equal(config.tags, 'croft;uid-abc')
  assert.equal(config.memory, '2048')
  assert.equal(config.cores, 2)
  assert.match(String(config.meta), /^creation-qemu=[\d.]+,ctime=\d+$/)
  assert.match(String(config.smbios1), /^uuid=[0-9a-f-]{36}$/)
})

test('importing takes as long as the image is large', async () => {
  const quick = createTestClient({ timing: { importBytesPerSecond: 4_000_000_000 } })
  const slow = createTestClient({ timing: { importBytesPerSecond: 2_000_000 } })
  const tookMs: number[] = []
  for (const client of [quick, slow]) {
    const began = client.clock.now()
    assert.equal(await client.task('POST', `${HOST}/qemu`, WEB), 'OK')
    tookMs.push(client.clock.now() - began)
  }
  assert.ok((tookMs[0] ?? 0) < 5_000, `${tookMs[0]}`)
  assert.ok((tookMs[1] ?? 0) > 30 * 60_000, `${tookMs[1]}`)
})

test('[F-11] an id that somebody has is refused, whoever may see it', async () => {
  const client = createTestClient()
  client.datacentre.hideGuests('root@pam!croft', 'all')
  const answer = await client.call('POST', '/nodes/still-fawn/qemu', { vmid: '109' })
  // Without any right on the guest the call ends before the id is looked at.
  assert.equal(answer.status, 403)
  assert.equal((await client.call('GET', '/cluster/nextid?vmid=109')).status, 400)
  client.datacentre.hideGuests('root@pam!croft', undefined)
  const again = await client.call('POST', '/nodes/still-fawn/qemu', { vmid: '109' })
  assert.equal(again.status, 500)
  assert.equal(again.reason, "unable to create VM 109 - VM 109 already exists on node 'pumped-piglet'")
})

test('two creations of one id at once: one wins, the other is told', async () => {
  const client = createTestClient()
  const answers = await client.clock.runUntil(
    Promise.all([client.send('POST', `${HOST}/qemu`, WEB), client.send('POST', `${HOST}/qemu`, WEB)]),
  )
  assert.deepEqual(
    answers.map((answer) => answer.status).sort((a, b) => a - b),
    [200, 500],
  )
})

test('a creation that fails leaves neither guest nor volume behind', async () => {
  const client = createTestClient()
  const exit = await client.task('POST', `${HOST}/qemu`, {
    ...WEB,
    ide2: 'local-zfs:cloudinit',
    scsi0: 'local-zfs:0,import-from=local:import/none.qcow2',
  })
  assert.equal(exit, "unable to create VM 114 - failed to stat '/var/lib/vz/import/none.qcow2'")
  assert.equal(client.datacentre.world.guests.has(114), false)
  assert.equal(client.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local-zfs')?.size ?? 0, 0)
})

test('[F-14] a full storage fails the task and cleans up', async () => {
  const client = createTestClient()
  client.datacentre.setStorageSize('local-zfs', 2 * 1024 ** 3)
  const exit = await client.task('POST', `${HOST}/qemu`, WEB)
  assert.match(exit, /out of space/)
  assert.equal(client.datacentre.world.guests.has(114), false)
})

test('[F-15] a host that loses its power while it works leaves lock and volumes behind, and no task that goes on', async () => {
  const client = createTestClient()
  const upid = await client.data<string>('POST', `${HOST}/qemu`, WEB)
  await client.pass(3_000)
  client.datacentre.hostPower('fun-bedbug', 'off')
  const off = await client.call('GET', `${HOST}/qemu/114/config`)
  assert.equal(off.status, 595)
  await client.pass(120_000)
  client.datacentre.hostPower('fun-bedbug', 'on')
  await client.pass(120_000)
  assert.equal((await client.data<Config>('GET', `${HOST}/qemu/114/config`)).lock, 'create')
  assert.equal(client.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local-zfs')?.size, 1)
  assert.equal(client.datacentre.world.hosts.get('fun-bedbug')?.tasksById.get(upid)?.exit, 'unexpected status')
  assert.equal(await client.task('DELETE', `${HOST}/qemu/114`), 'VM is locked (create)')
  const unlock = await client.call('PUT', `${HOST}/qemu/114/config`, { delete: 'lock', skiplock: '1' })
  assert.equal(unlock.status, 400)
})

test('[F-13] disks on one storage are made one after the other; who waits too long is told so', async () => {
  const client = createTestClient({ timing: { allocateMs: [4_000, 4_000] } })
  const upids: string[] = []
  for (let vmid = 200; vmid < 206; vmid++) {
    upids.push(await client.data<string>('POST', `${HOST}/qemu`, { vmid: `${vmid}`, scsi0: 'local-zfs:1' }))
  }
  const exits: string[] = []
  for (const upid of upids) exits.push(await exitOf(client, upid))
  assert.equal(exits.filter((exit) => exit === 'OK').length, 3)
  assert.equal(exits.filter((exit) => /can't lock file '.*pve-storage-local-zfs' - got timeout$/.test(exit)).length, 3)
  assert.equal(client.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local-zfs')?.size, 3)
})

test('an id is only in its pool when the creation has ended', async () => {
  const client = createTestClient()
  await client.data('POST', '/pools', { poolid: 'team' })
  const upid = await client.data<string>('POST', `${HOST}/qemu`, { ...WEB, pool: 'team' })
  await client.pass(1_000)
  assert.equal(client.datacentre.world.pools.get('team')?.guests.size, 0)
  await exitOf(client, upid)
  assert.deepEqual([...(client.datacentre.world.pools.get('team')?.guests ?? [])], [114])
})

test('start=1 with a start that fails is still a creation that went well', async () => {
  const client = createTestClient()
  assert.equal(await client.task('POST', `${HOST}/qemu`, { ...WEB, net0: 'virtio,bridge=vmbr9', start: '1' }), 'OK')
  assert.equal((await client.data<Config>('GET', `${HOST}/qemu/114/status/current`)).status, 'stopped')
})

test('without quorum nothing is written, and everything can be read', async () => {
  const client = createTestClient()
  client.datacentre.setQuorum(false)
  assert.equal((await client.call('POST', `${HOST}/qemu`, WEB)).reason, 'cluster not ready - no quorum?')
  assert.equal((await client.call('GET', '/cluster/resources')).status, 200)
})
