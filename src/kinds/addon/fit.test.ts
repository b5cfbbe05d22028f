import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Estate } from '../../model/estate.ts'
import type { KubeObject } from '../../model/kube-object.ts'
import { link } from '../../plan/link.ts'
import type { Revision } from '../../source/git/revision.ts'
import { readTree } from '../../source/read-tree.ts'
import { errorsOf, ROOT, readText, told } from '../../source/testing/fixture.ts'
import { boxCluster } from '../cluster/testing/box-cluster.ts'
import { findKind } from '../registry.ts'

/* Presets fit their Cluster, and impossible settings are refused at their place. */

const CLUSTER = `${boxCluster('homelab')}---
`

function addonText(spec: string, name = 'x'): string {
  return `${CLUSTER}apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: ${name}}
spec:
  cluster: homelab
${spec}`
}

function linked(revision: Revision): Estate {
  return link(revision, { findKind, problemAt: revision.problemAt })
}

function objectsOf(estate: Estate): readonly KubeObject[] {
  assert.deepEqual(told(estate.problems.filter(({ severity }) => severity === 'error')), [])
  return estate.resources.flatMap(({ desired }) => (desired.type === 'object' ? [desired.object.object] : []))
}

interface ChartSpec {
  readonly valuesContent: string
  readonly failurePolicy: string
}

function chartOf(estate: Estate, name: string): ChartSpec & { readonly values: Record<string, never> } {
  const found = objectsOf(estate).find(({ kind, metadata }) => kind === 'HelmChart' && metadata.name === name)
  assert.ok(found, name)
  const spec = found.spec as ChartSpec
  return { ...spec, values: JSON.parse(spec.valuesContent) as Record<string, never> }
}

const FIRST_LINE = CLUSTER.split('\n').length + 5

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    'a range as address of a Service',
    '  preset: coredns\n  with: {clusterIp: 10.43.0.10-10.43.0.20}',
    /clusterIp is "10.43.0.10-10.43.0.20"; expected an IP address/,
  ],
  [
    'an address that is no Service’s',
    '  preset: coredns\n  with: {clusterIp: 10.99.0.10}',
    /clusterIp is 10.99.0.10; expected an address in the range of Services \(10.43.0.0\/16\)/,
  ],
  [
    'a network as address of an ingress',
    '  preset: traefik\n  with: {address: 10.0.0.0/24}',
    /address is "10.0.0.0\/24"; expected an IP address/,
  ],
  ['more copies than nodes', '  preset: garage\n  with: {nodes: 1, capacity: 1Gi}', /no more copies than nodes/],
  [
    'an issuer of two sorts',
    '  preset: cert-manager\n  with: {issuers: [{name: a, selfSigned: true, ca: {secret: s}}]}',
    /exactly one of selfSigned: true, ca and acme/,
  ],
  [
    'an issuer of no sort',
    '  preset: cert-manager\n  with: {issuers: [{name: a}]}',
    /exactly one of selfSigned: true, ca and acme/,
  ],
  [
    'values for what is not a chart',
    '  preset: garage\n  values: {a: 1}\n  with: {capacity: 1Gi}',
    /garage is not a chart, so nothing reads values/,
  ],
  [
    'values beside a chart',
    '  values: {a: 1}\n  chart: {repo: "https://example.org", name: c, version: 1.0.0}',
    /values belongs to a preset.*chart\.values/,
  ],
]

for (const [what, spec, message] of REFUSED) {
  test(`impossible input is refused where it stands: ${what}`, () => {
    const revision = readText(addonText(spec))
    const estate = linked(revision)
    const all = [...errorsOf(revision), ...estate.problems.filter(({ severity }) => severity === 'error')]
    const found = all.find((one) => message.test(`${one.message} ${one.hint ?? ''}`))
    assert.ok(found, told(all).join('\n'))
    assert.equal(found.origin.file, 'a.yaml')
    assert.ok(found.origin.line >= FIRST_LINE, `${found.origin.line}`)
  })
}

