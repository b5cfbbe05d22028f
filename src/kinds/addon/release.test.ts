import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVERYWHERE } from '../../lib/egress.ts'
import { link } from '../../plan/link.ts'
import { withFetched } from '../../source/files/fetched.ts'
import { readText, told } from '../../source/testing/fixture.ts'
import { findKind } from '../registry.ts'

const CLUSTERS = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: prod}
spec: {type: existing, kubeconfig: {env: K}}
---
apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: home}
spec: {version: v1.34.3+k3s1, servers: [{machine: Host/cow}]}
---
`
const addon = (spec: string) => `${CLUSTERS}apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: shop}
spec:
${spec}`
const CHART = '  chart: {repo: https://charts.example.org, name: shop, version: 1.0.0, install: helm'

async function estateOf(text: string) {
  const revision = await withFetched(readText(text), {
    fetched: new Map(),
    egress: EVERYWHERE,
    chart: async () => assert.fail('nothing is rendered for a release of Helm'),
  })
  return link(revision, { findKind, problemAt: revision.problemAt })
}

test('a chart with install: helm is one release, after its namespace and before objects of kinds that it brings', async () => {
  const more = '\n  objects: [{apiVersion: shop.example.org/v1, kind: Order, metadata: {name: first}}]\n'
  const chart = `${CHART}, values: {replicas: 2}, valuesFrom: {env: WORD}}`
  const estate = await estateOf(addon(`  cluster: prod\n  namespace: shop\n${chart}${more}`))
  const parts = new Map(estate.resources.filter(({ kind }) => kind === 'Addon').map((one) => [one.key, one]))
  const release = parts.get('Addon/shop@Release.helm.sh/shop/shop')
  assert.ok(release?.desired.type === 'object', [...parts.keys()].join())
  assert.deepEqual(release.desired.object.object.spec, {
    chart: 'shop',
    version: '1.0.0',
    repo: 'https://charts.example.org',
    values: { replicas: 2 },
  })
  assert.deepEqual(release.desired.object.secrets, { values: { env: 'WORD' } })
  assert.ok(release.needs.includes('Addon/shop@Namespace/shop'))
  assert.ok(parts.get('Addon/shop@Order.shop.example.org/shop/first')?.needs.includes(release.key))
})

test('a preset is installed by Helm the same way', async () => {
  const estate = await estateOf(addon('  cluster: prod\n  preset: traefik\n  install: helm\n'))
  assert.ok(estate.resources.some(({ key }) => key === 'Addon/shop@Release.helm.sh/traefik/shop'))
})

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    'on a cluster that croft runs',
    `  cluster: home\n${CHART}}\n`,
    /install-helm 16:\d+ install: helm is for a Cluster of type existing/,
  ],
  [
    'with handover',
    `  cluster: prod\n${CHART}}\n  handover: {to: argocd}\n`,
    /install-helm 17:\d+ a release of your own Helm is not handed over/,
  ],
  [
    'with failurePolicy',
    `  cluster: prod\n${CHART}, failurePolicy: reinstall}\n`,
    /install-helm 16:\d+ croft never uninstalls/,
  ],
  ['with bootstrap', `  cluster: prod\n${CHART}, bootstrap: true}\n`, /install-helm 16:\d+ bootstrap is for/],
  ['with skipHooks', `  cluster: prod\n${CHART}}\n  skipHooks: [a]\n`, /install-helm 17:\d+ Helm runs all hooks/],
  ['without a preset', `  cluster: prod\n  install: helm\n${CHART}}\n`, /no-preset 16:\d+ install belongs to a preset/],
  [
    'written as an object',
    '  cluster: prod\n  objects: [{apiVersion: helm.sh/v1, kind: Release, metadata: {name: a}}]\n',
    /bad-object 16:\d+ a Helm release is no object/,
  ],
]

for (const [name, spec, expected] of REFUSED)
  test(`install: helm is refused ${name}`, async () => {
    const { problems } = await estateOf(addon(spec))
    assert.match(told(problems.filter(({ severity }) => severity === 'error')).join('\n'), expected)
  })
