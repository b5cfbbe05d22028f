import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf, type Wanted } from '../../../test/simulation/manifests.ts'
import { boxCluster } from '../../kinds/cluster/testing/box-cluster.ts'
import { findKind } from '../../kinds/registry.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Estate } from '../../model/estate.ts'
import type { Grant } from '../../model/grant.ts'
import { link } from '../../plan/link.ts'
import { usageOf } from '../../plan/quotas.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { readConfig } from '../config.ts'
import { inMemory, startHarness } from '../testing/harness.ts'
import { grantOf } from './grant-schema.ts'
import { mergeRevisions } from './merge.ts'

function grantWith(quota: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}): Grant {
  const all = ['*']
  const lists = { connections: all, hosts: all, storages: all, networks: all, templates: all }
  const grant = { kinds: ['EnvironmentVM', 'EnvironmentContainer', 'Cluster', 'Addon', 'Machine'], ...lists }
  const whole = { ...grant, vmids: { from: 500, to: 599 }, quota, ...more }
  const { sources } = readConfig({ sources: [{ name: 'lab', directory: '/x', grant: whole }] }, {}, {})
  const given = sources[0]?.grant
  assert.ok(given !== undefined)
  return grantOf('lab', given)
}

const ADMIN = filesOf([{ name: 'db', host: 'fun-bedbug', vmid: 200 }])
const vm = (name: string, fields = '') => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: fun-bedbug
    cpu: [{cores: 2, sockets: 2}]
    memory: [{dedicated: 1024}]
    disk: [{interface: scsi0, datastoreId: local, size: 10}]
    ${fields}
`
const many = (count: number, fields = '') =>
  Array.from({ length: count }, (_, at) => vm(`lab-${at}`, fields)).join('---\n')

function estateOf(texts: Readonly<Record<string, string>>, grant: Grant): Estate {
  const revision = mergeRevisions([
    { source: 'lab', revision: readTexts(texts), grant },
    { source: 'admin', revision: readTexts(ADMIN) },
  ])
  return link(revision, { findKind, problemAt: revision.problemAt })
}
const own = ({ resources }: Estate) => resources.flatMap(({ key, bounds }) => (bounds === undefined ? [] : [key]))
const told = ({ problems }: Estate) =>
  problems
    .filter(({ severity }) => severity === 'error')
    .map(({ code, origin: { file, line, column }, message }) => `${code} ${file}:${line}:${column} ${message}`)

const FIXED =
  'initialization: [{datastoreId: local, ipConfig: [{ipv4: [{address: 10.0.0.9/24}], ipv6: [{address: "fd00::9/64"}]}]}]'

test('[S-36] each number of a quota is counted over the source, and the excess is refused at its place', () => {
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, number, string])[] = [
    [{ machines: 2 }, 2, '3 machines, and 2 are granted'],
    [{ cores: 11 }, 2, '12 cores, and 11 are granted'],
    [{ memory: '2Gi' }, 2, '3072 MiB of memory, and 2048 are granted'],
    [{ disk: '29Gi' }, 2, '30 GiB of disk, and 29 are granted'],
    [{ addresses: 5 }, 2, '6 fixed addresses, and 5 are granted'],
    [{ machines: 3, cores: 12, memory: '3Gi', disk: '30Gi', addresses: 6 }, 3, ''],
    [{ machines: 0 }, 0, '1 machines, and 0 are granted'],
  ]
  for (const [quota, fit, message] of cases) {
    const estate = estateOf({ 'a.yaml': many(3, FIXED) }, grantWith(quota))
    assert.equal(own(estate).length, fit, JSON.stringify(quota))
    // Objects over the quota are not removed: nothing may be deleted because of them.
    assert.equal(estate.unreadable.length, 3 - fit)
    assert.equal(estate.quotas?.[0]?.exceeded, fit < 3)
    if (message === '') assert.deepEqual(told(estate), [])
    else assert.match(told(estate).join('\n'), new RegExp(`over-quota lab:a.yaml:\\d+:\\d+ .* would have ${message}`))
    assert.ok(
      estate.resources.some(({ key }) => key === 'EnvironmentVM/db'),
      'the administrator has no quota',
    )
  }
})

test('[S-36] the place of what exceeds a quota is its own line', () => {
  const estate = estateOf({ 'a.yaml': vm('lab-a'), 'b.yaml': `# note\n${vm('lab-b')}` }, grantWith({ machines: 1 }))
  assert.match(told(estate).join('\n'), /over-quota lab:b\.yaml:6:3 with it the source lab would have 2 machines/)
})

