import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'
import { acquire, BACKUP_LOCK } from '../../../world/locks.ts'

/** What tasks for many guests do and say, asked of the real daemon. */

const NODE = '/nodes/pve1'

async function site(...vmids: readonly string[]): Promise<TestClient> {
  const client = createTestClient({ preset: 'recording' })
  for (const vmid of vmids) assert.equal(await client.task('POST', `${NODE}/qemu`, { vmid }), 'OK')
  return client
}

async function logOf(client: TestClient, path: string, params: Record<string, string>): Promise<string[]> {
  const upid = await client.data<string>('POST', path, params)
  const { tasksById } = client.datacentre.world.hosts.get('pve1') ?? assert.fail()
  await client.clock.runUntil(() => tasksById.get(upid)?.exit !== undefined)
  return [...(tasksById.get(upid)?.log ?? [])]
}

const lockOf = (client: TestClient, vmid: number) => client.datacentre.world.guests.get(vmid)?.config.get('lock')

test('a host that starts its guests takes away what a backup left, from those that are not meant too', async () => {
  const client = await site('100', '101', '102')
  for (const vmid of [100, 101]) client.datacentre.patchGuest(vmid, { lock: 'backup' })
  client.datacentre.patchGuest(102, { lock: 'migrate' })
  assert.deepEqual(await logOf(client, `${NODE}/startall`, { vms: '100', force: '1' }), [
    "removed left over backup lock from '100'!",
    "removed left over backup lock from '101'!",
    'Starting VM 100',
    'TASK OK',
  ])
  assert.deepEqual([lockOf(client, 101), lockOf(client, 102)], [undefined, 'migrate'])
  assert.equal(client.datacentre.world.guests.get(100)?.run.status, 'running')
})

test('while a backup runs its marks stay, and the guests wait for nothing else', async () => {
  const client = await site('100', '101')
  client.datacentre.patchGuest(101, { lock: 'backup' })
  const { world } = client.datacentre
  assert.equal(acquire(world, world.hosts.get('pve1') ?? assert.fail(), BACKUP_LOCK), true)
  assert.deepEqual(await logOf(client, `${NODE}/startall`, { vms: '100', force: '1' }), [
    "can't lock file '/var/run/vzdump.lock' - got timeout",
    'Starting VM 100',
    'TASK OK',
  ])
  assert.equal(lockOf(client, 101), 'backup')
})

test('a task for guests of the whole cluster says whom it means, and why one failed', async () => {
  const client = await site('100')
  const at = '/cluster/bulk-action/guest'
  client.datacentre.patchGuest(100, { lock: 'backup' })
  assert.deepEqual(await logOf(client, `${at}/start`, { vms: '100' }), [
    'Starting guests: 100',
    'Starting VM 100',
    'WARN: Starting VM 100 failed: VM is locked (backup)',
    'TASK ERROR: Some guests failed to start: 100',
  ])
  assert.deepEqual(await logOf(client, `${at}/migrate`, { vms: '100', target: 'pve2' }), [
    'Migrating guests to pve2: 100',
    'Migrating VM 100',
    "WARN: 500 no such cluster node 'pve2'",
    'TASK ERROR: Some guests failed to migrate 100',
  ])
  client.datacentre.patchGuest(100, { lock: null })
  assert.deepEqual(await logOf(client, `${at}/start`, {}), ['Starting all guests', 'Starting VM 100', 'TASK OK'])
  client.datacentre.patchGuest(100, { lock: 'backup' })
  assert.deepEqual(await logOf(client, `${at}/shutdown`, { vms: '100', timeout: '5' }), [
    'Shutting down guests: 100',
    'Shutting down VM 100 (Timeout = 5 seconds)',
    'WARN: Stopping VM 100 failed: VM is locked (backup)',
    'TASK ERROR: Some guests failed to shutdown 100',
  ])
  assert.deepEqual(await logOf(client, `${at}/suspend`, { vms: '100', 'to-disk': '1' }), [
    'Suspending guests: 100',
    'Suspending VM 100',
    'WARN: Stopping VM 100 failed: cannot suspend to disk during backup',
    'TASK ERROR: Some guests failed to suspend 100',
  ])
})

test('nodes tell each other of tasks without the beginning of their process, and without it when it ended', async () => {
  const client = await site('100')
  await holds(client, [['POST', `${NODE}/qemu/100/status/start`, {}, 'task: OK']])
  await client.data('POST', `${NODE}/qemu/100/status/shutdown`, { timeout: '30' })
  const rows = await client.data<Record<string, unknown>[]>('GET', '/cluster/tasks')
  assert.deepEqual(
    rows.map(({ type, pid, pstart, saved }) => [type, typeof pid, pstart, saved]),
    [
      ['qmshutdown', 'number', undefined, undefined],
      ['qmstart', 'undefined', undefined, '1'],
      ['qmcreate', 'undefined', undefined, '1'],
    ],
  )
})
