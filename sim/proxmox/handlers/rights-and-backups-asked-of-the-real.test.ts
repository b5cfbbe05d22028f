import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../test-client.ts'
import { type AnsweredRow, holds, type Params } from '../../testing/answered-rows.ts'
import { loggedIn } from '../../testing/logged-in.ts'

/** Rows that the real daemon was asked in the same order, with the same state before. */

const NODE = '/nodes/pve1'

async function withAlice(client: TestClient): Promise<TestClient> {
  await holds(client, [['POST', '/access/users', { userid: 'alice@pve', password: 'secret12', comment: 'A' }, 'done']])
  return loggedIn(client, 'alice@pve', 'secret12')
}

test('users: an address is empty where something stands behind it; of several rights the last group names its own', async () => {
  const client = createTestClient({ preset: 'recording' })
  const alice = await withAlice(client)
  const row = await client.data<Record<string, unknown>>('GET', '/access/users/alice@pve')
  assert.equal(row.email, '')
  assert.equal((await client.data<Record<string, unknown>>('GET', '/access/users/admin@pve')).email, undefined)
  const admin = await loggedIn(client, 'admin@pve', 'secret123')
  const change = { password: 'secret14', 'confirmation-password': 'secret123' }
  await holds(admin, [['PUT', '/access/password', { userid: 'nope@pve', ...change }, "500 no such user ('nope@pve')"]])
  await holds(alice, [
    [
      'PUT',
      '/access/password',
      { userid: 'admin@pve', ...change },
      '403 Permission check failed (/access/realm/pve, Realm.AllocateUser)',
    ],
  ])
  await holds(client, [
    ['PUT', '/access/domains/nope', {}, '500 update auth server failed: no options specified'],
    ['GET', '/access/ticket?bogus=1', undefined, 'done'],
  ])
})

test('rights and tasks: who sees them in the list of the datacentre and among the rules', async () => {
  const client = createTestClient({ preset: 'recording' })
  const alice = await withAlice(client)
  await holds(client, [
    ['POST', `${NODE}/qemu`, { vmid: '100', memory: '64' }, 'task: OK'],
    ['PUT', '/access/acl', { path: '/storage/local', users: 'alice@pve', roles: 'PVEDatastoreUser' }, 'done'],
    ['PUT', '/access/acl', { path: `${NODE}`, users: 'alice@pve', roles: 'PVEAuditor' }, 'done'],
  ])
  await holds(alice, [
    [
      'POST',
      `${NODE}/vzdump`,
      { vmid: '100', storage: 'local' },
      'task: 403 Permission check failed (/vms/100, VM.Backup)',
    ],
    ['POST', `${NODE}/vzdump`, { all: '1', storage: 'local' }, 'task: OK'],
  ])
  const types = (rows: readonly { type: string }[]) => rows.map(({ type }) => type)
  assert.deepEqual(types(await alice.data('GET', '/cluster/tasks')), ['vzdump', 'vzdump'], 'its own and no others')
  assert.deepEqual(await alice.data('GET', '/access/acl'), [])
  const kept = await client.data<unknown[]>('GET', `${NODE}/storage/local/content?content=backup`)
  assert.equal(kept.length, 0, 'nothing that one may not back up')
})

