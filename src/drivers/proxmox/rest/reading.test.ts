import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removed } from '../../../model/destruction.ts'
import { DEFINITIONS, definitionNamed } from '../../../proxmox/registry.ts'
import { ObservationFailed } from '../../port.ts'
import type { Api } from '../api.ts'
import { diffSetting } from './diff.ts'
import { parseHosts, printHosts } from './hosts-file.ts'
import { findList, listName } from './paths.ts'
import { readSettings } from './read-settings.ts'
import { pendingInterfaces } from './rows.ts'
import { settingRules } from './setting-rules.ts'
import { exampleOf } from './testing/samples.ts'

test('definitions that share a list read it in the same way, and every list is found again by its name', () => {
  const ways = new Map<string, string>()
  for (const definition of DEFINITIONS) {
    const way = JSON.stringify(definition.list)
    assert.equal(ways.get(definition.list.path) ?? way, way, definition.name)
    ways.set(definition.list.path, way)
    const found = findList(listName(definition, exampleOf(definition)))
    assert.ok(found?.definitions.includes(definition), definition.name)
  }
  assert.equal(new Set(DEFINITIONS.map(({ name }) => name)).size, DEFINITIONS.length)
  assert.equal(new Set(DEFINITIONS.map(({ kind }) => kind)).size, DEFINITIONS.length)
})

test('the firewall of the cluster, of a host and of a guest are different lists', () => {
  const rules = definitionNamed('firewall-rules')
  const lists = [
    {},
    { host: 'a' },
    { host: 'a', scope: { vmid: '100' } },
    { host: 'a', scope: { container: '100' } },
  ].map((place) => listName(rules, { definition: rules.name, id: 'rules', fields: {}, ...place }))
  assert.deepEqual(lists, [
    'settings/cluster/firewall/rules',
    'settings/nodes/a/firewall/rules',
    'settings/nodes/a/qemu/100/firewall/rules',
    'settings/nodes/a/lxc/100/firewall/rules',
  ])
  assert.deepEqual(
    lists.map((list) => findList(list)?.places),
    [{}, { host: 'a' }, { host: 'a', vmid: '100' }, { host: 'a', container: '100' }],
  )
  assert.deepEqual(
    findList('settings/cluster/firewall/options')?.definitions.map(({ name }) => name),
    ['cluster-firewall'],
  )
})

/** An API with these answers by path. */
function apiWith(answers: Readonly<Record<string, unknown>>): Api {
  const readAnswer = (path: string) => {
    const answer = answers[path]
    if (answer instanceof Error) return Promise.reject(answer)
    return Promise.resolve(answer as { data: unknown })
  }
  return {
    readAnswer,
    read: async (path: string) => (await readAnswer(path)).data,
    write: () => Promise.reject(new Error('nothing is written here')),
  } as unknown as Api
}

const signal = new AbortController().signal
const refused = (message: string) => new ObservationFailed({ reason: 'ApiError', meaning: 'backoff', message })

test('[S-02] a secret that an answer shows is not kept, and neither is what no definition knows', async () => {
  const api = apiWith({
    '/access/domains': { data: [{ realm: 'sso', type: 'openid' }] },
    '/access/domains/sso': { data: { type: 'openid', 'client-id': 'pve', 'client-key': 'hidden', evil: '\u001b[31m' } },
  })
  const [seen] = await readSettings(api, 'default', 'settings/access/domains', 0, signal)
  assert.deepEqual({ ...seen?.close?.config }, { realm: 'sso', type: 'openid', 'client-id': 'pve' })
})

test('a thing that cannot be read by itself is shown without a close look, and does not hide the others', async () => {
  const api = apiWith({
    '/access/domains': {
      data: [
        { realm: 'one', type: 'pve' },
        { realm: 'two', type: 'pve' },
      ],
    },
    '/access/domains/one': refused('permission denied'),
    '/access/domains/two': { data: { type: 'pve', comment: 'c' } },
  })
  const seen = await readSettings(api, 'default', 'settings/access/domains', 0, signal)
  assert.deepEqual(
    seen.map(({ externalId, close }) => [externalId, close !== undefined]),
    [
      ['one', false],
      ['two', true],
    ],
  )
})

test('what is wrong with the whole connection, or with croft itself, is no trouble of one thing', async () => {
  const about = (error: Error) =>
    readSettings(
      apiWith({ '/access/domains': { data: [{ realm: 'one', type: 'pve' }] }, '/access/domains/one': error }),
      'default',
      'settings/access/domains',
      0,
      signal,
    )
  const refusal = {
    reason: 'Unauthorized',
    meaning: 'stalled',
    message: 'the token is gone',
    connectionWide: true,
  } as const
  await assert.rejects(about(new ObservationFailed(refusal)), /the token is gone/)
  await assert.rejects(about(new TypeError('a mistake of ours')), /a mistake of ours/)
})

test('HA groups on Proxmox VE 9 are an empty list; anything else that goes wrong is told', async () => {
  const list = 'settings/cluster/ha/groups'
  const gone = apiWith({ '/cluster/ha/groups': refused('cannot index groups: ha groups have been migrated to rules') })
  assert.deepEqual(await readSettings(gone, 'default', list, 0, signal), [])
  await assert.rejects(readSettings(apiWith({ '/cluster/ha/groups': refused('no') }), 'default', list, 0, signal))
  await assert.rejects(readSettings(gone, 'default', 'settings/nothing', 0, signal), /there is no list/)
})

