import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyTo } from '../../src/sim/kubernetes/apply.ts'
import { stamp, type Tree } from '../../src/sim/kubernetes/object.ts'
import { all, find, put } from '../../src/sim/kubernetes/store.ts'
import { etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'addon-handover.test.ts'
const CLUSTER = clusterManifest({ servers: ['s1'], spec: '  allow: {degraded: true}\n' })

const AGENT = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'cilium', namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: { app: 'cilium' } },
    template: {
      metadata: { labels: { app: 'cilium' } },
      spec: { hostNetwork: true, containers: [{ name: 'agent', image: 'quay.io/cilium/cilium:v1.18.4' }] },
    },
  },
} as const

const ARGO = `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: argocd}
spec:
  cluster: homelab
  namespace: argocd
  objects:
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: applications.argoproj.io}
      spec:
        group: argoproj.io
        scope: Namespaced
        names: {kind: Application, plural: applications, singular: application, listKind: ApplicationList}
        versions:
          - name: v1alpha1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const cilium = (more: string, image = 'quay.io/cilium/cilium:v1.18.4') => `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: cilium}
spec:
  cluster: homelab
  namespace: kube-system
  needs: [argocd]
  secrets: [{name: cilium-keys, data: {key: {env: KEY}}}]
  objects:
    - ${JSON.stringify({ ...AGENT, spec: { ...AGENT.spec, template: { ...AGENT.spec.template, spec: { ...AGENT.spec.template.spec, containers: [{ name: 'agent', image }] } } } })}
${more}`

const HANDED = `  handover: {to: argocd, repository: "https://git.example.org/home", path: cilium}\n`
const KEY = 'Addon/cilium@DaemonSet.apps/kube-system/cilium'

function started(manifests: string, seed: number) {
  const run = simulateCluster({ seed, estate: clusterEstate(CLUSTER + ARGO + manifests) })
  const hint = replay(FILE, seed)
  const store = () => {
    const etcd = etcdOf(run, hint)
    assert.ok(etcd, hint)
    return etcd.store
  }
  const daemonSet = () => {
    const found = find(store(), 'apps/daemonsets', 'kube-system', 'cilium')
    assert.ok(found, 'the DaemonSet is there')
    return found
  }
  const managers = () =>
    (daemonSet().metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`)
  const writer = (manager: string, operation: 'Apply' | 'Update' = 'Apply') =>
    ({ manager, operation, apiVersion: 'apps/v1', time: stamp(run.clock.now()) }) as const

  /** What Argo CD does: it applies what stands in its repository and says that it is so. */
  const argo = (sent: Tree = AGENT) => {
    for (const application of all(store(), 'argoproj.io/applications')) {
      put(store(), 'apps/daemonsets', applyTo(daemonSet(), sent, writer('argocd-controller'), true))
      const status = { sync: { status: 'Synced' }, health: { status: 'Healthy' } }
      put(store(), 'argoproj.io/applications', { ...application, status })
    }
  }
  return { run, hint, store, daemonSet, managers, writer, argo }
}

test('[A52] what is handed over to Argo CD changes its owner and nothing else, and can be taken back', async () => {
  const { run, hint, store, daemonSet, managers, argo } = started(cilium(''), 3)
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled', hint)
  // The node loses its last taints a moment after it is ready.
  await run.clock.advanceTo(run.clock.now() + 120_000)
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled', hint)
  const { spec } = daemonSet()
  const { generation, uid } = daemonSet().metadata
  const pods = () =>
    all(store(), '/pods')
      .filter(({ metadata }) => metadata.name.startsWith('cilium-'))
      .map(({ metadata }) => metadata.uid)
  const before = pods()
  assert.ok(before.length > 0, 'a pod of it runs')

  run.estate = clusterEstate(CLUSTER + ARGO + cilium(HANDED))
  const process = run.start()
  await run.passes(process, 12)
  const [application] = all(store(), 'argoproj.io/applications')
  assert.ok(application, 'the Application is written')
  assert.deepEqual(
    managers().filter((one) => one.startsWith('croft')),
    ['croft Apply'],
  )
  assert.match(JSON.stringify(daemonSet().metadata.managedFields), /"f:spec"/, 'until Argo CD is in sync it is ours')

  argo()
  assert.equal(await run.untilSettled(process, { mostMs: 3_600_000 }), 'settled', hint)
  const after = daemonSet()
  assert.equal(after.metadata.generation, generation, 'not one field of it has changed')
  assert.equal(after.metadata.uid, uid)
  assert.deepEqual(after.spec, spec)
  assert.deepEqual(pods(), before, 'no pod was restarted')
  const ours = (after.metadata.managedFields ?? []).find(({ manager }) => manager === 'croft')
  assert.doesNotMatch(JSON.stringify(ours), /"f:spec"/, 'we keep no field of it any more')
  assert.equal(run.disk.records.get(KEY)?.details?.owner, 'argocd')

  // From now on only Argo CD acts: what it changes stays changed.
  const changed = JSON.parse(JSON.stringify(AGENT).replace('v1.18.4', 'v1.18.5')) as Tree
  argo(changed)
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled', hint)
  assert.match(JSON.stringify(daemonSet().spec), /v1\.18\.5/)

  // Back again: first the other is gone, then it is ours, and nothing was deleted on the way.
  const mark = daemonSet().metadata.generation
  run.estate = clusterEstate(CLUSTER + ARGO + cilium('', 'quay.io/cilium/cilium:v1.18.5'))
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled', hint)
  assert.equal(all(store(), 'argoproj.io/applications').length, 0)
  assert.equal(daemonSet().metadata.uid, uid, 'it was never deleted')
  assert.equal(daemonSet().metadata.generation, mark)
  assert.equal(run.disk.records.get(KEY)?.details?.owner, 'croft')
  const back = (daemonSet().metadata.managedFields ?? []).find(({ manager }) => manager === 'croft')
  assert.match(JSON.stringify(back), /"f:spec"/)
})

