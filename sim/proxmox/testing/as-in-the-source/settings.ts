import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { type AnsweredRow, holds as answeredBy, type Params } from '../../../testing/answered-rows.ts'

/** What PVE::API2::Firewall::*, ::Pool, ::ReplicationConfig and ::Subscription say. */

/** `ok`, the errors of a 400, or the status and the text. */
async function asked(client: TestClient, method: string, path: string, params?: Params): Promise<unknown> {
  const query = method === 'DELETE' && params ? `?${new URLSearchParams(params)}` : ''
  const answer = await client.call(method, path + query, method === 'DELETE' ? undefined : params)
  if (answer.status === 200) return 'ok'
  return answer.status === 400 ? JSON.parse(answer.body).errors : `${answer.status} ${answer.reason}`
}

const holds = (client: TestClient, rows: readonly AnsweredRow[]) => answeredBy(client, rows, asked)

test('firewall: what can be deleted, renamed and moved', async () => {
  const client = createTestClient({ preset: 'recording' })
  const fw = '/cluster/firewall'
  const rule = { type: 'in', action: 'ACCEPT', comment: 'x' }
  await holds(client, [
    ['PUT', `${fw}/options`, { delete: 'bogus' }, { delete: "no such option 'bogus'" }],
    ['PUT', `${fw}/options`, { delete: 'digest' }, { delete: "no such option 'digest'" }],
    ['PUT', `${fw}/options`, { policy_in: 'DROP', delete: 'policy_in' }, 'ok'],
    ['POST', `${fw}/rules`, rule, 'ok'],
    ['PUT', `${fw}/rules/0`, { delete: 'bogus' }, { delete: "no such property ('bogus')" }],
    ['PUT', `${fw}/rules/0`, { delete: 'action' }, { delete: "unable to delete required property 'action'" }],
    ['PUT', `${fw}/rules/0`, { delete: 'comment', moveto: '0' }, 'ok'],
    ['POST', `${fw}/ipset`, { name: 'lan' }, 'ok'],
    ['POST', `${fw}/ipset`, { name: 'wan' }, 'ok'],
    ['POST', `${fw}/ipset`, { name: 'new', rename: 'nope' }, { name: "IPSet 'nope' does not exist" }],
    ['POST', `${fw}/ipset`, { name: 'wan', rename: 'lan' }, { name: "IPSet 'wan' does already exist" }],
    ['DELETE', `${fw}/ipset/lan/10.0.0.1`, undefined, 'ok'],
    ['POST', `${fw}/groups`, { group: 'web' }, 'ok'],
    ['POST', `${fw}/groups/web`, { type: 'in', action: 'ACCEPT' }, 'ok'],
    ['POST', `${fw}/rules`, { type: 'group', action: 'web' }, 'ok'],
    ['POST', `${fw}/groups`, { group: 'www', rename: 'nope' }, { group: "Security group 'nope' does not exist" }],
    ['POST', `${fw}/groups`, { group: 'www', rename: 'web' }, 'ok'],
  ])
  assert.equal((await client.data<{ policy_in: string }>('GET', `${fw}/options`)).policy_in, 'DROP')
  const rules = await client.data<{ type: string; action: string; comment?: string }[]>('GET', `${fw}/rules`)
  assert.deepEqual(
    rules.map(({ type, action, comment }) => [type, action, comment]),
    [
      ['group', 'www', undefined],
      ['in', 'ACCEPT', undefined],
    ],
  )
  assert.equal((await client.data<unknown[]>('GET', `${fw}/groups/www`)).length, 1, 'its rules came along')
})