const DIFFERENCE = `--- /etc/network/interfaces	2026-01-01 00:00:00
+++ /etc/network/interfaces.new	2026-01-01 00:00:01
@@ -10,6 +10,12 @@
 auto vmbr0
 iface vmbr0 inet static
 	address 192.168.100.11/24
-	mtu 1500
+	mtu 9000
 
+auto vmbr1
+iface vmbr1 inet static
+	address 10.9.0.1/24
+
-iface vmbr2 inet manual
-	bridge-ports none
`

test('what waits to be put in force is read from the difference: changed, new and removed interfaces', () => {
  assert.equal(pendingInterfaces(undefined), undefined)
  const pending = pendingInterfaces(DIFFERENCE)
  assert.deepEqual(pending, {
    names: ['vmbr0', 'vmbr1', 'vmbr2'],
    removed: ['vmbr2'],
    unclear: false,
    shown: 'vmbr0, vmbr1, vmbr2',
  })
  const far = DIFFERENCE.replace(/^ (auto|iface) vmbr0.*\n/gm, '')
  assert.equal(pendingInterfaces(far)?.unclear, true, 'a changed line whose interface is out of sight')
})

test('pending changes of others are not put in force for an interface that they do not concern', async () => {
  const answer = (changes: string) => ({
    '/nodes/a/network': {
      data: [{ iface: 'vmbr0', type: 'bridge', cidr: '192.168.100.11/24', method: 'static' }],
      changes,
    },
  })
  const setting = { definition: 'bridge', id: 'vmbr0', host: 'a', fields: { address: '192.168.100.11/24' } }
  const diff = async (changes: string) => {
    const [seen] = await readSettings(apiWith(answer(changes)), 'default', 'settings/nodes/a/network', 0, signal)
    assert.ok(seen)
    return settingRules.diff(setting, seen).map(({ path }) => path)
  }
  assert.deepEqual(await diff(DIFFERENCE), ['applied'])
  assert.deepEqual(await diff('--- a\n+++ b\n@@ -1 +1,2 @@\n auto vmbr9\n+iface vmbr9 inet manual\n'), [])
})

test('values to come are read before those in force, and what is leaving is not there', () => {
  const zone = definitionNamed('sdn-zone')
  const setting = { definition: zone.name, id: 'lab', fields: { mtu: 1400, bridge: 'vmbr0' } }
  const read = async (row: object) =>
    (
      await readSettings(
        apiWith({ '/cluster/sdn/zones?pending=1': { data: [row] } }),
        'default',
        'settings/cluster/sdn/zones',
        0,
        signal,
      )
    )[0]
  return (async () => {
    const base = { zone: 'lab', type: 'vlan', bridge: 'vmbr0', mtu: 1500 }
    const changed = await read({ ...base, state: 'changed', pending: { mtu: 1400 } })
    assert.ok(changed)
    assert.deepEqual(
      diffSetting(zone, setting, changed).map(({ path }) => path),
      ['applied'],
    )
    const leaving = await read({ ...base, state: 'deleted' })
    assert.ok(leaving)
    assert.deepEqual(
      diffSetting(zone, setting, leaving).map(({ path }) => path),
      ['exists'],
    )
    assert.deepEqual(
      settingRules.deleteSteps(removed(leaving, [])).map(({ call }) => call?.path),
      ['/cluster/sdn'],
    )
    assert.equal(settingRules.readiness(setting, leaving).ready, false)
  })()
})

test('a hosts file keeps what people wrote about it', () => {
  const text = '# by hand\n127.0.0.1 localhost # inline\n\n10.0.0.1\ta.example a\n'
  assert.deepEqual(parseHosts(text), [
    { address: '127.0.0.1', hostnames: ['localhost'] },
    { address: '10.0.0.1', hostnames: ['a.example', 'a'] },
  ])
  assert.equal(printHosts([{ address: '10.0.0.2', hostnames: ['b'] }], text), '# by hand\n10.0.0.2 b\n')
})

test('what only root may make says what to run, and is content when it is there', () => {
  const account = definitionNamed('acme-account')
  const setting = exampleOf(account)
  const survey = { connection: 'x', atMs: 0, hosts: [], storages: [], resources: [], tasks: [] }
  assert.match(settingRules.obstacles(setting, survey)[0]?.allow ?? '', /pvenode acme account register default/)
  const seen = {
    connection: 'x',
    type: 'setting',
    externalId: 'default',
    host: 'cluster',
    close: { config: {}, atMs: 0 },
  } as const
  assert.deepEqual(settingRules.diff(setting, seen), [])
})

test('a replication job that is marked for removal counts as gone: it goes by itself', async () => {
  const rows = [
    { id: '100-0', guest: 100, jobnum: 0, type: 'local', target: 'b', remove_job: 'full' },
    { id: '100-1', guest: 100, jobnum: 1, type: 'local', target: 'c' },
  ]
  const api = { readAnswer: () => Promise.resolve({ data: rows }) } as unknown as Api
  const seen = await readSettings(api, 'home', 'settings/cluster/replication', 0, new AbortController().signal)
  assert.deepEqual(
    seen.map(({ externalId }) => externalId),
    ['100-1'],
  )
})
