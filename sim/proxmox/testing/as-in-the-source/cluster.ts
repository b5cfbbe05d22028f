import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { type AnsweredRow, holds } from '../../../testing/answered-rows.ts'
import { layoutProblem } from '../../handlers/node/zfs.ts'

/** What PVE::API2::Cluster, ::Cluster::*, ::Jobs::RealmSync, ::Domains, ::AccessControl and ::Disks say. */

const site = () => createTestClient({ preset: 'recording' })

test('options of the datacentre: old names, ranges and what is shown of them', async () => {
  const client = site()
  const at = '/cluster/options'
  await holds(client, [
    ['PUT', at, { migration: 'secure,network=10.0.0.0/24', console: 'applet', description: 'x\n\n' }, 'done'],
    ['PUT', at, { 'next-id': 'lower=2000000' }, '500 lower (2000000) <= upper (1000000) boundary rule broken'],
    ['PUT', at, { 'next-id': 'lower=500,upper=500' }, 'done'],
  ])
  const { migration, console: viewer, description } = await client.data<Record<string, unknown>>('GET', at)
  assert.deepEqual([migration, viewer, description], [{ type: 'secure', network: '10.0.0.0/24' }, 'html5', 'x\n'])
  await holds(client, [
    ['PUT', at, { delete: 'migration', description: '' }, 'done'],
    ['PUT', at, { migration_unsecure: '1' }, 'done'],
  ])
  const after = await client.data<Record<string, unknown>>('GET', at)
  assert.deepEqual([after.migration, after.description], [{ type: 'insecure' }, ''])
})

test('jobs, realms, metrics and mappings: what each can be told', async () => {
  const client = site()
  const realm = { realm: 'x1', type: 'ldap', server1: '10.0.0.1', base_dn: 'dc=x', user_attr: 'uid' }
  const metrics = '/cluster/metrics/server/gg'
  const map = 'node=pve1,path=0000:00:01.0,id=1af4:1045'
  const updating = '500 update auth server failed: '
  const rows: readonly AnsweredRow[] = [
    ['POST', '/access/domains', realm, 'done'],
    ['PUT', '/access/domains/x1', {}, `${updating}no options specified`],
    ['PUT', '/access/domains/x1', { domain: 'x' }, `${updating}unexpected property 'domain'`],
    [
      'PUT',
      '/access/domains/x1',
      { delete: 'server1' },
      `${updating}section 'x1' - missing value for required option 'server1'`,
    ],
    [
      'PUT',
      '/access/domains/pam',
      { 'check-connection': '1' },
      `${updating}'check-connection' parameter can only be set for realms of type 'ldap' or 'ad'`,
    ],
    [
      'POST',
      metrics,
      { type: 'graphite', server: '10.0.0.1', port: '2003', bucket: 'x' },
      "500 unexpected property 'bucket'",
    ],
    ['POST', '/cluster/mapping/pci', { id: 'gpu', map }, 'done'],
    [
      'PUT',
      '/cluster/mapping/pci/gpu',
      { description: 'x' },
      "500 update hardware mapping failed: missing value for required option 'map'",
    ],
    [
      'GET',
      '/cluster/mapping/pci?check-node=pve9',
      undefined,
      "500 hostname lookup 'pve9' failed - failed to get address info for: pve9: Temporary failure in name resolution",
    ],
  ]
  await holds(client, rows)
})

test('devices that are not there, and disks that make no pool', async () => {
  const client = site()
  const zfs = { name: 'tank', raidlevel: 'single' }
  await holds(client, [
    ['POST', '/nodes/pve1/disks/zfs', { ...zfs, devices: 'sdz' }, "500 got unusual device path '/sdz'"],
    ['POST', '/nodes/pve1/disks/zfs', { ...zfs, devices: '/no/sdz' }, '500 failed to get absolute path to /no/sdz'],
    ['POST', '/nodes/pve1/disks/zfs', { ...zfs, devices: '/dev/sdz' }, '500 not a valid block device'],
    [
      'POST',
      '/nodes/pve1/disks/zfs',
      { ...zfs, devices: '/dev/sdz', 'draid-config': 'data=1,spares=1' },
      '500 draid-config set without using dRAID level',
    ],
    ['DELETE', '/nodes/pve1/disks/zfs/tank', undefined, "task: command 'zpool destroy tank' failed: exit code 1"],
  ])
  const cases: readonly (readonly [string, number, string, string | undefined])[] = [
    ['single', 2, '', 'please give only one disk for single disk mode'],
    ['raid10', 5, '', 'raid10 needs an even number of disks'],
    ['raidz2', 3, '', 'raidz2 needs at least 4 disks'],
    ['draid', 4, 'data=3,spares=1', 'At least 5 disks needed for current dRAID config'],
    ['draid', 5, 'data=3,spares=1', undefined],
    ['mirror', 3, '', undefined],
  ]
  for (const [level, disks, draid, expected] of cases)
    assert.equal(layoutProblem(level, disks, draid), expected, `${level} of ${disks}`)
})