test('backups: notes where they are asked for, old ones go, and a limit holds for who removes nothing', async () => {
  const client = createTestClient({ preset: 'recording' })
  const dir = (storage: string, more: Params): AnsweredRow => [
    'POST',
    '/storage',
    { storage, type: 'dir', path: `/var/lib/${storage}`, content: 'backup', ...more },
    'done',
  ]
  const dump = (params: Params, expected: string): AnsweredRow => [
    'POST',
    `${NODE}/vzdump`,
    { vmid: '100', ...params },
    `task: ${expected}`,
  ]
  await holds(client, [
    ['POST', `${NODE}/qemu`, { vmid: '100', name: 'ct', scsi0: 'local:1' }, 'task: OK'],
    dir('st1', { 'prune-backups': 'keep-last=2' }),
    dir('st2', { 'max-protected-backups': '1' }),
    dump({ storage: 'st1' }, 'OK'),
  ])
  const notes = async (storage: string) =>
    (await client.data<{ notes?: string }[]>('GET', `${NODE}/storage/${storage}/content?content=backup`)).map(
      (row) => row.notes,
    )
  assert.deepEqual(await notes('st1'), [undefined])
  await client.pass(1_000)
  await holds(client, [dump({ storage: 'st1', 'notes-template': '{{guestname}}-{{vmid}}-{{node}}-{{cluster}}' }, 'OK')])
  await client.pass(1_000)
  await holds(client, [dump({ storage: 'st1', 'notes-template': 'x' }, 'OK')])
  assert.deepEqual(new Set(await notes('st1')), new Set(['ct-100-pve1-standalone node', 'x']))
  await holds(client, [
    dump({ storage: 'st1', remove: '0' }, 'job errors'),
    dump({ storage: 'st2', protected: '1' }, 'OK'),
    dump({ storage: 'st2', protected: '1' }, 'job errors'),
    [
      'POST',
      '/storage',
      { storage: 'st3', type: 'dir', path: '/var/lib/st3', content: 'images', mkdir: '0' },
      "500 create storage failed: unable to activate storage 'st3' - directory '/var/lib/st3' does not exist or is unreachable",
    ],
    ['PUT', '/storage/st1', { shared: '0' }, 'done'],
    ['PUT', '/storage/st1', { delete: 'shared' }, 'done'],
  ])
  assert.equal((await client.data<Record<string, unknown>>('GET', '/storage/st1')).shared, undefined)
})

test('firewalls: of networks that are there, and rules where nothing was ever written', async () => {
  const client = createTestClient({ preset: 'recording' })
  const guest = `${NODE}/qemu/100/firewall/rules`
  const nothing = (line: number) =>
    `500 Can't use an undefined value as an ARRAY reference at /usr/share/perl5/PVE/API2/Firewall/Rules.pm line ${line}.`
  const noVnet = '500 invalid vnet specified at /usr/share/perl5/PVE/API2/Firewall/Helpers.pm line 54.'
  await holds(client, [
    ['POST', `${NODE}/qemu`, { vmid: '100' }, 'task: OK'],
    ['PUT', `${guest}/0`, { enable: '1' }, nothing(373)],
    ['DELETE', `${guest}/0`, undefined, nothing(462)],
    ['GET', `${guest}/0`, undefined, '500 no rule at position 0'],
    ['POST', guest, { type: 'in', action: 'ACCEPT' }, 'done'],
    ['PUT', `${guest}/7`, { enable: '1' }, '500 no rule at position 7'],
    ['PUT', `${guest}/0`, { delete: 'enable' }, 'done'],
    ['GET', '/cluster/sdn/vnets/v1/firewall/rules', undefined, noVnet],
    ['PUT', '/cluster/sdn/vnets/v1/firewall/options', { enable: '1' }, noVnet],
    ['GET', '/cluster/firewall/options?bogus=1', undefined, 'done'],
  ])
  assert.equal((await client.data<Record<string, unknown>>('GET', `${guest}/0`)).enable, 1)
})

test('firewalls of networks: only what passes through, and only once the network is in effect', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/cluster/sdn/vnets/v1/firewall'
  const pass = { type: 'forward', action: 'ACCEPT' }
  await holds(client, [
    ['POST', '/cluster/sdn/zones', { zone: 'z1', type: 'simple' }, 'done'],
    ['POST', '/cluster/sdn/vnets', { vnet: 'v1', zone: 'z1' }, 'done'],
    [
      'POST',
      `${at}/rules`,
      pass,
      '500 invalid vnet specified at /usr/share/perl5/PVE/API2/Firewall/Helpers.pm line 54.',
    ],
    ['PUT', '/cluster/sdn', {}, 'task: OK'],
    ['POST', `${at}/rules`, pass, 'done'],
    ['POST', `${at}/rules`, { ...pass, type: 'in' }, { type: "invalid rule type 'in' for rule_env 'vnet'" }],
    ['PUT', `${at}/options`, { enable: '1' }, 'done'],
    ['POST', '/cluster/firewall/aliases', { name: 'lan', cidr: '10.0.0.0/24' }, 'done'],
    ['POST', '/cluster/firewall/aliases', { name: 'LAN', cidr: '10.0.0.0/24' }, { name: "alias 'LAN' already exists" }],
    [
      'POST',
      '/cluster/firewall/rules',
      { ...pass, source: '10.0.0.9-10.0.0.1' },
      {
        source: 'invalid format - invalid IP address: Begin address is greater than End address 10.0.0.9 - 10.0.0.1\n',
      },
    ],
  ])
  const options = await client.data<Record<string, unknown>>('GET', `${at}/options`)
  assert.deepEqual(Object.keys(options).toSorted(), ['digest', 'enable'])
})