test('a field that Argo CD does not keep is not given up, because it would be lost', async () => {
  const { run, hint, daemonSet, argo } = started(cilium(''), 4)
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled', hint)
  run.estate = clusterEstate(CLUSTER + ARGO + cilium(HANDED))
  const process = run.start()
  await run.passes(process, 12)
  const { hostNetwork: _, ...partial } = AGENT.spec.template.spec
  argo({ ...AGENT, spec: { ...AGENT.spec, template: { ...AGENT.spec.template, spec: partial } } })
  const [report] = await run.passes(process, 3)
  const entry = report?.plan.entries.find(({ key }) => key === KEY)
  assert.match(entry?.notes?.join() ?? '', /does not keep spec\.template\.spec\.hostNetwork/, hint)
  assert.match(JSON.stringify(daemonSet().spec), /"hostNetwork":true/)
})

test('a field that somebody else keeps is a conflict that is shown and never forced; drift is put back per field', async () => {
  const { run, hint, store, daemonSet, writer } = started(cilium(''), 5)
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled', hint)
  const other = JSON.parse(JSON.stringify(AGENT).replace('v1.18.4', 'v9')) as Tree
  put(store(), 'apps/daemonsets', applyTo(daemonSet(), other, writer('kubectl'), true))
  const [report] = await run.passes(run.start(), 1)
  const entry = report?.plan.entries.find(({ key }) => key === KEY)
  assert.ok(entry?.action.do === 'update', JSON.stringify(entry))
  assert.deepEqual(
    entry.action.changes.map(({ path, from, to }) => [path, from, to]),
    [['spec.template.spec.containers[name=agent].image', 'quay.io/cilium/cilium:v9', 'quay.io/cilium/cilium:v1.18.4']],
  )
  assert.equal(entry.drift, true)
  assert.match(JSON.stringify(daemonSet().spec), /:v9/, 'nothing was forced')
  assert.match(run.disk.records.get(KEY)?.failure?.message ?? '', /\.image \(kubectl\).*force: true/)

  run.estate = clusterEstate(CLUSTER + ARGO + cilium('  force: true\n'))
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled', hint)
  assert.match(JSON.stringify(daemonSet().spec), /v1\.18\.4/, 'a person said so')
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
  const run = simulateCluster({ seed: 6, estate: clusterEstate(CLUSTER + addon(claim)) })
  const hint = replay(FILE, 6)
  await run.untilSettled(run.start(), { mostMs: 3_600_000 })
  const etcd = etcdOf(run, hint)
  assert.ok(etcd)
  assert.ok(find(etcd.store, '/configmaps', 'app', 'settings'), hint)
  run.estate = clusterEstate(CLUSTER + addon(''))
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000 }), 'settled', hint)
  assert.equal(find(etcd.store, '/configmaps', 'app', 'settings'), undefined)
  assert.ok(find(etcd.store, '/configmaps', 'app', 'stays'))
  assert.ok(find(etcd.store, '/persistentvolumeclaims', 'app', 'data'))
  assert.ok(find(etcd.store, '/namespaces', undefined, 'app'))
})
