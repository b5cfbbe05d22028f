import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, readTexts, told, vmManifest } from '../testing/fixture.ts'

const VARIABLE = `${'$'}{SSH_KEYS}`

/** Common forms of templates beside manifests. None of them is YAML. */
const TEMPLATES = {
  'roles/cilium/templates/pool.yaml':
    'apiVersion: cilium.io/v2\nkind: CiliumLoadBalancerIPPool\nspec:\n  blocks:\n    {% for cidr in pools %}\n    - cidr: {{ cidr }}\n    {% endfor %}\n',
  'boilerplate/app.yaml': 'kind: Kustomization\nmetadata:\n  name: {{ .app_name }}-app\n',
  'pkg/proxy.yaml':
    'kind: Deployment\nspec:\n  containers:\n    - name: proxy\n      {{ if ne .Image "" }}\n      image: {{ .Image }}\n      {{ end }}\n',
  'clusters/template.yaml': `kind: KubeadmConfig\nusers:\n  - name: root\n    sshAuthorizedKeys: [${VARIABLE}]\n`,
}

test('templates of other tools are named one by one and stop nothing', () => {
  const revision = readTexts({ ...TEMPLATES, 'web.yaml': vmManifest('vmId: 100', 'web') })
  assert.deepEqual(told(revision.problems), [])
  assert.equal(revision.incomplete, false)
  assert.deepEqual(
    revision.declarations.map(({ key }) => key),
    ['EnvironmentVM/web'],
  )
  assert.deepEqual(
    revision.ignored.map(({ file, note }) => `${file}: ${note}`),
    [
      'roles/cilium/templates/pool.yaml: a Jinja template, no manifest before it is rendered',
      'boilerplate/app.yaml: a template with {{ }}, no manifest before it is rendered',
      'pkg/proxy.yaml: a template with {{ }}, no manifest before it is rendered',
      'clusters/template.yaml: a template with variables of a shell, no manifest before it is rendered',
    ],
  )
})

test('a manifest of ours that cannot be read stays an error, whatever marks are in it', () => {
  for (const text of [
    vmManifest('vmId: {{ id }}-x', 'web'),
    'apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: {name: web}\nspec:\n  {% if x %}\n  host: a\n',
  ]) {
    const revision = readTexts({ 'web.yaml': text })
    assert.equal(errorsOf(revision)[0]?.code, 'yaml-syntax')
    assert.equal(revision.incomplete, true)
  }
})

test('a syntax error away from any mark stays an error', () => {
  const revision = readTexts({ 'a.yaml': `kind: Machine\ndata: {x: "${VARIABLE}"}\nb: c: d\n` })
  assert.equal(revision.incomplete, true)
  assert.equal(errorsOf(revision).length > 0, true)
})

test('what is wrong with a paused object is a warning, and the object does not count as gone', () => {
  const wrong = (paused: boolean) =>
    readTexts({
      'image.yaml': `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: noble, annotations: {crossplane.io/paused: "${paused}"}}
spec:
  forProvider:
    nodeName: pve
    datastoreId: local
    contentType: import
    url: https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img
    fileName: noble-server-cloudimg-amd64.img
`,
    })
  assert.equal(errorsOf(wrong(false)).length, 1)
  const paused = wrong(true)
  assert.deepEqual(errorsOf(paused), [])
  assert.match(told(paused.problems)[0] ?? '', /\.img does not; the object is paused and left out until then/)
  assert.deepEqual(paused.declarations, [])
  assert.deepEqual(paused.unreadable, ['EnvironmentDownloadFile/noble'])
})

test('every file below a kustomization is named: what it builds, what it uses and what it does not name', () => {
  const files = {
    'apps/kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: patch.yaml}]\n',
    'apps/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "1"}\n',
    'apps/patch.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "2"}\n',
    'apps/app/release.yaml': 'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\n',
    'boilerplate/kustomization.yaml': 'namePrefix: {{ .name }}-x\n',
  }
  const revision = readTexts({ ...files, 'apps/app/old.yaml': vmManifest('vmId: 100', 'old') })
  assert.deepEqual(revision.declarations, [])
  assert.deepEqual(
    revision.ignored.map(({ file, kind, note }) => `${file} ${kind}: ${note}`),
    [
      'apps/kustomization.yaml Kustomization: built',
      'apps/patch.yaml : part of a kustomization',
      'apps/app/release.yaml HelmRelease: no kustomization names it',
      'boilerplate/kustomization.yaml Kustomization: built',
      'apps/app/old.yaml EnvironmentVM: no kustomization names it',
      'apps/a.yaml ConfigMap: undefined',
    ],
  )
  const told = ({ problems }: typeof revision) =>
    problems.map(({ severity, code, message }) => `${severity} ${code} ${message}`)
  const message = 'template this kustomization is a template with {{ }}, no manifest before it is rendered'
  assert.deepEqual(told(readTexts(files)), [`warning ${message}`])
  // The unread template may have declared the machine.
  assert.deepEqual(told(revision), [`error ${message}`])
})