test('firewall: a rule has what its protocol and its macro allow', async () => {
  const client = createTestClient({ preset: 'recording' })
  const rules = '/cluster/firewall/rules'
  const rule = { type: 'in', action: 'ACCEPT' }
  const icmp = { ...rule, proto: 'icmp', 'icmp-type': 'echo-request' }
  const needs = (name: string) => ({ proto: `missing property - '${name}' requires this property` })
  await holds(client, [
    ['POST', rules, { type: 'forward', action: 'REJECT' }, { action: 'cannot define REJECT rules on forward chain' }],
    ['POST', rules, { ...rule, dport: '22' }, needs('dport')],
    ['POST', rules, { ...rule, macro: 'SSH', dport: '22' }, needs('dport')],
    ['POST', rules, { ...rule, proto: 'gre', dport: '22' }, { dport: "protocol 'gre' does not support ports" }],
    ['POST', rules, { ...rule, proto: 'tcp', 'icmp-type': 'echo-request' }, needs('icmp-type')],
    [
      'POST',
      rules,
      { ...icmp, dport: 'echo-request' },
      { 'icmp-type': "'icmp-type' cannot be specified together with 'dport'" },
    ],
    [
      'POST',
      rules,
      { ...icmp, 'icmp-type': 'no-route' },
      { 'icmp-type': "invalid icmp-type 'no-route' for proto 'icmp'" },
    ],
    ['POST', rules, { ...icmp, source: 'fe80::1' }, { source: 'detected mixed ipv4/ipv6 addresses in rule' }],
    [
      'POST',
      rules,
      { ...rule, macro: 'SSH', proto: 'udp' },
      { proto: "parameter 'proto' already define in macro (value = 'tcp')" },
    ],
    [
      'POST',
      rules,
      { ...rule, macro: 'SSH', proto: 'tcp', dport: '2222' },
      { dport: "parameter 'dport' already define in macro (value = '22')" },
    ],
    ['POST', rules, { ...rule, macro: 'SSH', proto: 'tcp', sport: '1024:65535' }, 'ok'],
    ['POST', rules, { ...rule, macro: 'Ping', source: 'fe80::1', proto: 'icmpv6' }, 'ok'],
    ['POST', rules, icmp, 'ok'],
  ])
})

test('pools: what is refused half-way has changed nothing', async () => {
  const client = createTestClient({ preset: 'recording' })
  await client.task('POST', '/nodes/pve1/qemu', { vmid: '100' })
  await holds(client, [
    ['POST', '/pools', { poolid: 'team' }, 'ok'],
    [
      'PUT',
      '/pools/team',
      { vms: '100,100', comment: 'x' },
      '500 update pools failed: VM 100 is already a pool member',
    ],
  ])
  const pool = await client.data<{ members: unknown[]; comment?: string }>('GET', '/pools/team')
  assert.deepEqual([pool.members, pool.comment], [[], undefined])
  await holds(client, [
    ['PUT', '/pools/team', { vms: '999' }, 'ok'],
    ['POST', '/access/users', { userid: 'other@pve' }, 'ok'],
    ['PUT', '/access/acl', { path: '/pool/team', users: 'other@pve', roles: 'PVEPoolAdmin' }, 'ok'],
  ])
  const acl = () => client.data<{ path: string }[]>('GET', '/access/acl')
  assert.ok((await acl()).some(({ path }) => path === '/pool/team'))
  await holds(client, [['DELETE', '/pools/team', undefined, 'ok']])
  assert.ok(!(await acl()).some(({ path }) => path === '/pool/team'), 'the rights on it go, too')
})

test('replication: jobs, and guests that have one', async () => {
  const client = createTestClient()
  const [a = '', b = ''] = client.datacentre.world.hosts.keys()
  await client.task('POST', `/nodes/${a}/qemu`, { vmid: '700', scsi0: 'local-zfs:1' })
  await client.task('POST', `/nodes/${a}/qemu`, { vmid: '701' })
  const at = '/cluster/replication'
  await holds(client, [
    ['POST', at, { id: '999-0', type: 'local', target: b }, "500 Guest '999' does not exist."],
    ['POST', at, { id: '700-0', type: 'local', target: 'nope' }, "500 Target 'nope' does not exist."],
    ['POST', at, { id: '700-0', type: 'local', target: a }, '500 Source and target must not be identical'],
    ['POST', at, { id: '701-0', type: 'local', target: b }, '500 No replicatable volumes found'],
    ['POST', at, { id: '700-0', type: 'local', target: b }, 'ok'],
    [
      'POST',
      at,
      { id: '700-1', type: 'local', target: b },
      `500 replication job for guest '700' to target 'local/${b}' already exists`,
    ],
    ['PUT', `${at}/700-7`, { comment: 'x' }, "500 no such job '700-7'"],
    ['GET', `${at}/700-7`, undefined, "500 no such replication job '700-7'"],
    [
      'DELETE',
      `/nodes/${a}/qemu/700`,
      undefined,
      "500 There is a replication job '700-0' for guest '700' - Please remove that first.",
    ],
    ['DELETE', `${at}/700-0`, { force: '1', keep: '1' }, { keep: "conflicts with parameter 'force'" }],
    ['DELETE', `${at}/700-7`, undefined, "500 no such job '700-7'"],
    ['DELETE', `${at}/700-7`, { force: '1' }, 'ok'],
    ['DELETE', `/nodes/${a}/qemu/700`, { purge: '1' }, 'ok'],
  ])
  await client.pass(60_000)
  assert.deepEqual(await client.data('GET', at), [], 'purged with its guest')
})
