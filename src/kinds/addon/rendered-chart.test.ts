import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { EVERYWHERE } from '../../lib/egress.ts'
import type { Estate } from '../../model/estate.ts'
import type { WantedObject } from '../../model/kube-object.ts'
import { link } from '../../plan/link.ts'
import { withFetched } from '../../source/files/fetched.ts'
import { readTree } from '../../source/read-tree.ts'
import { ROOT, readText, told } from '../../source/testing/fixture.ts'
import { findKind } from '../registry.ts'
import { type ChartToRender, chartObjects } from './rendered-chart.ts'
import { SHOP_CHART, shopChart } from './testing/shop-chart.ts'

/* Charts on a cluster without K3s' Helm controller: what comes out of Helm is what is kept. */

const CLUSTER = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: prod}
spec: {type: existing, kubeconfig: {env: KUBECONFIG_TEXT}, charts: {kubeVersion: v1.34.3, apiVersions: [monitoring.coreos.com/v1]}}
---
`

const shop = (more = '', chart = '') => `${CLUSTER}apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: shop}
spec:
  cluster: prod
  namespace: shop
  chart: {repo: https://charts.example.org, name: shop, version: 1.0.0, values: {replicas: 2}${chart}}
${more}`

async function estateOf(
  text: string,
  rendered: readonly unknown[] = SHOP_CHART,
  asked: ChartToRender[] = [],
): Promise<Estate> {
  const revision = await withFetched(readText(text), {
    fetched: new Map(),
    egress: EVERYWHERE,
    chart: async (wanted) => {
      asked.push(wanted)
      return { objects: rendered }
    },
  })
  return link(revision, { findKind, problemAt: revision.problemAt })
}

const wantedOf = (
  estate: Estate,
): ReadonlyMap<string, { readonly wanted: WantedObject; readonly needs: readonly string[] }> =>
  new Map(
    estate.resources.flatMap(({ key, desired, needs }) =>
      desired.type === 'object' ? [[key.replace('Addon/shop@', ''), { wanted: desired.object, needs }] as const] : [],
    ),
  )

test('Helm is asked once with everything that decides, and its objects are those of the add-on', async () => {
  const asked: ChartToRender[] = []
  const estate = await estateOf(shop(), SHOP_CHART, asked)
  assert.deepEqual(told(estate.problems), [])
  assert.deepEqual(asked, [
    {
      repo: 'https://charts.example.org',
      chart: 'shop',
      version: '1.0.0',
      release: 'shop',
      namespace: 'shop',
      values: '{"replicas":2}',
      kubeVersion: '1.34.3',
      apiVersions: ['monitoring.coreos.com/v1'],
    },
  ])
  const objects = wantedOf(estate)
  assert.deepEqual([...objects.keys()].sort(), [
    'ConfigMap/shop/shop-keep',
    'CustomResourceDefinition.apiextensions.k8s.io/orders.shop.example.org',
    'Deployment.apps/shop/shop',
    'Job.batch/shop/shop-migrate',
    'Job.batch/shop/shop-seed',
    'Namespace/shop',
    'Secret/shop/shop-config',
    'ServiceAccount/shop/shop-migrate',
  ])
  assert.equal(objects.has('HelmChart.helm.cattle.io/kube-system/shop'), false)
})

test('on a K3s of croft the same add-on is still a HelmChart, and Helm is not asked', async () => {
  const asked: ChartToRender[] = []
  const k3s = shop().replace(
    /spec: \{type: existing.*\n/,
    'spec: {version: v1.34.3+k3s1, servers: [{machine: Host/cow}]}\n',
  )
  await estateOf(k3s, SHOP_CHART, asked)
  assert.deepEqual(asked, [])
})

test('hooks come before and after the chart, one after the other, and definitions before all', async () => {
  const objects = wantedOf(await estateOf(shop()))
  const needs = (name: string) => objects.get(name)?.needs.filter((one) => one.startsWith('Addon/shop@')) ?? []
  const key = (name: string) => `Addon/shop@${name}`
  const [crd, account, migrate] = [
    'CustomResourceDefinition.apiextensions.k8s.io/orders.shop.example.org',
    'ServiceAccount/shop/shop-migrate',
    'Job.batch/shop/shop-migrate',
  ].map(key)
  assert.ok(crd !== undefined && account !== undefined && migrate !== undefined)
  assert.deepEqual(needs('CustomResourceDefinition.apiextensions.k8s.io/orders.shop.example.org'), [])
  assert.ok(needs('ServiceAccount/shop/shop-migrate').includes(crd))
  assert.ok(needs('Job.batch/shop/shop-migrate').includes(account))
  for (const name of ['Deployment.apps/shop/shop', 'Secret/shop/shop-config', 'ConfigMap/shop/shop-keep'])
    assert.ok(needs(name).includes(migrate), name)
  for (const name of ['Deployment.apps/shop/shop', 'Secret/shop/shop-config'])
    assert.ok(needs('Job.batch/shop/shop-seed').includes(key(name)), name)
})

test('a hook for upgrades too belongs to its rendering; one for installations alone to none', async () => {
  const [first, second] = [
    wantedOf(await estateOf(shop())),
    wantedOf(await estateOf(shop(), shopChart({ image: 'shop:2' }))),
  ]
  const run = (objects: typeof first, name: string) => objects.get(name)?.wanted.hook?.run
  assert.notEqual(run(first, 'Job.batch/shop/shop-migrate'), run(second, 'Job.batch/shop/shop-migrate'))
  assert.equal(run(first, 'Job.batch/shop/shop-seed'), 'install')
  assert.equal(run(second, 'Job.batch/shop/shop-seed'), 'install')
  const job = first.get('Job.batch/shop/shop-migrate')?.wanted.object
  assert.ok(job !== undefined && 'spec' in job)
  assert.doesNotMatch(JSON.stringify(job.spec), /ttlSecondsAfterFinished/)
})

test('what the chart or its kind asks to keep stays when the add-on goes', async () => {
  const deletions = async (more: string) =>
    Object.fromEntries([...wantedOf(await estateOf(shop(more)))].map(([name, { wanted }]) => [name, wanted.deletion]))
  const safe = await deletions('')
  assert.equal(safe['ConfigMap/shop/shop-keep'], 'Orphan')
  assert.equal(safe['CustomResourceDefinition.apiextensions.k8s.io/orders.shop.example.org'], 'Orphan')
  assert.equal(safe['Deployment.apps/shop/shop'], 'Delete')
  assert.equal((await deletions('  prune: all\n'))['ConfigMap/shop/shop-keep'], 'Delete')
})

test('a rendered chart goes to Flux by a release that adopts what is there, and what its hooks made stays ours', async () => {
  const estate = await estateOf(shop('  handover: {to: flux}\n'))
  assert.deepEqual(told(estate.problems), [])
  const objects = wantedOf(estate)
  const release = objects.get('HelmRelease.helm.toolkit.fluxcd.io/flux-system/shop')?.wanted.object
  assert.match(JSON.stringify(release), /"install":\{"disableHooks":true\}/)
  const to = (name: string) => objects.get(name)?.wanted.handover?.to
  assert.equal(to('Deployment.apps/shop/shop'), 'flux')
  assert.equal(to('Job.batch/shop/shop-migrate'), undefined)
})

describe('refused with its place', () => {
  const refused: readonly (readonly [string, string, readonly unknown[] | undefined, RegExp])[] = [
    [
      'a hook for upgrades alone',
      shop(),
      shopChart({ hook: 'pre-upgrade' }),
      /hook 12:\d+ the chart has a hook for pre-upgrade \(Job shop-migrate\).*skipHooks/,
    ],
    ['a hook for removals', shop(), shopChart({ hook: 'pre-delete' }), /hook for pre-delete/],
    [
      'values of a secret',
      shop('', ', valuesFrom: {env: VALUES}'),
      undefined,
      /secret-values 12:\d+ .*values from a secret/,
    ],
    [
      'values for charts of K3s',
      shop('  chartConfig: {name: traefik, values: {}}\n'),
      undefined,
      /no-chart-config 13:16/,
    ],
  ]
  for (const [name, text, rendered, expected] of refused)
    test(name, async () => {
      const estate = await estateOf(text, rendered)
      assert.match(told(estate.problems).join('\n'), expected)
      assert.deepEqual(estate.unreadable, ['Addon/shop'])
    })

  test('a chart that could not be rendered is a problem of its add-on, and nothing of it is deleted', async () => {
    const revision = await withFetched(readText(shop()), {
      fetched: new Map(),
      egress: EVERYWHERE,
      chart: async () => ({ problem: 'there is no helm here', hint: 'install it' }),
    })
    const estate = link(revision, { findKind, problemAt: revision.problemAt })
    assert.match(told(estate.problems).join(), /no-objects 12:\d+ there is no helm here \(install it\)/)
    assert.deepEqual(estate.unreadable, ['Addon/shop'])
  })

  test('a hook that need not run is left out by name; tests and rollbacks never run', async () => {
    const estate = await estateOf(
      shop('  skipHooks: [shop-migrate]\n'),
      shopChart({ hook: 'pre-upgrade,pre-rollback' }),
    )
    assert.deepEqual(told(estate.problems), [])
    assert.equal(wantedOf(estate).has('Job.batch/shop/shop-migrate'), false)
    const quiet = chartObjects(shopChart({ hook: 'test-success,post-rollback' }), { skipHooks: [] }, ['spec', 'chart'])
    assert.deepEqual(quiet.problems, [])
  })
})

test('the example deploys the same add-ons to a K3s of croft and to an existing cluster', async () => {
  const read = await readTree(join(ROOT, 'examples', 'existing-cluster'))
  const revision = await withFetched(read, {
    fetched: new Map(),
    egress: EVERYWHERE,
    chart: async ({ chart }) => ({ objects: chart === 'podinfo' ? SHOP_CHART : [] }),
  })
  const estate = link(revision, { findKind, problemAt: revision.problemAt })
  assert.deepEqual(told(estate.problems), [])
  const on = (connection: string) =>
    estate.resources
      .filter((one) => one.connection === connection)
      .map(({ key }) => key.replace(/^Addon\/(.*)-(?:home|prod)@/, '$1 '))
  const manifests = [
    'quotas NetworkPolicy.networking.k8s.io/podinfo/from-inside',
    'quotas ResourceQuota/podinfo/podinfo',
  ]
  const [home, prod] = [on('cluster/home'), on('cluster/prod')]
  for (const one of manifests) assert.ok(home.includes(one) && prod.includes(one), one)
  assert.ok(home.includes('podinfo HelmChart.helm.cattle.io/kube-system/podinfo-home'))
  assert.ok(prod.includes('podinfo Deployment.apps/podinfo/shop'))
  assert.ok(!prod.some((one) => one.includes('HelmChart')))
  assert.deepEqual(
    estate.clusters?.map(({ name }) => name),
    ['home'],
  )
})
