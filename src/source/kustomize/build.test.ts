import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudget } from '../budget.ts'
import { readFiles } from '../files/read-files.ts'
import { told, vmManifest } from '../testing/fixture.ts'
import { buildKustomization } from './build.ts'
import { jsonPatch, PatchFailed } from './json-patch.ts'
import { mergePatch } from './merge-patch.ts'

const K = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
const NETWORK = 'apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata: {name: lan}\nspec: {mtu: 1500}\n'

function built(files: Readonly<Record<string, string>>) {
  const { documents, findings } = buildKustomization({ texts: new Map(Object.entries(files)) })
  return {
    values: documents.map(({ read }) => JSON.parse(JSON.stringify(read.value)) as Record<string, never>),
    findings,
    documents,
  }
}

function read(files: Readonly<Record<string, string>>) {
  const encoder = new TextEncoder()
  return readFiles({
    files: Object.entries(files).map(([path, text]) => ({ path, bytes: encoder.encode(text) })),
    links: [],
  })
}

test('only what the kustomization names counts; prefix, suffix, namespace, labels and annotations go onto it', () => {
  const { values, findings } = built({
    'kustomization.yaml': `${K}resources: [base, extra.yaml]\nnamePrefix: home-\nnameSuffix: -x\nnamespace: prod\ncommonLabels: {a: "1"}\nlabels: [{pairs: {b: "2"}}]\ncommonAnnotations: {c: "3"}\n`,
    'base/kustomization.yaml': `${K}resources: [net.yaml]\nnamePrefix: inner-\n`,
    'base/net.yaml': NETWORK,
    'base/unused.yaml': NETWORK,
    'extra.yaml': NETWORK.replace('name: lan', 'name: wan, labels: {a: "0", z: "9"}'),
  })
  assert.deepEqual(findings, [])
  assert.deepEqual(
    values.map((value) => value.metadata),
    [
      { name: 'home-inner-lan-x', namespace: 'prod', labels: { a: '1', b: '2' }, annotations: { c: '3' } },
      { name: 'home-wan-x', namespace: 'prod', labels: { a: '1', z: '9', b: '2' }, annotations: { c: '3' } },
    ],
  )
})

test('a patch that is plain text is told what to write', () => {
  for (const [entry, hint] of [
    ['bigger.yaml', 'write "- path: bigger.yaml"'],
    ['"spec: {mtu: 9000}"', 'write "- patch: |-" and the patch indented below it'],
  ]) {
    const { findings } = built({ 'kustomization.yaml': `${K}patches:\n  - ${entry}\n` })
    assert.equal(findings[0]?.hint, hint)
    assert.match(findings[0]?.message ?? '', /^patches\.0 is plain text; a patch is a block/)
  }
  const { findings } = built({ 'kustomization.yaml': `${K}patches: bigger.yaml\n` })
  assert.match(findings[0]?.message ?? '', /^patches: /, 'not an entry: nothing is known about it')
})

test('patches of every form, by the name before and after a prefix, onto one or many', () => {
  const { values, findings } = built({
    'kustomization.yaml': `${K}resources: [base]
patchesStrategicMerge: [mtu.yaml]
patches:
  - target: {kind: Network, name: .*}
    patch: |
      - {op: add, path: /metadata/labels, value: {all: "yes"}}
  - target: {kind: Network, labelSelector: all=yes, name: pre-wan}
    patch: |
      kind: ignored
      metadata: {name: ignored}
      spec: {mtu: null, vlan: 7}
  - patch: |
      apiVersion: croft.dev/v1alpha1
      kind: Network
      metadata: {name: gone}
      $patch: delete
patchesJson6902:
  - target: {kind: Network, name: pre-lan}
    path: op.yaml
`,
    'op.yaml': '- {op: replace, path: /spec/mtu, value: 9000}\n',
    'mtu.yaml': NETWORK.replace('1500', '1400'),
    'base/kustomization.yaml': `${K}namePrefix: pre-\nresources: [net.yaml]\n`,
    'base/net.yaml': [NETWORK, NETWORK.replace('lan', 'wan'), NETWORK.replace('lan', 'gone')].join('---\n'),
  })
  assert.deepEqual(findings, [])
  assert.deepEqual(
    values.map(({ metadata, spec }) => ({ metadata, spec })),
    [
      { metadata: { name: 'pre-lan', labels: { all: 'yes' } }, spec: { mtu: 9000 } },
      { metadata: { name: 'pre-wan', labels: { all: 'yes' } }, spec: { vlan: 7 } },
    ],
  )
})

