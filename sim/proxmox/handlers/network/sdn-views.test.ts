import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** One thing of the cluster's network: as it is written, in effect, or still to come. Asked of the real daemon. */

type Row = Record<string, unknown>
const SDN = '/cluster/sdn'

test('a zone that was never applied is still to come, and not in effect', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = `${SDN}/zones/z1`
  await holds(client, [['POST', `${SDN}/zones`, { zone: 'z1', type: 'simple', mtu: '1450' }, 'done']])
  const coming = { zone: 'z1', type: 'simple', digest: null, state: 'new', pending: { mtu: 1450 } }
  assert.deepEqual(await client.data('GET', `${at}?pending=1`), coming)
  await holds(client, [['GET', `${at}?running=1`, undefined, "500 sdn 'z1' does not exist"]])
  assert.equal((await client.data<Row>('GET', at)).mtu, 1450)
})

test('what is in effect is shown until the next change is applied', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    ['POST', `${SDN}/zones`, { zone: 'z1', type: 'simple' }, 'done'],
    ['POST', `${SDN}/vnets`, { vnet: 'n1', zone: 'z1', alias: 'before' }, 'done'],
    ['PUT', SDN, {}, 'task: OK'],
    ['PUT', `${SDN}/vnets/n1`, { alias: 'after' }, 'done'],
  ])
  const kept = { vnet: 'n1', type: 'vnet', zone: 'z1', alias: 'before', digest: null }
  assert.deepEqual(await client.data('GET', `${SDN}/vnets/n1?running=1`), kept)
  const change = { state: 'changed', pending: { alias: 'after' } }
  assert.deepEqual(await client.data('GET', `${SDN}/vnets/n1?pending=1`), { ...kept, ...change })
  assert.deepEqual(await client.data('GET', `${SDN}/vnets?running=1`), [kept])
  assert.equal((await client.data<Row>('GET', `${SDN}/vnets/n1`)).alias, 'after')
})

test('a zone that is to go is shown as such, and written nowhere', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = `${SDN}/zones/z1`
  await holds(client, [
    ['POST', `${SDN}/zones`, { zone: 'z1', type: 'simple' }, 'done'],
    ['PUT', SDN, {}, 'task: OK'],
    ['DELETE', at, undefined, 'done'],
    ['GET', at, undefined, "500 sdn 'z1' does not exist"],
  ])
  const kept = { zone: 'z1', type: 'simple', digest: null }
  assert.deepEqual(await client.data('GET', `${at}?running=1`), kept)
  assert.deepEqual(await client.data('GET', `${at}?pending=1`), { ...kept, state: 'deleted', pending: {} })
})
