import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../src/lib/random.ts'
import { createDatacentre } from './datacentre.ts'
import { createVirtualClock } from './virtual-clock.ts'

function start() {
  const clock = createVirtualClock(1_794_704_000_000)
  const datacentre = createDatacentre({ clock, random: seededRandom(7), preset: 'hosts' })
  const headers = { Authorization: `PVEAPIToken=${datacentre.token}` }
  const node = [...datacentre.world.hosts.keys()][0] ?? ''
  async function call(method: string, path: string, params: Record<string, string> = {}) {
    const query = new URLSearchParams(params).toString()
    const plain = method === 'GET' || method === 'DELETE'
    const answer = await clock.runUntil(
      datacentre.handle({
        method,
        path: `/api2/json${path}${plain && query !== '' ? `?${query}` : ''}`,
        headers: plain ? headers : { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
        ...(plain ? {} : { body: query }),
      }),
    )
    return { status: answer.status, data: (JSON.parse(answer.body || '{}') as { data?: unknown }).data }
  }
  return { call, node, clock }
}

test('a zone is in effect once it is applied, and a rollback takes back what is not', async () => {
  const { call, clock } = start()
  const zones = async () =>
    ((await call('GET', '/cluster/sdn/zones?running=1')).data as { zone: string }[]).map(({ zone }) => zone)
  assert.deepEqual(await zones(), [])
  assert.equal((await call('POST', '/cluster/sdn/zones', { zone: 'z1', type: 'simple' })).status, 200)
  assert.deepEqual(await zones(), [])
  await call('PUT', '/cluster/sdn')
  await clock.advanceTo(clock.now() + 60_000)
  await call('POST', '/cluster/sdn/zones', { zone: 'z2', type: 'simple' })
  assert.deepEqual(await zones(), ['z1'])
  assert.equal((await call('POST', '/cluster/sdn/lock')).status, 500, 'what is pending is in the way of the lock')
  assert.equal((await call('POST', '/cluster/sdn/rollback')).status, 200)
  assert.deepEqual(await zones(), ['z1'])
  assert.equal((await call('POST', '/cluster/sdn/lock')).status, 200)
})

test('who holds the lock of the network of the cluster gives it back by its token', async () => {
  const { call, clock } = start()
  const token = String((await call('POST', '/cluster/sdn/lock')).data)
  assert.equal((await call('POST', '/cluster/sdn/lock')).status, 500)
  assert.equal((await call('DELETE', '/cluster/sdn/lock', { 'lock-token': 'wrong' })).status, 500)
  assert.equal((await call('DELETE', '/cluster/sdn/lock', { 'lock-token': token })).status, 200)
  const again = String((await call('POST', '/cluster/sdn/lock')).data)
  // What is applied with the lock gives it back.
  await call('PUT', '/cluster/sdn', { 'lock-token': again })
  await clock.advanceTo(clock.now() + 60_000)
  assert.equal((await call('POST', '/cluster/sdn/lock')).status, 200)
})
