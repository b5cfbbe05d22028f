import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, readText } from '../testing/fixture.ts'
import { printDrafts } from './draft.ts'
import { flux } from './formats/flux.ts'

function read(files: Readonly<Record<string, string>>, under?: string) {
  const reading = flux.read(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    { cluster: 'home', ...(under === undefined ? {} : { under }) },
  )
  if ('problem' in reading) return { problem: reading.problem, addons: [], why: '' }
  assert.deepEqual(errorsOf(readText(printDrafts(reading.drafts))), [])
  return {
    addons: reading.drafts.map(({ manifest }) => manifest.spec as { namespace: string; chart: { values?: unknown } }),
    why: reading.notCarried.map(({ what, why }) => `${what}: ${why}`).join('\n'),
  }
}

const ks = (name: string, path: string, more = '') => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: flux-system}
spec: {path: ./${path}, sourceRef: {kind: GitRepository, name: flux-system}${more}}
`
const RELEASE = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web}
spec: {url: "oci://ghcr.io/me/charts/web", ref: {tag: 1.2.3}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec:
  chartRef: {kind: OCIRepository, name: web}
  values: {host: "web.\${DOMAIN}", port: "\${PORT}", script: "echo $\${HOME} $USER"}
`
/** A repository as most people have it: one Kustomization for everything, which applies one for each application. */
const REPOSITORY = {
  'flux/cluster.yaml': ks('apps', 'apps'),
  'apps/kustomization.yaml': 'resources: [web.yaml]\n',
  'apps/web.yaml': ks(
    'web',
    'apps/web',
    ', targetNamespace: sites, postBuild: {substitute: {DOMAIN: a.lan, PORT: "80"}}',
  ),
  'apps/web/kustomization.yaml': 'resources: [release.yaml, secret.yaml]\n',
  'apps/web/release.yaml': RELEASE,
  'apps/web/secret.yaml': 'apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: web}\nspec: {}\n',
}

test('a release has the namespace and the variables that its Kustomization gives it', () => {
  const { addons, why } = read(REPOSITORY)
  assert.equal(addons[0]?.namespace, 'sites')
  assert.deepEqual(addons[0]?.chart.values, { host: 'web.a.lan', port: 80, script: `echo \${HOME} $USER` })
  assert.equal(why, 'Kustomization flux-system/web: what comes from no chart stays with Flux: ExternalSecret sites/web')
})

test('patches of an outer Kustomization reach the inner one, and those of the inner one the release', () => {
  const inner =
    'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: _}\nspec: {values: {patched: true}}\n'
  const outer = `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: _}\nspec: {patches: [{patch: ${JSON.stringify(inner)}, target: {kind: HelmRelease}}]}\n`
  const patches = `, patches: [{patch: ${JSON.stringify(outer)}, target: {kind: Kustomization}}]`
  const { addons } = read({ ...REPOSITORY, 'flux/cluster.yaml': ks('apps', 'apps', patches) })
  assert.match(JSON.stringify(addons), /"patched":true/)
})

test('a variable that only a Secret of the cluster holds keeps its release with Flux', () => {
  const from = ', targetNamespace: sites, postBuild: {substituteFrom: [{kind: Secret, name: cluster-secrets}]}'
  const { addons, why } = read({ ...REPOSITORY, 'apps/web.yaml': ks('web', 'apps/web', from) })
  assert.deepEqual(addons, [])
  assert.match(
    why,
    /HelmRelease sites\/web: nobody here knows \$\{DOMAIN\}, \$\{PORT\}, which Flux takes from Secret cluster-secrets/,
  )
})

test('variables of a ConfigMap among the files are known, and defaults count', () => {
  const from = ', targetNamespace: sites, postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}'
  const { addons } = read({
    ...REPOSITORY,
    'apps/web.yaml': `${ks('web', 'apps/web', from)}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {DOMAIN: b.lan}\n`,
    'apps/web/release.yaml': RELEASE.replace(`\${PORT}`, `\${PORT:=81}`),
  })
  assert.deepEqual(addons[0]?.chart.values, { host: 'web.b.lan', port: 81, script: `echo \${HOME} $USER` })
})

test('values of a ConfigMap that a kustomization makes are joined before those of the release', () => {
  const { addons } = read({
    ...REPOSITORY,
    'apps/web/kustomization.yaml': `resources: [release.yaml]
configMapGenerator: [{name: web-values, files: [values.yaml]}]
configurations: [names.yaml]
`,
    'apps/web/names.yaml':
      'nameReference: [{kind: ConfigMap, version: v1, fieldSpecs: [{path: spec/valuesFrom/name, kind: HelmRelease}]}]\n',
    'apps/web/values.yaml': 'a: {b: 1, c: 2}\nport: 1\n',
    'apps/web/release.yaml': `${RELEASE}  valuesFrom: [{kind: ConfigMap, name: web-values}]\n`.replace(
      'host:',
      'a: {c: 3}, host:',
    ),
  })
  const values = addons[0]?.chart.values as { a: unknown; port: unknown }
  assert.deepEqual([values.a, values.port], [{ b: 1, c: 3 }, 80])
})

test('what no Kustomization applies, and one that cannot be built, are named', () => {
  const idle = read({
    ...REPOSITORY,
    'apps/kustomization.yaml': 'resources: []\n',
    'flux/cluster.yaml': ks('apps', 'apps'),
  })
  // Without its Kustomization, web.yaml is read as a separate file.
  assert.equal(idle.addons.length, 1)
  const unnamed = read({ ...REPOSITORY, 'old/release.yaml': RELEASE.replaceAll('name: web', 'name: old') })
  assert.match(unnamed.why, /HelmRelease old \(old\/release\.yaml\): no Kustomization among the files applies it/)
  const broken = read({ ...REPOSITORY, 'apps/web/kustomization.yaml': 'resources: [gone.yaml]\n' })
  assert.match(broken.why, /Kustomization flux-system\/web: apps\/web\/kustomization\.yaml: gone\.yaml is not there/)
  const suspended = read({ ...REPOSITORY, 'apps/web.yaml': ks('web', 'apps/web', ', suspend: true') })
  assert.match(suspended.why, /Kustomization flux-system\/web: it is suspended/)
  assert.deepEqual([broken.addons, suspended.addons], [[], []])
})

test('a Kustomization that lies in its own directory is where Flux begins', () => {
  const sync = `${ks('flux-system', 'clusters/a')}---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: "ssh://git@git.lan/me", ref: {branch: main}}\n`
  const files = {
    'clusters/a/flux-system/sync.yaml': sync,
    'clusters/a/web.yaml': ks('web', 'apps/web', ', targetNamespace: sites'),
    'apps/web/release.yaml': RELEASE,
  }
  assert.equal(read(files).addons.length, 1)
  const two = {
    ...files,
    'clusters/b/flux-system/sync.yaml': sync.replace('clusters/a', 'clusters/b'),
    'clusters/b/other.yaml': ks('other', 'apps/web', ', targetNamespace: elsewhere'),
  }
  assert.match(
    read(two).problem ?? '',
    /several clusters: .* is in clusters\/a\/flux-system and in clusters\/b\/flux-system/,
  )
  assert.deepEqual(
    read(two, './clusters/b/').addons.map(({ namespace }) => namespace),
    ['elsewhere'],
  )
})

test('a release whose namespace nothing says is not put into another', () => {
  assert.match(read({ 'a.yaml': RELEASE }).why, /its namespace comes from the Kustomization that applies it/)
})
