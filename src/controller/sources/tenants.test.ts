import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf } from '../../../test/simulation/manifests.ts'
import { boxCluster } from '../../kinds/cluster/testing/box-cluster.ts'
import { findKind } from '../../kinds/registry.ts'
import type { Estate } from '../../model/estate.ts'
import type { Grant } from '../../model/grant.ts'
import { incompleteSource } from '../../plan/guards/incomplete-source.ts'
import { link } from '../../plan/link.ts'
import type { RepositoryFollower } from '../../source/git/repository.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { withUnread } from '../controller.ts'
import { inMemory, startHarness } from '../testing/harness.ts'
import { mergeRevisions } from './merge.ts'

const all = ['*']
const grant: Grant = {
  source: 'lab',
  kinds: ['EnvironmentVM', 'Machine', 'Cluster', 'Addon'],
  names: ['lab-*'],
  connections: all,
  hosts: all,
  pools: [],
  storages: all,
  networks: all,
  templates: all,
  secrets: [],
  egress: [],
  quota: {},
  hostAccess: false,
}

const ADMIN = filesOf([
  { name: 'db', host: 'fun-bedbug', vmid: 200 },
  { name: 'app', host: 'fun-bedbug' },
])

function estateOf(texts: Readonly<Record<string, string>>, admin = ADMIN): Estate {
  const revision = mergeRevisions([
    { source: 'lab', revision: readTexts(texts), grant },
    { source: 'admin', revision: readTexts(admin) },
  ])
  return link(revision, { findKind, problemAt: revision.problemAt })
}

/** Returns what happens when this resource is deleted. */
function deletionOf(key: string, estate: Estate): string {
  const action = { do: 'delete', externalId: '1', host: 'a', steps: [], reason: 'no longer declared' } as const
  const entry = { key, uid: 'u', connection: 'default', type: 'vm', action, host: 'a' } as const
  const context = {
    estate,
    members: new Map(),
    suspicions: new Map(),
    deleting: [],
    nowMs: 0,
    machines: new Map(),
    sourceOf: () => '',
  }
  const policy = { deletion: 'Delete', protect: false } as never
  return incompleteSource.judge(action, { entry, policy }, context).do
}

const BROKEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a file that is not YAML': { 'a.yaml': 'kind: Cluster\nmetadata: [' },
  'a cluster that is written wrongly': {
    'a.yaml': 'apiVersion: croft.dev/v1alpha1\nkind: Cluster\nmetadata: {name: lab-c}\nspec: {version: 9}\n',
  },
  'a cluster that cannot be linked': {
    'a.yaml':
      'apiVersion: croft.dev/v1alpha1\nkind: Cluster\nmetadata: {name: lab-c}\nspec: {version: v1.34.3+k3s1, servers: [{machine: Host/none, addresses: [10.0.0.1]}], endpoint: {vip: 10.0.0.9}}\n',
  },
}

for (const [what, files] of Object.entries(BROKEN))
  test(`[S-37] ${what} of a source with a grant holds its own deletions, and nobody else's`, () => {
    const estate = estateOf(files)
    assert.ok(estate.problems.some(({ severity }) => severity === 'error'))
    assert.equal(estate.incomplete, false)
    assert.equal(deletionOf('EnvironmentVM/db', estate), 'delete')
    assert.equal(deletionOf('EnvironmentVM/lab-web', estate), 'hold')
  })

test("[S-37] an administrator's own broken file holds every deletion, as before", () => {
  for (const files of Object.values(BROKEN)) {
    const named = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, text.replace('lab-c', 'home')]))
    const estate = estateOf({}, { ...ADMIN, ...named })
    assert.equal(deletionOf('EnvironmentVM/db', estate), 'hold')
    assert.equal(deletionOf('EnvironmentVM/lab-web', estate), 'hold')
  }
})

test('[S-37] a source that was never read holds what its grant lets it name', () => {
  const source = { name: 'lab', remote: 'm', ref: 'main', pollMs: 1, open: () => assert.fail() }
  const estate = estateOf({})
  const held = withUnread(estate, [{ source: { ...source, grant } }])
  assert.equal(deletionOf('EnvironmentVM/db', held), 'delete')
  assert.equal(deletionOf('EnvironmentVM/lab-web', held), 'hold')
  assert.equal(deletionOf('EnvironmentVM/db', withUnread(estate, [{ source }])), 'hold')
  // The same in an estate with observed values.
  const later = { waiting: [], reads: [], stamp: '', settle: () => estate }
  const settled = withUnread({ ...estate, later }, [{ source }]).later?.settle(new Map())
  assert.equal(settled && deletionOf('EnvironmentVM/db', settled), 'hold')
})

