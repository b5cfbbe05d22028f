import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf } from '../../../test-client.ts'

/** What comes with a guest's copy and goes with the guest, as seen on Proxmox VE 9.2. */

const GUESTS = '/nodes/pve1/qemu'
type Rows = Record<string, unknown>[]

async function site() {
  const client = createTestClient({ preset: 'recording' })
  assert.equal(await client.task('POST', GUESTS, { vmid: '160', scsi0: 'local:1' }), 'OK')
  await client.data('POST', `${GUESTS}/160/firewall/rules`, { type: 'in', action: 'ACCEPT', comment: 'kept' })
  const rules = (vmid: number) => client.data<Rows>('GET', `${GUESTS}/${vmid}/firewall/rules`)
  return { client, rules }
}

test('a copy has the firewall of its source, and its own from then on', async () => {
  const { client, rules } = await site()
  assert.equal(await client.task('POST', `${GUESTS}/160/clone`, { newid: '161' }), 'OK')
  assert.equal((await rules(161))[0]?.comment, 'kept')
  await client.data('DELETE', `${GUESTS}/161/firewall/rules/0`)
  assert.deepEqual([(await rules(160)).length, (await rules(161)).length], [1, 0])
})

test('the next guest with the id of one that went has neither its rules nor the rights on it', async () => {
  const { client, rules } = await site()
  await client.data('PUT', '/access/acl', { path: '/vms/160', roles: 'PVEVMUser', users: 'root@pam' })
  assert.equal(await client.task('DELETE', `${GUESTS}/160`), 'OK')
  assert.equal(await client.task('POST', GUESTS, { vmid: '160' }), 'OK')
  assert.deepEqual(await rules(160), [])
  const paths = (await client.data<Rows>('GET', '/access/acl')).map(({ path }) => path)
  assert.equal(paths.includes('/vms/160'), false)
})

const SLOW = { bwlimit: '3000' }
const COMMAND = '/usr/bin/qemu-img convert -p -n -r 3000K -f raw -O raw /var/lib/vz/images/160/vm-160-disk-0.raw'

test('a copy that is stopped ends with the command that was killed, and leaves nothing', async () => {
  const { client } = await site()
  const upid = await client.data<string>('POST', `${GUESTS}/160/clone`, { newid: '161', full: '1', ...SLOW })
  await client.pass(5_000)
  await client.data('DELETE', `/nodes/pve1/tasks/${upid}`)
  const target = 'zeroinit:/var/lib/vz/images/161/vm-161-disk-0.raw'
  assert.equal(
    await exitOf(client, upid),
    `clone failed: copy failed: command '${COMMAND} ${target}' failed: interrupted by signal`,
  )
  assert.equal(client.datacentre.world.guests.has(161), false)
})

test('a move that is stopped gives the new volume back', async () => {
  const { client } = await site()
  await client.data('POST', '/storage', { storage: 's9', type: 'dir', path: '/var/lib/s9', content: 'images' })
  const move = { disk: 'scsi0', storage: 's9', ...SLOW }
  const upid = await client.data<string>('POST', `${GUESTS}/160/move_disk`, move)
  await client.pass(5_000)
  await client.data('DELETE', `/nodes/pve1/tasks/${upid}`)
  const target = 'zeroinit:/var/lib/s9/images/160/vm-160-disk-0.raw'
  assert.equal(
    await exitOf(client, upid),
    `storage migration failed: copy failed: command '${COMMAND} ${target}' failed: interrupted by signal`,
  )
  assert.deepEqual(await client.data('GET', '/nodes/pve1/storage/s9/content'), [])
})

test('a new guest waits five seconds for an id that somebody works on', async () => {
  const { client } = await site()
  await client.data('POST', `${GUESTS}/160/clone`, { newid: '161', full: '1', ...SLOW })
  await client.pass(1_000)
  const before = client.clock.now()
  const { reason } = await client.call('POST', GUESTS, { vmid: '161' })
  assert.equal(reason, "unable to create VM 161 - can't lock file '/var/lock/qemu-server/lock-161.conf' - got timeout")
  assert.equal(Math.round((client.clock.now() - before) / 1000), 5)
})

test('pools are listed by name', async () => {
  const { client } = await site()
  for (const poolid of ['top', 'top/sub', 'ab']) await client.data('POST', '/pools', { poolid })
  const names = (await client.data<Rows>('GET', '/pools')).map(({ poolid }) => poolid)
  assert.deepEqual(names, ['ab', 'top', 'top/sub'])
})