test('values and their secret are laid over those of a preset, and lists are taken whole', () => {
  const estate = linked(
    readText(
      addonText(
        '  preset: cilium\n  values: {operator: {prometheus: {enabled: true}}, ipam: {mode: cluster-pool}}\n  valuesFrom: {env: HIDDEN}\n',
        'cilium',
      ),
    ),
  )
  const { values, ...spec } = chartOf(estate, 'cilium')
  assert.deepEqual(values.operator, { replicas: 1, prometheus: { enabled: true } })
  assert.deepEqual(values.ipam, { mode: 'cluster-pool' })
  assert.deepEqual((spec as Record<string, unknown>).valuesSecrets, [{ name: 'cilium-values', keys: ['values.yaml'] }])
})

test('Cilium finds the API without kube-proxy, by the door that K3s has on every node', () => {
  const { values } = chartOf(linked(readText(addonText('  preset: cilium\n', 'cilium'))), 'cilium')
  assert.deepEqual([values.k8sServiceHost, values.k8sServicePort], ['127.0.0.1', 6444])
})

for (const [version, apiVersion] of [
  ['1.16.5', 'cilium.io/v2alpha1'],
  ['1.17.9', 'cilium.io/v2alpha1'],
  ['1.18.4', 'cilium.io/v2'],
  ['1.19.6', 'cilium.io/v2'],
]) {
  test(`pools of addresses of Cilium ${version} are ${apiVersion}`, () => {
    const spec = `  preset: cilium\n  version: ${version}\n  with: {pools: [{name: lan, ranges: [10.0.0.0/24]}]}\n`
    const pool = objectsOf(linked(readText(addonText(spec, 'cilium')))).find(({ kind }) => kind.endsWith('IPPool'))
    assert.equal(pool?.apiVersion, apiVersion)
  })
}

test('a chart that failed is not taken away unless that is said, and the definitions of Flux stay', () => {
  for (const preset of ['flux', 'cert-manager', 'metallb', 'traefik', 'argocd'])
    assert.equal(chartOf(linked(readText(addonText(`  preset: ${preset}\n`, preset))), preset).failurePolicy, 'abort')
  const said = linked(readText(addonText('  preset: metallb\n  failurePolicy: reinstall\n', 'metallb')))
  assert.equal(chartOf(said, 'metallb').failurePolicy, 'reinstall')
  const own = '  chart: {repo: "https://example.org", name: c, version: 1.0.0}\n'
  const plain = objectsOf(linked(readText(addonText(own)))).find(({ kind }) => kind === 'HelmChart')
  assert.equal((plain?.spec as ChartSpec | undefined)?.failurePolicy, 'abort')
  const { values } = chartOf(linked(readText(addonText('  preset: flux\n', 'flux'))), 'flux')
  assert.deepEqual(values.crds, { annotations: { 'helm.sh/resource-policy': 'keep' } })
})

test('Secrets by which Argo CD knows a repository can be declared', () => {
  const spec = `  preset: argocd
  secrets:
    - name: apps
      labels: {argocd.argoproj.io/secret-type: repository}
      annotations: {managed-by: argocd.argoproj.io}
      data: {url: {env: URL}, password: {env: PASSWORD}}
`
  const secret = objectsOf(linked(readText(addonText(spec, 'argocd')))).find(({ kind }) => kind === 'Secret')
  assert.deepEqual(secret?.metadata.labels, { 'argocd.argoproj.io/secret-type': 'repository' })
  assert.deepEqual(secret?.metadata.annotations, { 'managed-by': 'argocd.argoproj.io' })
})

test('the dual-stack example gets a network and names of both families', async () => {
  const estate = linked(await readTree(join(ROOT, 'examples', 'k3s-metal')))
  const cilium = chartOf(estate, 'cilium').values
  assert.deepEqual([cilium.ipv4, cilium.ipv6], [{ enabled: true }, { enabled: true }])
  const { service, ...rest } = chartOf(estate, 'coredns').values
  assert.deepEqual(service, {
    name: 'kube-dns',
    clusterIP: '10.43.0.10',
    clusterIPs: ['10.43.0.10', 'fd22:2025:6a6a:43::a'],
    ipFamilyPolicy: 'RequireDualStack',
  })
  const text = JSON.stringify(rest)
  for (const wanted of ['system-cluster-critical', 'dns-unready', 'CriticalAddonsOnly', 'kubernetes.io/hostname'])
    assert.ok(text.includes(wanted), wanted)
  // The names of nodes, which K3s writes only into the CoreDNS that it brings itself.
  assert.match(text, /192\.168\.14\.2 cow\\nfd12:3456:789a:14::2 cow\\n192\.168\.14\.3 sheep/)
})