test('a component changes what was gathered before it', () => {
  const { values, findings } = built({
    'kustomization.yaml': `${K}resources: [net.yaml]\ncomponents: [fast]\n`,
    'net.yaml': NETWORK,
    'fast/kustomization.yaml':
      'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n  - target: {kind: Network}\n    patch: |\n      spec: {mtu: 9000}\n',
  })
  assert.deepEqual(findings, [])
  assert.deepEqual(
    values.map((value) => value.spec),
    [{ mtu: 9000 }],
  )
})

test('[S-09] circles, remote bases, ways out, missing files and unknown fields are refused, and nothing may be deleted', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    [
      'circle',
      {
        'a/kustomization.yaml': `${K}resources: [../b]\n`,
        'b/kustomization.yaml': `${K}resources: [../a]\n`,
        'kustomization.yaml': `${K}resources: [a]\n`,
      },
      /lead in a circle: .*a\/kustomization.yaml → b\/kustomization.yaml → a\/kustomization.yaml/,
    ],
    ['itself', { 'kustomization.yaml': `${K}resources: [.]\n` }, /circle/],
    [
      'remote',
      { 'kustomization.yaml': `${K}resources: ["https://github.com/x/y//base?ref=main"]\n` },
      /is not fetched: main may mean something else tomorrow/,
    ],
    ['remote', { 'kustomization.yaml': `${K}resources: ["github.com/x/y"]\n` }, /is not fetched: its default branch/],
    [
      'remote',
      { 'kustomization.yaml': `${K}bases: ["git@github.com:x/y"]\n` },
      /is not fetched: croft fetches bases over https alone/,
    ],
    ['out', { 'kustomization.yaml': `${K}resources: ["../x.yaml"]\n` }, /leads out/],
    ['out', { 'kustomization.yaml': `${K}resources: ["/etc/passwd"]\n` }, /leads out/],
    ['missing', { 'kustomization.yaml': `${K}resources: [x.yaml]\n` }, /x.yaml is not there/],
    ['field', { 'kustomization.yaml': `${K}crds: []\n` }, /crds is not followed/],
    ['chart', { 'kustomization.yaml': `${K}helmCharts: [{name: a}]\n` }, /the chart a: charts of a directory/],
    ['patch', { 'kustomization.yaml': `${K}patches: [{path: x.yaml}]\n` }, /x.yaml is not there/],
    [
      'patch',
      {
        'kustomization.yaml': `${K}resources: [n.yaml]\npatches: [{patch: "apiVersion: croft.dev/v1alpha1\\nkind: Network\\nmetadata: {name: other}"}]\n`,
        'n.yaml': NETWORK,
      },
      /Network\/other \(croft.dev\/v1alpha1\), which is not there/,
    ],
    ['yaml', { 'kustomization.yaml': 'resources: [\n' }, /./],
  ]
  for (const [name, files, message] of cases) {
    const revision = read(files)
    assert.ok(
      revision.problems.some((problem) => message.test(problem.message)),
      `${name}: ${JSON.stringify(revision.problems)}`,
    )
    assert.equal(revision.incomplete, true, name)
  }
})

test('the namespace of an overlay above a chart of another one is refused: versions of kustomize differ', () => {
  const chart = (more: string) =>
    `${K}helmCharts: [{name: web, repo: "https://c.example.org", version: 1.2.3, releaseName: web${more}}]\n`
  const over = (more: string) =>
    built({
      'kustomization.yaml': `${K}namespace: sites\nresources: [base]\n`,
      'base/kustomization.yaml': chart(more),
    }).findings.map(({ file, message }) => `${file}: ${message}`)
  for (const more of ['', ', namespace: other'])
    assert.match(over(more).join(), /^kustomization.yaml: namespace: sites stands above the chart web of base\/kustom/)
  assert.match(over(', namespace: sites').join(), /^base\/kustomization.yaml: the chart web is elsewhere/)
})

