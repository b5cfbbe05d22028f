import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../sim/kubernetes/object.ts'
import { all, find, put } from '../../sim/kubernetes/store.ts'
import { kubernetesWire } from '../../sim/kubernetes/wire.ts'
import { planJson } from '../../src/cli/render/plan-json.ts'
import { adminCredentials } from '../../src/drivers/k3s/make-secrets.ts'
import { kubernetesDriver } from '../../src/drivers/kubernetes/driver.ts'
import { existingWay } from '../../src/drivers/kubernetes/existing-way.ts'
import { createPowerDriver } from '../../src/drivers/power/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import { powerRequestsName } from '../../src/engine/power/notes.ts'
import { shopChart } from '../../src/kinds/addon/testing/shop-chart.ts'
import { renderKubeconfig } from '../../src/kubernetes/kubeconfig.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Estate } from '../../src/model/estate.ts'
import { Secret } from '../../src/model/secret.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { addonsFor, existingEstate, PROD } from '../existing-estate.ts'
import { onlyProd, platformExample, standInCharts } from '../platform-example.ts'
import { etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { replay } from './volume.ts'

/* A foreign cluster, here one that another croft runs: add-ons, checks and workloads, and never its nodes. */

const FILE = 'existing-cluster.test.ts'
const ENDPOINT = 'https://192.168.4.79:6443'

/** A cluster that stands, and a second croft that knows it only by a kubeconfig. */
async function twoCrofts(seed: number) {
  const hint = replay(FILE, seed)
  const owner = simulateCluster({
    seed,
    estate: clusterEstate(clusterManifest({ servers: ['s1'], spec: '  allow: {degraded: true}\n' })),
  })
  assert.equal(await owner.untilSettled(owner.start(), { mostMs: 3_600_000 }), 'settled', hint)
  const cluster = etcdOf(owner, hint)
  assert.ok(cluster, hint)
  const secrets = owner.vault.kept.get('homelab')
  const admin = secrets === undefined ? undefined : adminCredentials(secrets, owner.clock.now())
  assert.ok(admin)
  const kubeconfig = renderKubeconfig({ name: 'prod', endpoint: ENDPOINT, ...admin })
  const { clock } = owner
  const calls: string[] = []
  const store = createMemoryStore()
  const resolveSecret = async (reference: object) =>
    new Secret('env' in reference && reference.env === 'PROD_KUBECONFIG' ? kubeconfig : 'correct horse')
  const engine = createEngine({
    clock,
    random: seededRandom(seed),
    store,
    drivers: [kubernetesDriver],
    retryStalled: true,
    power: async () => createPowerDriver({ clock, resolveSecret, sendDatagram: async () => {} }),
    driverDeps: {
      clock,
      random: seededRandom(seed),
      openWire: () => assert.fail('nothing else is spoken to'),
      resolveSecret,
      kubernetes: ({ existing }) => {
        assert.ok(existing)
        return existingWay(existing, {
          clock,
          resolveSecret,
          openWire: ({ endpoint, caPem = '', client }) => {
            const wire = kubernetesWire(owner.datacentre.world, { endpoint, caPem, ...client })
            return {
              ...wire,
              send(request, signal) {
                if (request.method !== 'GET') calls.push(`${request.method} ${request.path.replace(/\?.*/, '')}`)
                return wire.send(request, signal)
              },
            }
          },
          openInside: async () => ({ problem: 'no pod' }),
          insideLogin: async () => ({ problem: 'no pod' }),
          readFile: async () => undefined,
          runProgram: async () => ({ problem: 'no program' }),
        })
      },
    },
  })
  const { store: objects } = cluster
  const settle = async (estate: Estate, onPass: (report: PassReport) => void = () => {}) => {
    const signal = new AbortController().signal
    const work = engine.settle(estate, { signal, deadlineMs: 300_000, onPass })
    const { outcome, last } = await clock.runUntil(work, { maxMs: 3_600_000 })
    return { outcome, last }
  }
  const plan = async (estate: Estate) =>
    (await clock.runUntil(engine.plan(estate, new AbortController().signal))).entries.filter(
      ({ action }) => action.do !== 'nothing',
    )
  const printed = async (estate: Estate) =>
    JSON.stringify(planJson(await clock.runUntil(engine.plan(estate, new AbortController().signal)), 'r'))
  return { hint, owner, objects, engine, settle, plan, printed, calls, store }
}

test('a chart and manifests come to a cluster by its kubeconfig alone; the second plan is empty, and nothing of its nodes was written', async () => {
  const { settle, plan, printed, objects, calls, hint } = await twoCrofts(1)
  const estate = await existingEstate(PROD + addonsFor('prod'))
  assert.doesNotMatch(await printed(estate), /aGVsbG8|correct horse/)
  const jobsAt: string[] = []
  const { outcome } = await settle(estate, () => {
    const made = all(objects, 'apps/deployments').some(({ metadata }) => metadata.name === 'shop')
    jobsAt.push(...all(objects, 'batch/jobs').map(({ metadata }) => `${metadata.name} ${made ? 'after' : 'before'}`))
  })
  assert.equal(outcome, 'settled', hint)
  assert.ok(jobsAt.includes('shop-migrate before'), 'the Deployment waited for the hook before it')
  assert.ok(!jobsAt.includes('shop-seed before'), 'the hook after it came after it')
  assert.deepEqual(
    (await plan(estate)).map(({ key, action }) => [key, action]),
    [],
  )
  const door = find(objects, '/secrets', 'shop', 'door')
  assert.equal(
    (door as { data?: Record<string, string> } | undefined)?.data?.key,
    Buffer.from('correct horse').toString('base64'),
  )
  assert.deepEqual(
    calls.filter((call) => /nodes|helmcharts|evict|kube-system/.test(call)),
    [],
    hint,
  )
})

test('another rendering runs its hook again, once, and changes only what differs', async () => {
  const { settle, plan, objects, calls, hint } = await twoCrofts(2)
  assert.equal((await settle(await existingEstate(PROD + addonsFor('prod')))).outcome, 'settled', hint)
  const before = find(objects, 'batch/jobs', 'shop', 'shop-migrate')?.metadata.uid
  const seeded = find(objects, 'batch/jobs', 'shop', 'shop-seed')?.metadata.uid
  calls.length = 0
  const next = await existingEstate(PROD + addonsFor('prod'), shopChart({ image: 'shop:2' }))
  const entries = await plan(next)
  assert.deepEqual(entries.map(({ key }) => key.replace('Addon/shop@', '')).sort(), [
    'Deployment.apps/shop/shop',
    'Job.batch/shop/shop-migrate',
  ])
  const secret = JSON.stringify(entries)
  assert.doesNotMatch(secret, /aGVsbG8=|hello/, 'values of a rendered Secret are in no plan')
  assert.equal((await settle(next)).outcome, 'settled', hint)
  assert.notEqual(find(objects, 'batch/jobs', 'shop', 'shop-migrate')?.metadata.uid, before, hint)
  assert.equal(find(objects, 'batch/jobs', 'shop', 'shop-seed')?.metadata.uid, seeded, 'for installations alone')
  assert.equal(calls.filter((call) => call.startsWith('DELETE')).length, 1, calls.join('\n'))
  assert.deepEqual(await plan(next), [])
})

test('a hook that fails holds up the chart and says so, and nothing after it is made', async () => {
  const { settle, objects, hint } = await twoCrofts(3)
  const failed = {
    conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'it crashed' }],
  }
  objects.listeners.add(() => {
    const job = find(objects, 'batch/jobs', 'shop', 'shop-migrate')
    if (job === undefined || JSON.stringify(job.status ?? {}).includes('Failed')) return
    put(objects, 'batch/jobs', { ...job, status: failed } as unknown as KubeObject)
  })
  const { outcome, last } = await settle(await existingEstate(PROD + addonsFor('prod')))
  assert.notEqual(outcome, 'settled', hint)
  assert.equal(find(objects, 'apps/deployments', 'shop', 'shop'), undefined, hint)
  const job = last.records.find(({ key }) => key.endsWith('Job.batch/shop/shop-migrate'))
  assert.match(job?.conditions.find(({ type }) => type === 'Ready')?.message ?? '', /it crashed/)
})