test('[S-36] what cannot be counted is refused where it counts', () => {
  const copy = vm('lab-a', 'clone: [{vmId: 9000}]').replace(/ {4}disk:.*\n/, '')
  const box = `apiVersion: virtualenvironmentcontainer.crossplane.io/v1alpha1
kind: EnvironmentContainer
metadata: {name: lab-box}
spec:
  forProvider:
    nodeName: fun-bedbug
    unprivileged: true
    operatingSystem: [{templateFileId: "local:vztmpl/debian.tar.zst"}]
    disk: [{datastoreId: local, size: 4}]
`
  assert.deepEqual(own(estateOf({ 'a.yaml': copy }, grantWith({}))), ['EnvironmentVM/lab-a'])
  assert.match(told(estateOf({ 'a.yaml': copy }, grantWith({ disk: '1Ti' }))).join(), /a disk without a size cannot/)
  assert.match(told(estateOf({ 'a.yaml': box }, grantWith({ cores: 9 }))).join(), /without a number of cores cannot/)
  assert.deepEqual(told(estateOf({ 'a.yaml': box }, grantWith({ disk: '4Gi' }))), [])
})

test('[S-36] sockets, swap and later processors count', () => {
  const guest = { host: 'a', name: 'a', mounts: [], nics: [], disks: [] }
  assert.equal(usageOf({ type: 'vm', vm: { ...guest, cpu: { cores: 2, sockets: 4, hotplugged: 5 } } }).cores, 8)
  assert.equal(usageOf({ type: 'vm', vm: { ...guest, cpu: { cores: 1, hotplugged: 6 } } }).cores, 6)
  const { disks: _, ...box } = guest
  const usage = usageOf({ type: 'container', container: { ...box, memory: { dedicatedMb: 100, swapMb: 28 } } })
  assert.equal(usage.memoryMb, 128)
})

