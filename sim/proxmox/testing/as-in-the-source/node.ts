import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../../test-client.ts'
import { holds } from '../../../testing/answered-rows.ts'
import { asRoot, loggedIn } from '../../../testing/logged-in.ts'
import { batchError } from '../../validate/formats/command-batch.ts'

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

test('a host: templates, services and batches of calls', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    ['POST', `${NODE}/aplinfo`, { storage: 'nowhere', template: 'none' }, { template: 'no such template' }],
  ])
  assert.deepEqual(await client.data('GET', `${NODE}/services/sshd/state`), {
    service: 'sshd',
    name: null,
    desc: null,
    state: 'unknown',
  })
  assert.equal((await client.data<unknown[]>('GET', NODE)).length, 41)
  const place = 'at /usr/share/perl5/PVE/API2/Nodes.pm line 99.'
  const shape = 'commands is not a valid array of commands: 400 Parameter verification failed.\n'
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['[{"path":"version","method":"GET"}]', undefined],
    [
      'foo',
      `commands param did not contain valid JSON: 'false' expected, at character offset 0 (before "foo") ${place}`,
    ],
    [
      ' x',
      `commands param did not contain valid JSON: malformed JSON string, neither tag, array, object, number, string or atom, at character offset 1 (before "x") ${place}`,
    ],
    ['{}', `${shape}_root: type check ('array') failed`],
    ['[1]', `${shape}[0]: type check ('object') failed`],
    ['[{"path":"x"}]', `${shape}[0].method: property is missing and it is not optional`],
    ['[{"path":"x","method":"get"}]', `${shape}[0].method: value does not match the regex pattern`],
    [
      '[{"method":"GET","args":[]}]',
      `${shape}[0].args: type check ('object') failed\n[0].path: property is missing and it is not optional`,
    ],
  ]
  for (const [text, expected] of cases) assert.equal(batchError(text), expected, text)
})

test('many guests at once: who is meant, in which order, and each with a task of its own', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    ['POST', `${NODE}/qemu`, { vmid: '100' }, 'task: OK'],
    ['POST', `${NODE}/qemu`, { vmid: '101', onboot: '1', startup: 'order=2' }, 'task: OK'],
    ['POST', `${NODE}/qemu`, { vmid: '102', onboot: '1', startup: 'order=1' }, 'task: OK'],
    ['POST', `${NODE}/startall`, { vms: '100' }, 'task: OK'],
  ])
  const running = () =>
    [...client.datacentre.world.guests.values()].filter(({ run }) => run.status === 'running').map(({ vmid }) => vmid)
  assert.deepEqual(running(), [], 'naming one does not start one that is not started with its host')
  await holds(client, [['POST', `${NODE}/startall`, {}, 'task: OK']])
  assert.deepEqual(running(), [101, 102])
  const tasks = await client.data<{ type: string; id: string }[]>('GET', `${NODE}/tasks?typefilter=qmstart`)
  assert.deepEqual(
    tasks.map(({ id }) => id),
    ['101', '102'],
    'the last one is shown first',
  )
  await holds(client, [
    ['POST', `${NODE}/startall`, { vms: '100', force: '1' }, 'task: OK'],
    ['POST', '/cluster/bulk-action/guest/start', {}, 'task: WARNINGS: 3'],
    ['POST', `${NODE}/stopall`, { timeout: '1' }, 'task: OK'],
    ['POST', '/cluster/bulk-action/guest/shutdown', { vms: '101' }, 'task: WARNINGS: 1'],
    ['POST', '/cluster/bulk-action/guest/suspend', { vms: '999' }, 'task: OK'],
    ['POST', '/cluster/bulk-action/guest/migrate', { target: 'pve1', vms: '101' }, 'task: WARNINGS: 1'],
    [
      'POST',
      '/cluster/bulk-action/guest/migrate',
      { target: 'pve9', vms: '101' },
      'task: Some guests failed to migrate 101',
    ],
    ['POST', `${NODE}/migrateall`, { target: 'pve1' }, { target: 'target is local node.' }],
    ['POST', `${NODE}/migrateall`, { target: 'pve9' }, "500 no such cluster node 'pve9'"],
  ])
})

test('all guests of a host move to another', async () => {
  const client = createTestClient()
  const [from = '', to = ''] = client.datacentre.world.hosts.keys()
  const here = () => [...client.datacentre.world.guests.values()].filter(({ node }) => node === from).length
  await client.task('POST', `/nodes/${from}/qemu`, { vmid: '900' })
  await holds(client, [
    [
      'POST',
      `/nodes/${from}/migrateall`,
      { target: to },
      "500 either 'max-workers' parameter or max_workers in datacenter.cfg must be set!",
    ],
    ['POST', `/nodes/${from}/migrateall`, { target: to, vms: '901', maxworkers: '2' }, 'task: OK'],
  ])
  const before = here()
  await holds(client, [['POST', `/nodes/${from}/migrateall`, { target: to, vms: '900', maxworkers: '2' }, 'task: OK']])
  assert.equal(here(), before - 1)
  await holds(client, [['POST', '/cluster/bulk-action/guest/migrate', { target: from, vms: '900' }, 'task: OK']])
  assert.equal(here(), before)
})

test('screens and files of backups: who gets a shell, and where files can be taken from', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await asRoot(client)
  const shell = await root.data<Record<string, unknown>>('POST', '/nodes/pve1/spiceshell', {})
  assert.deepEqual([shell.type, shell.title, shell.proxy], ['spice', "Shell on 'pve1'", 'http://pve1:3128'])
  const vnc = await root.data<Record<string, unknown>>('POST', '/nodes/pve1/vncshell', {})
  assert.deepEqual(Object.keys(vnc).sort(), ['cert', 'port', 'ticket', 'upid', 'user'])
  const files = '/nodes/pve1/storage/local/file-restore/list'
  const query = new URLSearchParams({ volume: 'backup/vzdump-qemu-100-2026_01_01-00_00_00.vma', filepath: '/' })
  const answer = await client.call('GET', `${files}?${query}`)
  assert.deepEqual(JSON.parse(answer.body).errors, { storage: 'Only PBS storages supported for file-restore.' })
  const admin = await loggedIn(client, 'admin@pve', 'secret123')
  const refused = await admin.call('POST', '/nodes/pve1/vncshell', { cmd: 'upgrade' })
  assert.deepEqual([refused.status, refused.reason], [403, 'Permission check failed (user != root@pam)'])
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
  await holds(client, [
    ['GET', `${NODE}/storage?storage=gone`, undefined, { storage: 'No such storage.' }],
    [
      'DELETE',
      `${NODE}/storage/local/prunebackups`,
      undefined,
      "task: no prune-backups options configured for storage 'local'",
    ],
    [
      'POST',
      '/access/openid/auth-url',
      { realm: 'gone', 'redirect-url': 'http://a' },
      "500 authentication domain 'gone' does not exist",
    ],
  ])
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