test('what is taken out of Git goes; definitions, namespaces and what the chart keeps stay', async () => {
  const { settle, objects, hint } = await twoCrofts(4)
  assert.equal((await settle(await existingEstate(PROD + addonsFor('prod')))).outcome, 'settled', hint)
  // A foreign object beside them is left alone.
  put(objects, '/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'theirs', namespace: 'shop' },
    data: { a: 'b' },
  } as unknown as KubeObject)
  const settings = addonsFor('prod').split('---\n').at(-1) ?? ''
  const { outcome } = await settle(await existingEstate(`${PROD}---\n${settings}`))
  assert.equal(outcome, 'settled', hint)
  assert.equal(find(objects, 'apps/deployments', 'shop', 'shop'), undefined)
  assert.equal(find(objects, 'batch/jobs', 'shop', 'shop-migrate'), undefined)
  for (const [resource, name] of [
    ['/configmaps', 'shop-keep'],
    ['/configmaps', 'theirs'],
    ['/configmaps', 'colours'],
  ] as const)
    assert.ok(find(objects, resource, 'shop', name), name)
  assert.ok(find(objects, 'apiextensions.k8s.io/customresourcedefinitions', undefined, 'orders.shop.example.org'))
})

test('a health check asks its API, and a Power switches its workloads and leaves its nodes alone', async () => {
  const { settle, objects, engine, owner, calls, store, hint } = await twoCrofts(5)
  const more = `---
apiVersion: croft.dev/v1alpha1
kind: HealthCheck
metadata: {name: prod-api}
spec: {cluster: prod}
---
apiVersion: croft.dev/v1alpha1
kind: Power
metadata: {name: prod}
spec: {cluster: prod}
`
  const estate = await existingEstate(`${PROD}${addonsFor('prod')}${more}`)
  assert.equal((await settle(estate)).outcome, 'settled', hint)
  const asked = await owner.clock.runUntil(
    engine.askCheck('prod-api', { estate, clusters: [], surveys: [] }, new AbortController().signal),
  )
  assert.deepEqual(asked, { passed: 'yes', output: 'all nodes are ready' })

  const replicas = () => {
    const deployment = find(objects, 'apps/deployments', 'shop', 'shop')
    assert.ok(deployment, hint)
    return (deployment.spec as { replicas: number }).replicas
  }
  const order = async (state: 'on' | 'off') => {
    const wanted = { state, by: 'tapas', why: 'test', atMs: owner.clock.now() }
    await store.putRequests(powerRequestsName('prod'), JSON.stringify({ wanted, holds: [] }))
    const phase = state === 'off' ? 'Off' : 'On'
    for (let pass = 0; pass < 200; pass++) {
      const report = await owner.clock.runUntil(engine.pass(estate, new AbortController().signal), { maxMs: 600_000 })
      if (report.powers?.[0]?.decision.phase === phase) return
      await owner.clock.advanceTo(owner.clock.now() + report.lookAgainMs)
    }
    assert.fail(`never ${phase}; ${hint}`)
  }
  calls.length = 0
  await order('off')
  assert.equal(replicas(), 0, hint)
  await order('on')
  assert.equal(replicas(), 2, hint)
  assert.deepEqual(
    calls.filter((call) => /\/nodes\/|eviction/.test(call)),
    [],
    hint,
  )
})

