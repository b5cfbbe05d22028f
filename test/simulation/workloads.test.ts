import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorkloads } from '../../src/drivers/kubernetes/workloads.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'

const ADDONS = `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: web}
spec:
  cluster: homelab
  namespace: web
  objects:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: "example.org/web:1"}]}
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: cert-manager}
spec: {cluster: homelab, preset: cert-manager}
`

test('below an add-on stand its objects, what Helm made of its chart, the pods and their events; logs only of those', async () => {
  const estate = clusterEstate(clusterManifest({}) + ADDONS)
  let calls = 0
  let down = false
  const run = simulateCluster({
    seed: 3,
    estate,
    onKubernetes: (wire) => ({
      ...wire,
      send: (request, signal) => {
        calls++
        return wire.send(down ? { ...request, path: '/nowhere' } : request, signal)
      },
    }),
  })
  const process = run.start()
  assert.equal(await run.untilSettled(process, { mostMs: 3_600_000 }), 'settled')
  const workloads = createWorkloads({
    clock: run.clock,
    estate: () => estate,
    way: (connection) => process.engine.kubernetes?.(connection),
  })
  const soon = <T>(work: Promise<T>) => run.clock.runUntil(work, { maxMs: 120_000 })

  calls = 0
  const [tree, same] = await soon(Promise.all([workloads.tree('homelab', 'web'), workloads.tree('homelab', 'web')]))
  assert.equal(tree, same, 'two who ask share one answer')
  assert.ok(calls <= 12, `${calls} calls`)
  const shape = tree?.nodes.map(({ kind, parent }) => [kind, tree.nodes.find(({ id }) => id === parent)?.kind])
  assert.deepEqual(shape, [
    ['Deployment', undefined],
    ['ReplicaSet', 'Deployment'],
    ['Pod', 'ReplicaSet'],
    ['Pod', 'ReplicaSet'],
    ['Namespace', undefined],
  ])
  const pod = tree?.nodes.find(({ kind }) => kind === 'Pod')
  assert.deepEqual([pod?.state, pod?.status, pod?.restarts], ['ok', 'Running', 0])
  assert.deepEqual(
    pod?.containers?.map(({ name, image }) => [name, image]),
    [['web', 'example.org/web:1']],
  )
  assert.ok(pod?.events.some(({ reason }) => reason === 'Scheduled'))

  const charts = await soon(workloads.tree('homelab', 'cert-manager'))
  const chart = charts?.nodes.find(({ kind }) => kind === 'HelmChart')
  const made = charts?.nodes.filter(({ parent }) => parent !== undefined && parent === chart?.id)
  assert.ok(
    made?.some(({ kind }) => kind === 'Deployment'),
    JSON.stringify(charts?.nodes.map(({ kind }) => kind)),
  )
  assert.equal(await soon(workloads.tree('homelab', 'nothing')), undefined)

  const question = {
    cluster: 'homelab',
    addon: 'web',
    namespace: 'web',
    pod: pod?.name ?? '',
    container: 'web',
    tail: 5,
    previous: false,
    follow: false,
  }
  const lines: string[] = []
  const { signal } = new AbortController()
  const log = (more: Partial<typeof question>) =>
    workloads.log({ ...question, ...more }, (line) => lines.push(line), signal)
  assert.deepEqual(await soon(log({})), { ok: true })
  assert.ok(lines.length > 0 && lines.length <= 5 && lines.every((line) => line.startsWith('web: ')), lines.join('\n'))
  const before = await soon(log({ previous: true }))
  assert.ok(!before.ok && before.reason === 'refused' && /previous terminated container "web"/.test(before.message))
  const strange = charts?.nodes.find(({ kind }) => kind === 'Pod')
  assert.ok(strange)
  const others = await soon(log({ pod: strange.name, namespace: strange.namespace ?? '' }))
  assert.ok(!others.ok && others.reason === 'not-found', 'a pod of another add-on')

  down = true
  await run.clock.runUntil(run.clock.sleep(5_000), { maxMs: 10_000 })
  const away = await soon(workloads.tree('homelab', 'web'))
  assert.deepEqual(away?.nodes.map(({ kind }) => kind).toSorted(), ['Deployment', 'Namespace'], 'what is declared')
  await workloads.close()
})