/** Tickets are asked for by those who have none. */
async function knock(client: TestClient, path: string, params: Readonly<Record<string, string>>) {
  const answer = await client.clock.runUntil(
    client.datacentre.handle({
      method: 'POST',
      path: `/api2/json/access/${path}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(params).toString(),
    }),
  )
  return [answer.status, Object.keys(JSON.parse(answer.body || '{}').data ?? {}).sort()]
}

test('who asks whether somebody may do something gets no ticket', async () => {
  const client = site()
  const root = { username: 'root@pam', password: 'rootpw123' }
  assert.deepEqual(await knock(client, 'ticket', { ...root, path: '/vms', privs: 'VM.Audit' }), [
    200,
    ['cap', 'username'],
  ])
  assert.deepEqual(await knock(client, 'ticket', { ...root, path: 'vms', privs: 'VM.Audit' }), [401, []])
  const none = { username: 'none@pve', password: 'secret123' }
  await holds(client, [['POST', '/access/users', { userid: 'none@pve', password: 'secret123' }, 'done']])
  assert.deepEqual(await knock(client, 'ticket', { ...none, path: '/vms', privs: 'VM.Audit' }), [401, []])
})

test('pools: members of one kind, in order, and a storage once for all its hosts', async () => {
  const client = createTestClient()
  await holds(client, [
    ['POST', '/pools', { poolid: 'team', comment: '' }, 'done'],
    ['PUT', '/pools/team', { vms: '109,108', storage: 'local-zfs' }, 'done'],
  ])
  const members = async (query: string) => {
    const [pool] = await client.data<{ comment?: string; members: { id: string }[] }[]>(
      'GET',
      `/pools?poolid=team${query}`,
    )
    assert.equal(pool?.comment, undefined)
    return pool?.members.map(({ id }) => id.replace(/^storage\/[^/]+/, 'storage'))
  }
  assert.deepEqual(await members(''), ['qemu/108', 'qemu/109', 'storage/local-zfs'])
  assert.deepEqual(await members('&type=qemu'), ['qemu/108', 'qemu/109'])
  assert.deepEqual(await members('&type=lxc'), [])
  assert.deepEqual(await members('&type=storage'), ['storage/local-zfs'])
})

test('changes: what is looked at first, and what a change displaces', async () => {
  const client = createTestClient({ preset: 'recording' })
  const stale = '0'.repeat(40)
  const old = 'detected modified configuration - file changed by other user? Try again.'
  const jobs = '/cluster/backup'
  await holds(client, [
    ['POST', '/nodes/pve1/qemu', { vmid: '100' }, 'task: OK'],
    ['PUT', '/cluster/replication/100-0', { digest: stale }, `500 ${old}`],
    ['POST', jobs, { id: 'j1', vmid: '100', schedule: 'daily' }, 'done'],
    ['PUT', `${jobs}/j1`, { exclude: '101' }, 'done'],
    [
      'POST',
      '/cluster/metrics/server/g1',
      { type: 'graphite', server: '10.0.0.1', port: '2003', path: 'a..b', disable: '1' },
      { path: 'invalid format - value does not look like a valid graphite path\n' },
    ],
    ['POST', '/cluster/firewall/aliases', { name: 'AL', cidr: '10.0.0.1' }, 'done'],
    ['POST', '/cluster/firewall/aliases', { name: 'other', cidr: '10.0.0.2' }, 'done'],
    [
      'PUT',
      '/cluster/firewall/aliases/other',
      { cidr: '10.0.0.2', rename: 'al' },
      { name: "alias 'al' already exists" },
    ],
    ['POST', '/cluster/firewall/rules', { type: 'in', action: 'DROP', source: 'dc/Al' }, 'done'],
  ])
  const job = await client.data<Record<string, unknown>>('GET', `${jobs}/j1`)
  assert.deepEqual([job.all, job.exclude, job.vmid], [1, '101', undefined])
  const refs = await client.data<{ name: string }[]>('GET', '/cluster/firewall/refs?type=alias')
  assert.deepEqual(refs.map(({ name }) => name).sort(), ['al', 'other'])
})

test('rights that end at their path are shown as such', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    ['POST', '/access/users', { userid: 'a@pve' }, 'done'],
    ['PUT', '/access/acl', { path: '/vms/100', users: 'a@pve', roles: 'PVEAuditor', propagate: '0' }, 'done'],
    ['PUT', '/access/acl', { path: '/vms/101', users: 'a@pve', roles: 'PVEAuditor' }, 'done'],
  ])
  const shown = await client.data<Record<string, Record<string, number>>>('GET', '/access/permissions?userid=a@pve')
  assert.deepEqual([shown['/vms/100']?.['VM.Audit'], shown['/vms/101']?.['VM.Audit']], [0, 1])
})
