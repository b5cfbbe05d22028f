import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from './test-client.ts'

async function door(
  client: TestClient,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; value: unknown }> {
  const answer = await client.clock.runUntil(
    client.datacentre.handle({
      method,
      path,
      headers: {},
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  return { status: answer.status, value: JSON.parse(answer.body) }
}

test('the counters have the form that experiments rely on, and the door does not count itself', async () => {
  const client = createTestClient()
  const empty = { calls: 0, writes: 0, bytes: 0, peak: 0, byPath: {}, storageBusyMs: {} }
  assert.deepEqual((await door(client, 'GET', '/sim/stats')).value, empty)
  await client.call('GET', '/version')
  assert.equal(((await door(client, 'GET', '/sim/stats')).value as { calls: number }).calls, 1)
  assert.deepEqual((await door(client, 'DELETE', '/sim/stats')).value, empty)
})

test('what a person changes on the host replaces what waited there for a restart', async () => {
  const client = createTestClient()
  const config = '/nodes/still-fawn/qemu/108/config'
  await door(client, 'PATCH', '/sim/guests/108', { status: 'running', memory: '2048' })
  await client.call('PUT', config, { memory: '4096' })
  await door(client, 'PATCH', '/sim/guests/108', { memory: '4200' })
  await door(client, 'PATCH', '/sim/guests/108', { status: 'stopped' })
  await door(client, 'PATCH', '/sim/guests/108', { status: 'running' })
  assert.equal((await client.data<{ memory: string }>('GET', config)).memory, '4200')
})

test('a guest is changed as a person on the host would change it', async () => {
  const client = createTestClient()
  assert.equal((await door(client, 'PATCH', '/sim/guests/108', { lock: 'clone', cores: 6, onboot: true })).status, 200)
  const locked = await client.call('PUT', '/nodes/still-fawn/qemu/108/config', { cores: '1' })
  assert.equal(locked.reason, 'VM is locked (clone)')
  await door(client, 'PATCH', '/sim/guests/108', { lock: null, status: 'stopped' })
  const config = await client.data<Record<string, unknown>>('GET', '/nodes/still-fawn/qemu/108/config')
  assert.deepEqual([config.lock, config.cores, config.onboot], [undefined, 6, 1])
  assert.equal(
    (await client.data<{ status: string }>('GET', '/nodes/still-fawn/qemu/108/status/current')).status,
    'stopped',
  )
  assert.equal((await door(client, 'PATCH', '/sim/guests/999', { lock: 'clone' })).status, 400)
})

test('guests come and go by hand', async () => {
  const client = createTestClient()
  await door(client, 'POST', '/sim/guests/150', {
    node: 'still-fawn',
    name: 'by-hand',
    status: 'running',
    scsi0: 'local-zfs:8',
  })
  assert.equal(
    (await client.data<{ status: string }>('GET', '/nodes/still-fawn/qemu/150/status/current')).status,
    'running',
  )
  await door(client, 'DELETE', '/sim/guests/150')
  assert.equal((await client.call('GET', '/nodes/still-fawn/qemu/150/config')).status, 500)
})

test('faults and power are set through the door; nonsense is refused with a reason', async () => {
  const client = createTestClient()
  await door(client, 'POST', '/sim/faults', { match: 'version', kind: 'fail', status: 500, reason: 'broken', count: 1 })
  assert.equal((await client.call('GET', '/version')).reason, 'broken')
  assert.equal((await client.call('GET', '/version')).status, 200)
  await door(client, 'POST', '/sim/hosts/still-fawn', { power: 'off' })
  assert.equal((await client.call('GET', '/nodes/still-fawn/status')).status, 595)
  for (const [path, body] of [
    ['/sim/hosts/still-fawn', { power: 'half' }],
    ['/sim/hosts/nobody', { power: 'on' }],
    ['/sim/faults', { kind: 'magic' }],
    ['/sim/faults', []],
  ] as const) {
    assert.equal((await door(client, 'POST', path, body)).status, 400)
  }
  assert.equal((await door(client, 'GET', '/sim/nothing')).status, 404)
})

test('the state is everything, as JSON', async () => {
  const client = createTestClient()
  const { value } = await door(client, 'GET', '/sim/state')
  const state = value as { guests: { vmid: number; config: Record<string, string> }[]; hosts: { name: string }[] }
  assert.deepEqual(
    state.hosts.map((host) => host.name),
    ['pumped-piglet', 'still-fawn', 'fun-bedbug'],
  )
  assert.deepEqual(
    state.guests.map((guest) => guest.vmid),
    [109, 108],
  )
  assert.equal(state.guests[0]?.config.memory, '16384')
})
