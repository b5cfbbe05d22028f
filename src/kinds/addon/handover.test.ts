import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../model/kube-object.ts'
import { agentSecret, keepersOf } from './handover.ts'
import type { AddonDeclaration, ChartFields } from './schema.ts'

/** The fields of `spec` as the definitions of Argo CD 3.4 and Flux 2.8 have them, as far as they are used. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  'argoproj.io/v1alpha1 Application': [
    'destination',
    'ignoreDifferences',
    'project',
    'source',
    'sources',
    'syncPolicy',
  ],
  'source.toolkit.fluxcd.io/v1 GitRepository': ['interval', 'ref', 'url'],
  'source.toolkit.fluxcd.io/v1 HelmRepository': ['interval', 'type', 'url'],
  'kustomize.toolkit.fluxcd.io/v1 Kustomization': ['interval', 'path', 'prune', 'sourceRef', 'targetNamespace', 'wait'],
  'helm.toolkit.fluxcd.io/v2 HelmRelease': [
    'chart',
    'install',
    'interval',
    'releaseName',
    'storageNamespace',
    'targetNamespace',
    'values',
    'valuesFrom',
  ],
}

const CHART: ChartFields = {
  repo: 'https://charts.example.org',
  name: 'c',
  version: '1.2.3',
  bootstrap: false,
  failurePolicy: 'abort',
  values: { a: 1 },
  valuesFrom: { env: 'V' },
}
const map = (namespace: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace },
})
const SECRET: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' } }

function addon(handover: object): AddonDeclaration {
  const told = { revision: 'main', project: 'default', repository: 'https://git.example.org/r', path: 'p', ...handover }
  return { name: 'a', spec: { handover: told } } as unknown as AddonDeclaration
}

const text = (value: unknown) => JSON.stringify(value)

for (const to of ['argocd', 'flux'] as const) {
  test(`[R22] the objects by which ${to} keeps an add-on are such as it knows, one for the chart and one beside it`, () => {
    const { chart, objects } = keepersOf(addon({ to }), CHART, 'n', [map('n'), SECRET])
    for (const { apiVersion, kind, spec } of [...chart, ...objects]) {
      const known = KNOWN[`${apiVersion} ${kind}`]
      assert.ok(known, `${apiVersion} ${kind}`)
      for (const field of Object.keys(spec as object)) assert.ok(known.includes(field), `${kind} ${field}`)
    }
    assert.equal(chart.at(-1)?.metadata.name, 'a')
    assert.equal(objects.at(-1)?.metadata.name, 'a-objects', 'two things have two names')
    assert.equal(keepersOf(addon({ to }), undefined, 'n', [map('n')]).objects.at(-1)?.metadata.name, 'a')
    assert.deepEqual(keepersOf(addon({ to }), CHART, 'n', [SECRET]).objects, [], 'nobody else has values of secrets')
    assert.deepEqual(keepersOf(addon({ to, repository: undefined }), CHART, 'n', [map('n')]).objects, [])
    assert.doesNotMatch(text(chart) + text(objects), /finalizers/, 'when it goes, what it kept stays')
  })
}

test('Flux moves objects into a namespace only where all of them are in one', () => {
  const where = (...namespaces: string[]) =>
    text(keepersOf(addon({ to: 'flux' }), undefined, 'n', namespaces.map(map)).objects)
  assert.match(where('n'), /"targetNamespace":"n"/)
  assert.doesNotMatch(where('n', 'kube-system'), /targetNamespace/)
})

test('Flux follows a branch, a tag or a commit, as it is named', () => {
  const ref = (revision: string) =>
    text(keepersOf(addon({ to: 'flux', revision }), undefined, 'n', [map('n')]).objects[0]?.spec)
  assert.match(ref('main'), /"ref":\{"branch":"main"\}/)
  assert.match(ref('v1.2.0'), /"ref":\{"tag":"v1\.2\.0"\}/)
  assert.match(ref('a'.repeat(40)), /"ref":\{"commit":"a{40}"\}/)
})

test('a chart of a registry is named as each agent wants it', () => {
  const oci = { ...CHART, name: 'oci://ghcr.io/me/charts/c' }
  assert.match(
    text(keepersOf(addon({ to: 'flux' }), oci, 'n', []).chart),
    /"url":"oci:\/\/ghcr\.io\/me\/charts","type":"oci"/,
  )
  assert.match(
    text(keepersOf(addon({ to: 'argocd' }), oci, 'n', []).chart),
    /"repoURL":"ghcr\.io\/me\/charts","chart":"c"/,
  )
})

test('a chart in Git is followed at its commit, by its directory', () => {
  const git = { url: 'https://git.example.org/charts', commit: 'a'.repeat(40), path: 'stable/c' }
  const { repo: _, valuesFrom: __, ...plain } = CHART
  const [source, release] = keepersOf(addon({ to: 'flux' }), { ...plain, git }, 'n', [], true).chart
  assert.equal(source?.kind, 'GitRepository')
  assert.deepEqual(source?.spec, { interval: '1h', url: git.url, ref: { commit: git.commit } })
  assert.match(
    text(release?.spec),
    /"chart":\{"spec":\{"chart":"\.\/stable\/c","reconcileStrategy":"Revision","sourceRef":\{"kind":"GitRepository","name":"a"\}\}\},"install":\{"disableHooks":true\}/,
  )
  assert.doesNotMatch(text(keepersOf(addon({ to: 'flux' }), CHART, 'n', []).chart), /disableHooks/)
})

test('the secret values of a chart are put where Flux reads them, and the release names them', () => {
  const secret = agentSecret(addon({ to: 'flux' }), CHART)
  assert.deepEqual(secret?.object.metadata, { name: 'a-values', namespace: 'flux-system' })
  assert.deepEqual(Object.keys(secret?.secrets ?? {}), ['values.yaml'])
  const release = keepersOf(addon({ to: 'flux' }), CHART, 'n', []).chart.at(-1)
  assert.match(text(release), /"valuesFrom":\[\{"kind":"Secret","name":"a-values","valuesKey":"values\.yaml"\}\]/)
  assert.equal(agentSecret(addon({ to: 'argocd' }), CHART), undefined)
})