test('high availability: ignored guests, comments, rules that a purged guest leaves; tags that are registered', async () => {
  const client = createTestClient({ preset: 'recording' })
  const rule = { rule: 'r1', type: 'resource-affinity', affinity: 'positive', resources: 'vm:100,vm:101' }
  await holds(client, [
    ...['100', '101', '102'].map((vmid): AnsweredRow => ['POST', `${NODE}/qemu`, { vmid }, 'task: OK']),
    ['POST', '/cluster/ha/resources', { sid: 'vm:100', comment: 'c' }, 'done'],
    ['POST', '/cluster/ha/resources', { sid: 'vm:101' }, 'done'],
    ['POST', '/cluster/ha/resources', { sid: 'vm:102', state: 'ignored' }, 'done'],
    ['POST', '/cluster/ha/rules', rule, 'done'],
    ['DELETE', `${NODE}/qemu/101`, { purge: '1' }, 'task: OK'],
    [
      'PUT',
      '/cluster/options',
      { 'user-tag-access': 'user-allow=list,user-allow-list=a;b;x', 'registered-tags': 'a;b' },
      'done',
    ],
  ])
  type Row = Record<string, unknown>
  const status = await client.data<Row[]>('GET', '/cluster/ha/status/current')
  assert.deepEqual(
    status.slice(2).map(({ sid, state, comment }) => [sid, state, comment]),
    [
      ['vm:100', 'queued', 'c'],
      ['vm:102', 'ignored', undefined],
    ],
  )
  const [left] = await client.data<Row[]>('GET', '/cluster/ha/rules')
  assert.equal(left?.resources, 'vm:100')
  const alice = await withAlice(client)
  assert.deepEqual((await alice.data<Row>('GET', '/cluster/options'))['allowed-tags'], ['x'])
  await holds(alice, [
    [
      'POST',
      '/cluster/replication',
      { id: '100-0', type: 'local', target: 'pve2' },
      '403 Permission check failed (/vms/100, VM.Replicate)',
    ],
  ])
  assert.deepEqual(await client.data('GET', '/cluster/resources?type=sdn'), [])
})

test('a node that is to be looked at and is not there', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    [
      'GET',
      '/cluster/mapping/pci?check-node=!!',
      undefined,
      "500 hostname lookup '!!' failed - failed to get address info for: !!: Temporary failure in name resolution",
    ],
  ])
})

test('interfaces of sorts without a rank of their own stand before the cards', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [['POST', `${NODE}/network`, { iface: 'al0', type: 'alias', cidr: '10.6.0.1/24' }, 'done']])
  const rows = await client.data<{ iface: string; priority: number }[]>('GET', `${NODE}/network`)
  const first = rows.toSorted((a, b) => a.priority - b.priority)[0]
  assert.equal(first?.iface, 'al0')
})

test('a guest under high availability that says no state of its own shows none', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    ['POST', `${NODE}/qemu`, { vmid: '100' }, 'task: OK'],
    ['POST', '/cluster/ha/resources', { sid: 'vm:100' }, 'done'],
  ])
  const [row] = await client.data<Record<string, unknown>[]>('GET', '/cluster/resources?type=vm')
  assert.equal(row?.hastate, null)
})