test('[S-09] a chain that doubles at every step ends at the limit', () => {
  const files: Record<string, string> = { 'kustomization.yaml': `${K}resources: [d0]\n`, 'n.yaml': NETWORK }
  for (let n = 0; n < 30; n++) files[`d${n}/kustomization.yaml`] = `${K}resources: [../d${n + 1}, ../d${n + 1}]\n`
  files['d30/kustomization.yaml'] = `${K}resources: []\n`
  assert.ok(built(files).findings.some((finding) => finding.code === 'too-large'))
})

test('what is wrong with a manifest is told where it was written, though a kustomization brought it', () => {
  const revision = read({
    'kustomization.yaml': `${K}resources: [machines/a.yaml]\nnamePrefix: p-\n`,
    'machines/a.yaml': `# first\n---\n${vmManifest('vmId: 100\nnonsense: 1', 'a')}`,
  })
  const [problem] = revision.problems
  assert.match(told(revision.problems).join('\n'), /nonsense/)
  assert.equal(problem?.origin.file, 'machines/a.yaml')
  assert.equal(problem?.object, 'EnvironmentVM/p-a')
  const good = read({
    'kustomization.yaml': `${K}resources: [machines/a.yaml]\n`,
    'machines/a.yaml': `# first\n\n${vmManifest('vmId: 100', 'a')}`,
    'other.yaml': vmManifest('vmId: 101', 'b'),
  })
  assert.deepEqual(
    good.declarations.map(({ key, origin }) => `${key} ${origin.file}:${origin.line}`),
    ['EnvironmentVM/a machines/a.yaml:3'],
  )
})

test('RFC 6902 and merging, row by row', () => {
  const base = { a: [1, 2], b: { c: 'x' } }
  const ops = (...operations: unknown[]) =>
    JSON.parse(JSON.stringify(jsonPatch(base, operations, createBudget()))) as unknown
  assert.deepEqual(ops({ op: 'add', path: '/a/-', value: 3 }), { a: [1, 2, 3], b: { c: 'x' } })
  assert.deepEqual(ops({ op: 'add', path: '/a/0', value: 0 }), { a: [0, 1, 2], b: { c: 'x' } })
  assert.deepEqual(ops({ op: 'remove', path: '/b/c' }), { a: [1, 2], b: {} })
  assert.deepEqual(ops({ op: 'move', from: '/b/c', path: '/d' }), { a: [1, 2], b: {}, d: 'x' })
  assert.deepEqual(ops({ op: 'copy', from: '/a/1', path: '/b/e~1f' }), { a: [1, 2], b: { c: 'x', 'e/f': 2 } })
  for (const bad of [
    { op: 'replace', path: '/a/9', value: 1 },
    { op: 'remove', path: '/a/9' },
    { op: 'test', path: '/b/c', value: 'y' },
    { op: 'add', path: '/__proto__/x', value: 1 },
    { op: 'add', path: 'a', value: 1 },
    { op: 'nonsense', path: '/a' },
  ])
    assert.throws(() => ops(bad), PatchFailed, JSON.stringify(bad))
  const list = [
    { name: 'a', x: 1 },
    { name: 'b', x: 2 },
  ]
  assert.deepEqual(JSON.parse(JSON.stringify(mergePatch(list, [{ name: 'b', y: 3 }, { name: 'c' }], 'by-name'))), [
    { name: 'a', x: 1 },
    { name: 'b', x: 2, y: 3 },
    { name: 'c' },
  ])
  assert.deepEqual(mergePatch(list, [{ name: 'b' }], { shape: undefined }), [{ name: 'b' }])
})

test('a component among the resources is refused, as kustomize refuses it', () => {
  const texts = new Map([
    ['kustomization.yaml', 'resources:\n- part\n'],
    ['part/kustomization.yaml', 'kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nnamePrefix: a-\n'],
  ])
  const [found] = buildKustomization({ texts }).findings
  assert.deepEqual(
    { ...found },
    {
      file: 'kustomization.yaml',
      line: 2,
      code: 'kustomize-component',
      message: 'part is a Component',
      hint: 'name it under components, not under resources',
    },
  )
})
