import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Nodes, ::NodeConfig, ::Services, ::Tasks and ::Cluster::BulkAction say. */

const NODE = '/nodes/pve1'

test('a host: its configuration is a file that is there or not', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = `${NODE}/config`
  const other = '0'.repeat(40)
  await holds(client, [['PUT', at, { description: '', digest: other }, 'done']])
  assert.deepEqual(await client.data('GET', at), {}, 'of an empty description there is no trace')
  await holds(client, [
    ['PUT', at, { description: 'one\ntwo' }, 'done'],
    [
      'PUT',
      at,
      { description: 'x', digest: other },
      '500 detected modified configuration - file changed by other user? Try again.',
    ],
    ['PUT', at, { delete: 'nothing' }, 'done'],
    [
      'PUT',
      at,
      { acmedomain0: 'nodots' },
      {
        acmedomain0:
          "invalid format - format error\nacmedomain0.domain: invalid format - value 'nodots' does not look like a valid domain name!\n\n",
      },
    ],
    [
      'PUT',
      at,
      { acmedomain0: 'a.b,alias=c' },
      {
        acmedomain0:
          "invalid format - format error\nacmedomain0.alias: invalid format - value 'c' does not look like a valid alias name!\n\n",
      },
    ],
    ['PUT', at, { acme: 'domains=A.b;a.b' }, "500 duplicate domain 'a.b' in ACME config properties"],
    ['PUT', at, { acmedomain3: 'c.d' }, 'done'],
    [
      'PUT',
      at,
      { acmedomain1: 'c.D' },
      "500 duplicate domain 'c.d' in ACME config properties 'acmedomain3' and 'acmedomain1'",
    ],
  ])
})

test('a path names its parts once and without white space', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    [
      'POST',
      `${NODE}/vzdump`,
      { vmid: '100', node: 'pve2' },
      { node: 'duplicate parameter (already defined in URI) with conflicting values!' },
    ],
    ['GET', '/nodes/bad%20name/status', undefined, "501 Method 'GET /nodes/bad name/status' not implemented"],
    ['POST', `${NODE}/vzdump`, { pool: 'gone' }, "500 pool 'gone' does not exist"],
    ['PUT', `${NODE}/time`, { timezone: 'GMT' }, 'done'],
    ['PUT', `${NODE}/time`, { timezone: 'gmt' }, { timezone: 'No such timezone' }],
  ])
  const upid = 'UPID:pve1:00000001:00000001:00000001:x:1:root@pam:'
  const log = `${NODE}/tasks/${upid}/log`
  await holds(client, [
    [
      'GET',
      `${log}?download=1&limit=5`,
      undefined,
      "500 'download' cannot be used together with 'start' or 'limit' parameters",
    ],
    [
      'GET',
      `${log}?download=1`,
      undefined,
      `500 Could not open file '/var/log/pve/tasks/1/${upid}' - No such file or directory`,
    ],
    ['GET', `${NODE}/tasks/x/log?download=1&limit=5`, undefined, { upid: 'unable to parse worker upid' }],
  ])
})

test('what is named and not there: storages of a list, realms to log in with, what to keep of backups', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [['GET', `${NODE}/storage?storage=gone`, undefined, { storage: 'No such storage.' }]])
  const lo = await client.data<Record<string, unknown>>('GET', `${NODE}/network/lo`)
  assert.equal(lo.type, 'loopback')
  assert.equal(
    (await client.data<{ iface: string }[]>('GET', `${NODE}/network`)).some(({ iface }) => iface === 'lo'),
    false,
  )
})

test('the loopback is in every file: it can be named, and is no card', async () => {
  const client = createTestClient({ preset: 'recording' })
  const bond = { iface: 'bond7', type: 'bond', slaves: 'lo', bond_mode: 'active-backup' }
  assert.equal(
    (await client.call('POST', `${NODE}/network`, bond)).reason,
    "bond 'bond7' - wrong interface type on slave 'lo' ('loopback' != 'eth or bond')",
  )
  assert.equal((await client.call('PUT', `${NODE}/network/lo`, { type: 'eth' })).status, 200)
  assert.equal((await client.call('DELETE', `${NODE}/network/lo`)).status, 200)
  assert.equal((await client.data<{ type: string }>('GET', `${NODE}/network/lo`)).type, 'loopback')
})
