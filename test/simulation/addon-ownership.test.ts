import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyTo } from '../../sim/kubernetes/apply.ts'
import { stamp, type Tree } from '../../sim/kubernetes/object.ts'
import { find, put } from '../../sim/kubernetes/store.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { createLab } from './addon-lab.ts'
import { addonManifest } from './addon-manifests.ts'
import { committedAfter } from './git-history.ts'
import { replay } from './volume.ts'

const FILE = 'addon-ownership.test.ts'
const KEY = 'Addon/agent@DaemonSet.apps/kube-system/agent'
const OBJECT: Tree = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'agent', image: 'example.org/agent:1' }] },
    },
  },
}
const AGENT = (more: string) => addonManifest('agent', `  namespace: kube-system\n${more}`, [OBJECT])

test('a field that somebody else keeps is a conflict that is shown and never forced; drift is put back per field', async () => {
  const hint = replay(FILE, 5)
  const lab = createLab(AGENT(''), 5, hint)
  const { run } = lab
  const daemonSet = () => lab.found('apps/daemonsets', 'kube-system', 'agent')
  assert.equal(await lab.settle(), 'settled', hint)
  const writer = {
    manager: 'kubectl',
    operation: 'Apply',
    apiVersion: 'apps/v1',
    time: stamp(run.clock.now()),
  } as const
  const other = JSON.parse(JSON.stringify(OBJECT).replace('agent:1', 'agent:9')) as Tree
  put(lab.store(), 'apps/daemonsets', applyTo(daemonSet(), other, writer, true))
  const looked = run.start().engine.plan(run.estate, new AbortController().signal)
  const planned = await run.clock.runUntil(looked, { maxMs: 600_000 })
  const preview = planned.entries.find(({ key }) => key === KEY)?.preview
  assert.match(preview?.refused ?? '', /\.image \(kubectl\).*force: true/, 'the plan says that it would be refused')
  assert.match(JSON.stringify(daemonSet().spec), /agent:9/, 'and has not tried')
  const [report] = await run.passes(run.start(), 1)
  const entry = report?.plan.entries.find(({ key }) => key === KEY)
  assert.ok(entry?.action.do === 'update', JSON.stringify(entry))
  assert.deepEqual(
    entry.action.changes.map(({ path, from, to }) => [path, from, to]),
    [['spec.template.spec.containers[name=agent].image', 'example.org/agent:9', 'example.org/agent:1']],
  )
  assert.equal(entry.drift, true)
  assert.match(JSON.stringify(daemonSet().spec), /agent:9/, 'nothing was forced')
  assert.match(run.disk.records.get(KEY)?.failure?.message ?? '', /\.image \(kubectl\).*force: true/)

  lab.git(AGENT('  force: true'))
  assert.equal(await lab.settle(), 'settled', hint)
  assert.match(JSON.stringify(daemonSet().spec), /agent:1/, 'a person said so')
})

test('what is declared no more is deleted, and what holds data stays; nothing of another is touched', async () => {
  const claim = `    - {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}
`
  const addon = (objects: string) => `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: app}
spec:
  cluster: homelab
  namespace: app
  objects:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: stays}, data: {a: b}}
${objects}`
  const hint = replay(FILE, 6)
  const lab = createLab(addon(claim), 6, hint)
  assert.equal(await lab.settle(), 'settled', hint)
  assert.ok(lab.found('/configmaps', 'app', 'settings'))
  lab.git(addon(''))
  assert.equal(await lab.settle(), 'settled', hint)
  assert.equal(find(lab.store(), '/configmaps', 'app', 'settings'), undefined)
  assert.ok(find(lab.store(), '/configmaps', 'app', 'stays'))
  assert.ok(find(lab.store(), '/persistentvolumeclaims', 'app', 'data'))
  assert.ok(find(lab.store(), '/namespaces', undefined, 'app'))
})

test('[A54] more objects than usual go only when a person says so in Git', async () => {
  const hint = replay(FILE, 12)
  const maps = Array.from({ length: 12 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `m${index}` },
    data: { a: 'b' },
  }))
  const app = (count: number) => addonManifest('app', '  namespace: app', maps.slice(0, count))
  const lab = createLab(app(12), 12, hint)
  assert.equal(await lab.settle(), 'settled', hint)
  const left = () => maps.filter(({ metadata }) => find(lab.store(), '/configmaps', 'app', metadata.name)).length
  lab.git(app(1))
  const [report] = await lab.run.passes(lab.run.start(), 2)
  assert.equal(left(), 12, 'nothing was deleted')
  const held =
    report?.plan.entries.filter(({ action }) => action.do === 'hold' && action.guard === 'blast-radius') ?? []
  assert.equal(held.length, 11)
  assert.match(JSON.stringify(held[0]?.action), /would delete 11 of \d+ objects of cluster\/homelab, the limit is 10/)
  const approval = `---
apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: tidy}
spec: {reason: the maps are not used any more, maxDeletes: 11, expires: "2099-01-01T00:00:00Z"}
`
  lab.git(app(1) + approval)
  assert.equal(await lab.settle(), 'settled', hint)
  assert.equal(left(), 1)
})