test('[S-37] a whole run: a tenant whose first commit cannot be read does not keep the administrator from deleting', async () => {
  let commits = 0
  const commit = (files: Readonly<Record<string, string>>) => ({ files, commit: `${++commits}`.padStart(40, 'a') })
  let admin = commit(ADMIN)
  const unreadable: RepositoryFollower = {
    look: async () => ({ is: 'kept', reason: 'broken', message: 'reading it takes longer than 60 s', problems: [] }),
  }
  const harness = await startHarness({
    options: {
      sources: [
        { name: 'lab', remote: 'm', ref: 'main', pollMs: 1_000, grant, open: () => unreadable },
        { name: 'admin', remote: 'm', ref: 'main', pollMs: 1_000, open: () => inMemory(() => admin) },
      ],
    },
  })
  const names = () => [...harness.datacentre.world.guests.values()].map(({ config }) => config.get('name'))
  try {
    await harness.until(() => names().includes('app') && harness.controller.seen()?.report.settled === true)
    const { 'machines/app.yaml': _, ...rest } = ADMIN
    admin = commit(rest)
    await harness.until(() => !names().includes('app'))
    assert.ok(names().includes('db'))
  } finally {
    await harness.stop()
  }
})

test('[S-38] a broken connection that a tenant pretends to have is nothing to the others', () => {
  const broken = 'apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: lab-x}\nspec: {endpoint: 9}\n'
  assert.ok(!estateOf({ 'a.yaml': broken }).unreadable.includes('Proxmox/lab-x'))
})

const CLUSTER = boxCluster('home')
const addon = (name: string, more = 'path: apps') => `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: ${name}}
spec: {cluster: home, ${more}}
`
const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\n`
const keysOf = (estate: Estate) => estate.resources.map(({ key }) => key)

test('[S-39] a path names the files of its own source, also where another source has the same path', () => {
  const admin = { 'c.yaml': CLUSTER, 'a.yaml': addon('web'), 'apps/x.yaml': map('ours') }
  const estate = estateOf({ 'a.yaml': addon('lab-web'), 'apps/x.yaml': map('theirs') }, admin)
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  assert.deepEqual(keysOf(estate).sort(), ['Addon/lab-web@ConfigMap/shop/theirs', 'Addon/web@ConfigMap/shop/ours'])
})

test("[S-39] a tenant that claims an object of the administrator's add-on loses, alone", () => {
  const admin = { 'c.yaml': CLUSTER, 'a.yaml': addon('web'), 'apps/x.yaml': map('ours') }
  const estate = estateOf({ 'a.yaml': addon('lab-web'), 'apps/x.yaml': map('ours') }, admin)
  assert.deepEqual(keysOf(estate), ['Addon/web@ConfigMap/shop/ours'])
  const told = estate.problems
    .filter(({ severity }) => severity === 'error')
    .map(({ object, code }) => `${object} ${code}`)
  assert.deepEqual(told, ['Addon/lab-web object-claimed-twice'])
})

test('[S-39] what a tenant brings is nothing that an add-on of the administrator waits for', () => {
  const admin = {
    'c.yaml': CLUSTER,
    'a.yaml': addon('web', 'path: apps, namespace: shop, createNamespace: true'),
    'apps/x.yaml': map('ours'),
  }
  const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n'
  const estate = estateOf({ 'a.yaml': addon('lab-a'), 'apps/x.yaml': namespace }, admin)
  const ours = estate.resources.find(({ key }) => key === 'Addon/web@ConfigMap/shop/ours')
  assert.deepEqual(ours?.needs, ['Addon/web@Namespace/shop', 'Cluster/home'])
  assert.ok(!keysOf(estate).some((key) => key.startsWith('Addon/lab-a')))
})

const nodeOn = (machine: string, more = '') => `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: lab-c${more}}
spec:
  version: v1.34.3+k3s1
  endpoint: {vip: 192.168.4.9}
  servers: [{machine: ${machine}, addresses: [192.168.4.55]}]