const ADMIN_CLUSTER = boxCluster('home')
const addon = (name: string, folder: string) => `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: ${name}}
spec: {cluster: home, path: ${folder}}
`
const map = (name: string, namespace: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\n`

test('[S-36] objects of add-ons and their namespaces are counted, and one path that many add-ons name costs once', () => {
  const estate = (texts: Readonly<Record<string, string>>, grant: Grant) => {
    const revision = mergeRevisions([
      { source: 'lab', revision: readTexts(texts), grant },
      { source: 'admin', revision: readTexts({ 'c.yaml': ADMIN_CLUSTER }) },
    ])
    return link(revision, { findKind, problemAt: revision.problemAt })
  }
  const files = {
    'a.yaml': addon('lab-a', 'one'),
    'b.yaml': addon('lab-b', 'two'),
    'one/x.yaml': [map('a', 'web'), map('b', 'web')].join('---\n'),
    'two/x.yaml': [map('c', 'shop'), map('d', 'shop')].join('---\n'),
  }
  const whole = estate(files, grantWith({ objects: 4, namespaces: 2 }))
  assert.deepEqual(told(whole), [])
  assert.equal(own(whole).length, 4)
  const fewer = estate(files, grantWith({ objects: 3 }))
  assert.match(told(fewer).join('\n'), /over-quota lab:b\.yaml:\d+:\d+ .*4 objects of add-ons, and 3 are granted/)
  assert.equal(own(fewer).length, 3)
  const one = estate(files, grantWith({ namespaces: 1 }))
  assert.match(told(one).join('\n'), /2 namespaces, and 1 are granted/)
  assert.equal(own(one).length, 2)

  const shared = Array.from({ length: 500 }, (_, at) => addon(`lab-${at}`, 'one')).join('---\n')
  const all = Array.from({ length: 1_000 }, (_, at) => map(`m${at}`, 'web')).join('---\n')
  const flood = estate({ 'a.yaml': shared, 'one/x.yaml': all }, grantWith({}))
  assert.equal(own(flood).length, 0, 'they claim the same objects')
  assert.match(told(flood).join('\n'), /make 1000 objects already/)
  assert.equal(flood.quotas?.[0]?.exceeded, true)
})

test('[S-36] a grant without a quota has one all the same, and a mistyped one is refused', () => {
  assert.deepEqual(grantWith({}).quota, { machines: LIMITS.grantedMachines, objects: LIMITS.grantedObjects })
  assert.deepEqual(grantWith({ memory: '64Gi', disk: '1Ti', machines: 3 }).quota, {
    machines: 3,
    memoryMb: 65_536,
    diskGb: 1024,
    objects: LIMITS.grantedObjects,
  })
  assert.throws(() => grantWith({ machine: 3 }), /machine/)
  assert.throws(() => grantWith({ memory: 64 }), /memory/)
  assert.throws(() => grantWith({ cores: -1 }), /cores/)
})

test('[S-36] a whole run: the excess is not made, what exists stays, and what is left behind still counts', async () => {
  const wanted = (name: string): Wanted => ({ name, host: 'fun-bedbug', deletion: 'Orphan' })
  const machines = (list: readonly Wanted[]) =>
    Object.fromEntries(Object.entries(filesOf(list)).filter(([file]) => file.startsWith('machines/')))
  let commits = 0
  const commit = (files: Readonly<Record<string, string>>) => ({ files, commit: `${++commits}`.padStart(40, 'a') })
  let guest = commit(machines([wanted('lab-b'), wanted('lab-c')]))
  const admin = commit(ADMIN)
  const harness = await startHarness({
    options: {
      sources: [
        {
          name: 'lab',
          remote: 'm',
          ref: 'main',
          pollMs: 1_000,
          // With `keepGoing`, the harder case.
          keepGoing: true,
          grant: grantWith({ machines: 2 }),
          open: () => inMemory(() => guest),
        },
        { name: 'admin', remote: 'm', ref: 'main', pollMs: 1_000, open: () => inMemory(() => admin) },
      ],
    },
  })
  const names = () =>
    [...harness.datacentre.world.guests.values()]
      .map(({ config }) => `${config.get('name')}`)
      .filter((one) => one.startsWith('lab-'))
      .sort()
  const settled = () => harness.controller.seen()?.report.settled === true
  try {
    await harness.until(() => names().length === 2 && settled())
    // A new machine that sorts first must not displace an existing one.
    guest = commit(machines([wanted('lab-a'), wanted('lab-b'), wanted('lab-c')]))
    await harness.until(() => harness.controller.view().problems.some(({ code }) => code === 'over-quota'))
    await harness.pass(120_000)
    assert.deepEqual(names(), ['lab-b', 'lab-c'])

    // Given up but left behind by its own policy, a machine still takes its place.
    guest = commit(machines([wanted('lab-c'), wanted('lab-d')]))
    await harness.pass(180_000)
    assert.deepEqual(names(), ['lab-b', 'lab-c'])
    const entry = harness.controller.seen()?.report.plan.entries.find(({ key }) => key === 'EnvironmentVM/lab-d')
    assert.ok(entry?.action.do === 'hold' && entry.action.guard === 'quota', JSON.stringify(entry?.action))
    assert.match(entry.action.reason, /3 machines, and 2 are granted/)
  } finally {
    await harness.stop()
  }
})
