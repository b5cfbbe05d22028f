import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, type TestClient } from '../../../test-client.ts'

/** What PVE::API2::Cluster::BulkAction::Guest writes and does. */
const AT = '/cluster/bulk-action/guest'

async function begun(client: TestClient, verb: string, params: Readonly<Record<string, string>>) {
  const upid = await client.data<string>('POST', `${AT}/${verb}`, params)
  const exit = await exitOf(client, upid)
  const lines = await client.data<{ t: string }[]>('GET', `/nodes/${upid.split(':')[1]}/tasks/${upid}/log`)
  return { exit, log: lines.map(({ t }) => t).slice(0, -1) }
}

async function site(): Promise<TestClient> {
  const client = createTestClient({ preset: 'recording' })
  const guests = { 200: 'order=1,up=5', 201: 'order=2', 202: 'order=2,down=7' }
  for (const [vmid, startup] of Object.entries(guests))
    assert.equal(await client.task('POST', '/nodes/pve1/qemu', { vmid, startup, memory: '32' }), 'OK')
  return client
}

test('guests are started in their order, with the pauses that they ask for', async () => {
  const client = await site()
  const started = await begun(client, 'start', { vms: '200' })
  assert.deepEqual(started, {
    exit: 'OK',
    log: ['Starting guests: 200', 'Starting VM 200', 'Waiting for 5 seconds (startup delay)'],
  })
  const all = await begun(client, 'start', {})
  assert.deepEqual(all.log.slice(0, 2), ['Starting all guests', 'WARN: Skipping VM 200, already running.'])
})

test('guests go down in the reverse order, and within one by their numbers', async () => {
  const client = await site()
  await begun(client, 'start', {})
  const { log } = await begun(client, 'shutdown', { timeout: '3', 'max-workers': '1' })
  assert.deepEqual(log, [
    'Shutting down all guests',
    'Shutting down VM 201 (Timeout = 3 seconds)',
    'Shutting down VM 202 (Timeout = 7 seconds)',
    'Shutting down VM 200 (Timeout = 3 seconds)',
  ])
})

test('a guest that is refused fails the whole, in the words of its refusal', async () => {
  const client = await site()
  client.datacentre.world.guests.get(201)?.config.set('lock', 'backup')
  const { exit, log } = await begun(client, 'start', { vms: '201' })
  assert.equal(exit, 'Some guests failed to start: 201')
  assert.deepEqual(log.slice(0, 2), ['Starting guests: 201', 'Starting VM 201'])
  assert.match(log[2] ?? '', /^WARN: .*VM is locked \(backup\)$/)
  const gone = await begun(client, 'migrate', { vms: '200', target: 'pve1' })
  assert.deepEqual(gone.log, ['Migrating guests to pve1: 200', 'WARN: VM 200 already on pve1, skipping.'])
})