`
const OWN = { 'm.yaml': filesOf([{ name: 'lab-web', host: 'fun-bedbug' }])['machines/lab-web.yaml'] ?? '' }
const wrongIn = ({ problems }: Estate) =>
  problems
    .filter(({ severity }) => severity === 'error')
    .map(({ code, object, origin, message }) => `${code} ${object} ${origin.line}:${origin.column} ${message}`)

test('[S-58] a cluster of a tenant has nodes on machines of its own: whoever has a node on one is root on it', () => {
  const theirs = estateOf({ ...OWN, 'c.yaml': nodeOn('EnvironmentVM/lab-web') })
  assert.deepEqual([wrongIn(theirs), theirs.clusters?.length], [[], 1])
  const taken = estateOf({ 'c.yaml': nodeOn('EnvironmentVM/db') })
  assert.deepEqual(wrongIn(taken), [
    'outside-grant Cluster/lab-c 7:23 EnvironmentVM/db is not a machine of the source lab',
  ])
  assert.equal(taken.clusters, undefined)
  assert.ok(keysOf(taken).includes('EnvironmentVM/db'), 'who declares the machine loses nothing')
})

test("[S-58] a tenant that claims a node of the administrator's cluster is refused, alone", () => {
  const home = nodeOn('EnvironmentVM/db').replace('lab-c', 'home').replace('192.168.4.9', '192.168.4.8')
  const estate = estateOf({ 'c.yaml': nodeOn('EnvironmentVM/db') }, { ...ADMIN, 'c.yaml': home })
  assert.match(wrongIn(estate).join('\n'), /^outside-grant Cluster\/lab-c [^\n]*$/)
  assert.deepEqual(
    estate.clusters?.map(({ key }) => key),
    ['Cluster/home'],
  )
})

test('[S-58] a name is claimed whatever the namespace: a cluster that is called as one of the administrator is refused', () => {
  const other = nodeOn('EnvironmentVM/lab-web', ', namespace: x')
  assert.deepEqual(wrongIn(estateOf({ ...OWN, 'c.yaml': other })), [])
  const estate = estateOf({ ...OWN, 'c.yaml': other }, { ...ADMIN, 'c.yaml': boxCluster('lab-c') })
  assert.match(
    wrongIn(estate).join(),
    /^duplicate-object lab:Cluster\/x\/lab-c .* declared by two sources: .* admin:c.yaml/,
  )
  assert.deepEqual(
    estate.clusters?.map(({ key }) => key),
    ['Cluster/lab-c'],
  )
})

test('[S-49] a tenant sends croft nowhere: a Notification, a HealthCheck or a Power of its is refused before anybody reads it', () => {
  const kinds = {
    Notification: '{webhook: {url: "http://169.254.169.254/latest"}}',
    HealthCheck: '{http: {url: "http://127.0.0.1:6443/"}}',
    Power: '{cluster: home}',
  }
  for (const [kind, spec] of Object.entries(kinds)) {
    const text = `apiVersion: croft.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: lab-x}\nspec: ${spec}\n`
    const revision = mergeRevisions([
      { source: 'lab', revision: readTexts({ 'a.yaml': text }), grant: { ...grant, kinds: [...grant.kinds, kind] } },
      { source: 'admin', revision: readTexts(ADMIN) },
    ])
    // Not even if the grant names the kind.
    assert.ok(!revision.declarations.some((one) => one.kind === kind), kind)
    const estate = link(revision, { findKind, problemAt: revision.problemAt })
    assert.deepEqual([estate.checks, estate.powers], [undefined, undefined])
    assert.ok(estate.problems.some(({ severity }) => severity === 'error'))
  }
})

test('[S-49] no word of a mail server or an address can become a line of its own', () => {
  const texts = ['a@b.c\r\nBCC: x@y.z', 'a@b.c>\r\nDATA', 'a b@c.d', '<a@b.c>', 'a@b.c\u0000', 'a@b\u2028c']
  const wrong = (fields: object) => {
    const smtp = { host: 'mail.example', from: 'a@b.c', to: ['a@b.c'], ...fields }
    const object = { apiVersion: 'croft.dev/v1alpha1', kind: 'Notification', metadata: { name: 'x' }, spec: { smtp } }
    return readTexts({ 'a.yaml': JSON.stringify(object) }).problems.length > 0
  }
  assert.equal(wrong({}), false)
  for (const text of texts) for (const fields of [{ from: text }, { to: [text] }]) assert.ok(wrong(fields), text)
  for (const host of ['a\r\nb', 'a b', 'a/b', '-oProxy', 'a@b', '']) assert.ok(wrong({ host }), host)
  for (const user of ['a\r\nb', 'a\u0000b', '']) assert.ok(wrong({ user }), user)
})
