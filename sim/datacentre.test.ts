import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WireFailure } from '../src/lib/wire.ts'
import { createTestClient, HOST, type TestClient, WEB } from './test-client.ts'
import { simWire } from './wire.ts'

/** A day at the site, with faults, as one text. */
async function trace(seed: number): Promise<string> {
  const client = createTestClient({ seed, timing: { callMs: [1, 20] } })
  const lines: string[] = []
  const note = async (method: string, path: string, params?: Record<string, string>) => {
    const outcome = await client.call(method, path, params).then(
      (answer) => `${answer.status} ${answer.reason} ${answer.body}`,
      (error: unknown) => String(error),
    )
    lines.push(`${client.clock.now()} ${method} ${path} ${outcome}`)
  }
  client.datacentre.faults.add({
    match: 'resources',
    kind: 'fail',
    probability: 0.3,
    status: 596,
    reason: 'Broken pipe',
  })
  client.datacentre.faults.add({ match: 'GET .*config', kind: 'drop-after', probability: 0.3 })
  await note('POST', `${HOST}/qemu`, WEB)
  for (let round = 0; round < 8; round++) {
    await client.pass(4_000)
    await note('GET', '/cluster/resources')
    await note('GET', `${HOST}/qemu/114/config`)
  }
  await note('POST', `${HOST}/qemu/114/status/start`)
  await client.pass(40_000)
  await note('GET', `${HOST}/qemu/114/agent/network-get-interfaces`)
  lines.push(JSON.stringify(client.datacentre.state()), JSON.stringify(client.datacentre.writes))
  return lines.join('\n')
}

test('the same seed gives the same day, byte for byte; another seed another one', async () => {
  const [one, again, other] = [await trace(5), await trace(5), await trace(6)]
  assert.equal(one, again)
  assert.notEqual(one, other)
})

const dropped = async (client: TestClient, method: string, path: string, params?: Record<string, string>) =>
  client.call(method, path, params).then(
    () => 'answered',
    (error: unknown) => (error instanceof WireFailure ? error.sent : String(error)),
  )

test('[F-05] a request that is lost before it arrives changes nothing', async () => {
  const client = createTestClient()
  client.datacentre.faults.add({ match: '^POST /nodes/.*/qemu$', kind: 'drop-before', count: 1 })
  assert.equal(await dropped(client, 'POST', `${HOST}/qemu`, WEB), 'maybe')
  assert.equal(client.datacentre.world.guests.has(114), false)
  assert.equal(client.datacentre.writes.length, 0)
  assert.equal(await dropped(client, 'POST', `${HOST}/qemu`, WEB), 'answered')
})

test('[F-04] an answer that is lost on its way back does not undo what was done', async () => {
  const client = createTestClient()
  client.datacentre.faults.add({ match: '^POST /nodes/.*/qemu$', kind: 'drop-after', count: 1 })
  assert.equal(await dropped(client, 'POST', `${HOST}/qemu`, WEB), 'maybe')
  assert.equal(client.datacentre.world.guests.has(114), true)
  assert.equal(client.datacentre.writes.length, 1)
})

test('[F-07] every kind of broken answer can be asked for', async () => {
  const client = createTestClient()
  const { faults } = client.datacentre
  const once = async (fault: Parameters<typeof faults.add>[0]) => {
    faults.add({ ...fault, count: 1 })
    return client.call('GET', '/version')
  }
  assert.equal((await once({ kind: 'fail', status: 599, reason: 'Too many redirections' })).status, 599)
  assert.match((await once({ kind: 'html' })).body, /^<html>/)
  const cut = (await once({ kind: 'truncated' })).body
  assert.throws(() => JSON.parse(cut))
  assert.equal((await once({ kind: 'empty' })).body, '')
  const began = client.clock.now()
  assert.equal((await once({ kind: 'delay', delayMs: 7_000 })).status, 200)
  assert.equal(client.clock.now() - began, 7_000)
  assert.equal((await client.call('GET', '/version')).status, 200)
})