test('the example with Big Bang: the same objects for a K3s at home and for the existing cluster', async () => {
  const { resources } = await platformExample(standInCharts)
  const idsOf = (cluster: string) =>
    resources
      .flatMap(({ key, desired }) =>
        desired.type === 'object' && desired.object.cluster === cluster ? [key.replace(`-${cluster}@`, '@')] : [],
      )
      .filter((key) => key.startsWith('Addon/bigbang'))
      .sort()
  assert.deepEqual(idsOf('home'), idsOf('prod'))
  assert.ok(idsOf('prod').includes('Addon/bigbang@HelmRelease.helm.toolkit.fluxcd.io/bigbang/monitoring'))
  // Flux is a HelmChart to K3s, and objects to the other.
  const keys = resources.map(({ key }) => key)
  assert.ok(keys.includes('Addon/flux-home@HelmChart.helm.cattle.io/kube-system/flux-home'))
  assert.ok(keys.includes('Addon/flux-prod@Deployment.apps/flux-system/helm-controller'))
})

test('the example with Big Bang comes to an existing cluster: Flux first, then its packages; the second plan is empty', async () => {
  const { settle, plan, objects, calls, hint } = await twoCrofts(11)
  const estate = await platformExample(standInCharts, onlyProd)
  const unready: string[] = []
  const { outcome, last } = await settle(estate, () => {
    const flux = find(objects, 'apps/deployments', 'flux-system', 'helm-controller') as { status?: object } | undefined
    if (!/"readyReplicas":1/.test(JSON.stringify(flux?.status ?? {}))) unready.push(...calls)
  })
  assert.equal(outcome, 'settled', `${hint} ${JSON.stringify(last.records)}`)
  assert.ok(
    unready.some((call) => call.includes('/deployments/helm-controller')),
    'it was seen to wait',
  )
  assert.doesNotMatch(unready.join('\n'), /bigbang\/(?:gitrepositories|helmreleases)/)
  assert.deepEqual(
    (await plan(estate)).map(({ key, action }) => [key, action]),
    [],
  )
  const values = find(objects, '/secrets', 'bigbang', 'bigbang-kyverno-values') as { data?: Record<string, string> }
  assert.equal(Buffer.from(values.data?.common ?? '', 'base64').toString(), 'domain: prod.example.org\n')
})
