import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTexts } from './testing/fixture.ts'

/** Returns the thread's processor time and the memory held at the end: other load on the machine does not count. */
function cost(files: Readonly<Record<string, string>>) {
  const [before, heap] = [process.threadCpuUsage(), process.memoryUsage().heapUsed]
  const revision = readTexts(files)
  const { user, system } = process.threadCpuUsage(before)
  return { revision, ms: (user + system) / 1000, bytes: process.memoryUsage().heapUsed - heap }
}

const told = ({ revision }: ReturnType<typeof cost>) =>
  revision.problems.map(({ code, origin, message }) => `${code} ${origin.file} ${message}`).join('\n')

const vm = (name: string) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec: {forProvider: {nodeName: a, name: ${name}}}
`

test('[S-33] a patch that copies a tree into itself ends at the budget', () => {
  const lines = Array.from({ length: 60 }, (_, at) => `      - {op: copy, from: /spec, path: /spec/x${at}}`)
  const seen = cost({
    'kustomization.yaml': `resources: [a.yaml]
patches:
  - target: {kind: EnvironmentVM}
    patch: |
${lines.join('\n')}
`,
    'a.yaml': vm('a'),
  })
  assert.match(told(seen), /too-large kustomization.yaml what the kustomizations make has more than \d+ values/)
  assert.equal(seen.revision.incomplete, true, 'and what was in force stays')
  assert.ok(seen.ms < 3_000, `${seen.ms} ms`)
  assert.ok(seen.bytes < 200e6, `${seen.bytes} bytes`)
})

test('[S-33] overlays on overlays end at the budget', () => {
  const base = Array.from({ length: 3_000 }, (_, at) => vm(`m${at}`)).join('---\n')
  const overlays = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [
      `o${at}/kustomization.yaml`,
      `resources: [../base]\nnamePrefix: p${at}-\n`,
    ]),
  )
  const seen = cost({ ...overlays, 'base/kustomization.yaml': 'resources: [a.yaml]\n', 'base/a.yaml': base })
  assert.match(told(seen), /too-large o\d+\/kustomization.yaml what the kustomizations make has more than \d+/)
  assert.equal(seen.revision.incomplete, true)
  assert.ok(seen.ms < 20_000, `${seen.ms} ms`)
  assert.ok(seen.bytes < 600e6, `${seen.bytes} bytes`)
})

test('[S-33] many patches on many objects, and a large patch on each, end at the budget', () => {
  const objects = Array.from({ length: 3_000 }, (_, at) => vm(`m${at}`)).join('---\n')
  const patches = Array.from({ length: 900 }, () => `  - {target: {name: none}, patch: "[]"}`).join('\n')
  const many = cost({ 'kustomization.yaml': `resources: [a.yaml]\npatches:\n${patches}\n`, 'a.yaml': objects })
  assert.match(told(many), /too-large kustomization.yaml .* comparisons of an object with a patch/)
  const labels = Array.from({ length: 3_000 }, (_, at) => `l${at}: "x"`).join(', ')
  const large = cost({ 'kustomization.yaml': `resources: [a.yaml]\ncommonLabels: {${labels}}\n`, 'a.yaml': objects })
  assert.match(told(large), /too-large kustomization.yaml .* values/)
  for (const { ms } of [many, large]) assert.ok(ms < 10_000, `${ms} ms`)
})

test('[S-33] a tree of very many objects is refused as a whole', () => {
  const tiny = 'kind: A\napiVersion: v1\n---\n'.repeat(9_000)
  const seen = cost(Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`f${at}.yaml`, tiny])))
  assert.match(told(seen), /the tree is too large: 63000 objects; at most 50000/)
})

test('what people build is far from the budget', () => {
  const seen = cost({
    'base/kustomization.yaml': 'resources: [a.yaml]\n',
    'base/a.yaml': Array.from({ length: 100 }, (_, at) => vm(`m${at}`)).join('---\n'),
    ...Object.fromEntries(
      ['dev', 'test', 'prod'].map((name) => [
        `${name}/kustomization.yaml`,
        `resources: [../base]\nnamePrefix: ${name}-\npatches:\n  - target: {kind: EnvironmentVM}\n    patch: '[{op: add, path: /spec/forProvider/tags, value: [x]}]'\n`,
      ]),
    ),
  })
  assert.equal(told(seen), '')
  assert.equal(seen.revision.declarations.length, 300)
})

test('[S-33] replacements, variables and generators that multiply end at a limit', () => {
  const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: abcdefgh}\n'
  const doubling = `  - {source: {kind: ConfigMap, fieldPath: data.x}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.x], options: {delimiter: "-", index: 99999999}}]}\n`
  const doubled = cost({
    'kustomization.yaml': `resources: [a.yaml]\nreplacements:\n${doubling.repeat(60)}`,
    'a.yaml': config,
  })
  assert.match(
    told(doubled),
    /kustomize-patch kustomization.yaml a replacement makes a text of more than \d+ characters/,
  )
  const put = cost({
    'kustomization.yaml':
      'resources: [a.yaml]\nvars: [{name: A, objref: {kind: ConfigMap, name: a}, fieldref: {fieldpath: data.x}}]\n',
    'a.yaml': `${config.replace('abcdefgh', 'a'.repeat(100_000))}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, annotations: {a: "${'$(A)'.repeat(1000)}"}}\n`,
  })
  assert.match(told(put), /variables make a text of more than \d+ characters/)
  const entries = Array.from({ length: 500 }, (_, at) => `  - {name: m${at}, files: [big.json]}`).join('\n')
  const written = cost({
    'kustomization.yaml': `configMapGenerator:\n${entries}\n`,
    'big.json': `"${'x'.repeat(1_000_000)}"`,
  })
  assert.match(told(written), /too-large kustomization.yaml .* bytes in generated objects/)
  for (const { ms } of [doubled, put, written]) assert.ok(ms < 5_000, `${ms} ms`)
})