test('faults keep to their time, their number and their turn', async () => {
  const client = createTestClient()
  const now = client.clock.now()
  client.datacentre.faults.add({ match: 'version', kind: 'fail', fromMs: now + 1_000, untilMs: now + 2_000, skip: 1 })
  const statuses: number[] = []
  for (let step = 0; step < 8; step++) {
    statuses.push((await client.call('GET', '/version')).status)
    await client.pass(300)
  }
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 500, 500, 200])
})

test('three calls are served at once, the rest wait; too long, and the front gives up', async () => {
  const client = createTestClient({ timing: { callMs: [1_000, 1_000] } })
  const began = client.clock.now()
  const ends: number[] = []
  const calls = Array.from({ length: 7 }, () =>
    client.send('GET', '/cluster/resources').then(() => ends.push(client.clock.now() - began)),
  )
  await client.clock.runUntil(Promise.all(calls))
  assert.deepEqual(ends, [1_000, 1_000, 1_000, 2_000, 2_000, 2_000, 3_000])
  assert.equal(client.datacentre.stats().peak, 7)
  const slow = createTestClient({ timing: { callMs: [20_000, 20_000] }, workers: 1 })
  const answers = await slow.clock.runUntil(Promise.all([1, 2, 3].map(() => slow.send('GET', '/cluster/resources'))))
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200, 596],
  )
})

test('calls, writes and bytes are counted by path', async () => {
  const client = createTestClient()
  assert.deepEqual(client.datacentre.stats(), { calls: 0, writes: 0, bytes: 0, peak: 0, byPath: {}, storageBusyMs: {} })
  await client.call('GET', '/version')
  await client.call('GET', '/nodes/still-fawn/qemu/108/config')
  await client.call('PUT', '/nodes/still-fawn/qemu/108/config', { cores: '3' })
  const stats = client.datacentre.stats()
  assert.deepEqual([stats.calls, stats.writes, stats.peak], [3, 1, 1])
  assert.ok(stats.bytes > 100)
  assert.equal(stats.byPath['PUT /nodes/{node}/qemu/{vmid}/config'], 1)
  client.datacentre.resetStats()
  assert.equal(client.datacentre.stats().calls, 0)
})

test('the time for which the lock of a storage was held is counted', async () => {
  const client = createTestClient({ timing: { allocateMs: [400, 400] } })
  const disk = { vmid: '700', scsi0: 'local-zfs:1' }
  assert.equal(await client.task('POST', '/nodes/still-fawn/qemu', disk), 'OK')
  assert.deepEqual(client.datacentre.stats().storageBusyMs, { 'still-fawn/local-zfs': 400 })
  client.datacentre.resetStats()
  assert.deepEqual(client.datacentre.stats().storageBusyMs, {})
})

test('a call that was called off rejects, and the work behind it goes on', async () => {
  const client = createTestClient({ timing: { callMs: [5_000, 5_000] } })
  const abort = new AbortController()
  const wire = simWire(client.datacentre)
  const headers = {
    authorization: `PVEAPIToken=${client.datacentre.token}`,
    'content-type': 'application/x-www-form-urlencoded',
  }
  const sent = wire.send(
    { method: 'PUT', path: '/api2/json/nodes/still-fawn/qemu/108/config', headers, body: 'name=later' },
    abort.signal,
  )
  client.clock.schedule(client.clock.now() + 1_000, () => abort.abort())
  await assert.rejects(
    client.clock.runUntil(sent),
    (error: unknown) => error instanceof WireFailure && error.sent === 'maybe',
  )
  await client.pass(10_000)
  assert.equal(client.datacentre.world.guests.get(108)?.config.get('name'), 'later')
})

test('with all hosts off nobody answers', async () => {
  const client = createTestClient()
  for (const name of client.datacentre.world.hosts.keys()) client.datacentre.hostPower(name, 'off')
  assert.equal(await dropped(client, 'GET', '/version'), 'no')
})