test('[F-25] what left Git while the store was lost is found by its mark, deleted or listed as left over', async () => {
  const hint = replay(FILE, 10)
  const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  const app = (...objects: readonly object[]) => addonManifest('app', '  namespace: app', objects)
  const other = { ...claim, metadata: { name: 'other' } }
  const lab = createLab(app(map('stays'), map('goes'), claim, other), 10, hint)
  assert.equal(await lab.settle(), 'settled', hint)
  lab.run.disk = createMemoryStore().disk
  const declared = lab.run.estate
  lab.git(app(map('stays'), other))
  assert.equal(await lab.settle(), 'settled', hint)
  assert.ok(lab.found('/configmaps', 'app', 'goes'), '[D-02] that it is absent from Git proves nothing')
  lab.run.estate = committedAfter(declared, lab.run.estate)
  assert.equal(await lab.settle(), 'settled', hint)
  assert.equal(find(lab.store(), '/configmaps', 'app', 'goes'), undefined)
  assert.ok(lab.found('/configmaps', 'app', 'stays'))
  assert.ok(lab.found('/persistentvolumeclaims', 'app', 'data'), 'what holds data stays')
  const left = lab.run.disk.records.get('Addon/app@PersistentVolumeClaim/app/data')
  assert.equal(left?.status, 'Orphaned', 'and is listed')
})

test('of a cluster that left Git no object is remembered; of an add-on that cannot be read every one is', async () => {
  const hint = replay(FILE, 8)
  const lab = createLab(AGENT(''), 8, hint)
  assert.equal(await lab.settle(), 'settled', hint)
  const { run } = lab
  const objects = () => [...run.disk.records.values()].filter(({ type }) => type === 'object').length
  const before = objects()
  assert.ok(before > 0)
  // As a wrong field in the file makes it: the add-on is declared, and its content is unknown.
  const whole = run.estate
  const broken = whole.resources.filter(({ driver }) => driver !== 'kubernetes')
  run.estate = { ...whole, resources: broken, unreadable: ['Addon/agent'] }
  await run.passes(run.start(), 2)
  assert.equal(objects(), before, hint)

  const { clusters: _, ...rest } = whole
  const connections = whole.connections.filter(({ driver }) => driver !== 'kubernetes')
  run.estate = { ...rest, connections, resources: broken, incomplete: true }
  await run.passes(run.start(), 2)
  assert.equal(objects(), before, 'what is missing in a tree that was not read whole proves nothing')
  run.estate = { ...rest, connections, resources: broken }
  await run.passes(run.start(), 2)
  assert.equal(objects(), 0, hint)
})

test('a chart that changes is ready when the job for the change is done, not because the old one was', async () => {
  const hint = replay(FILE, 9)
  const chart = (version: string) =>
    addonManifest(
      'podinfo',
      `  namespace: podinfo\n  chart: {repo: "https://c.example.org", name: podinfo, version: ${version}}`,
    )
  const lab = createLab(chart('6.9.1'), 9, hint)
  assert.equal(await lab.settle(), 'settled', hint)
  const job = () => lab.found('batch/jobs', 'kube-system', 'helm-install-podinfo').metadata.uid
  const before = job()
  const seen: string[] = []
  lab.git(chart('6.9.2'))
  const process = lab.run.start()
  const settled = await lab.run.untilSettled(process, {
    mostMs: 3_600_000,
    onPass: ({ records }) => {
      const record = records.find(({ key }) => key.includes('@HelmChart.'))
      const ready = record?.conditions.find(({ type }) => type === 'Ready')
      seen.push(`${ready?.status} ${ready?.reason} ${job() === before ? 'old' : 'new'}`)
    },
  })
  assert.equal(settled, 'settled', hint)
  assert.notEqual(job(), before)
  assert.ok(
    seen.some((one) => one.startsWith('False Installing')),
    seen.join('; '),
  )
  assert.equal(seen.at(-1), 'True Current new', seen.join('; '))
})
