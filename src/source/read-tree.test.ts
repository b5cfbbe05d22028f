import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import { createParseCache, type ParseCache } from './files/parse-cache.ts'
import { walkFiles } from './files/walk-files.ts'
import { readTree } from './read-tree.ts'
import { errorsOf, readText, readTexts, told, vmManifest } from './testing/fixture.ts'

const roots: string[] = []
after(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true })
})

function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'croft-tree-'))
  roots.push(root)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

test('every yaml, yml and json file below a directory is read, in one order, with its origin', async () => {
  const root = tree({
    'b/two.yml': vmManifest('vmId: 101', 'two'),
    'a/one.yaml': `# first\n---\n${vmManifest('vmId: 100', 'one')}`,
    'c.json': JSON.stringify(
      { apiVersion: 'croft.dev/v1alpha1', kind: 'Host', metadata: { name: 'h' }, spec: {} },
      null,
      '\t',
    ),
    'package.json': '{"name": "x"}',
    'notes.txt': 'not: [read',
    '.github/workflows/ci.yaml': 'not: [read',
    'node_modules/x/y.yaml': 'not: [read',
  })
  const revision = await readTree(root)
  assert.deepEqual(told(revision.problems), [])
  assert.deepEqual(
    revision.declarations.map(({ key, origin }) => `${key} ${origin.file}:${origin.line}:${origin.column}`),
    ['EnvironmentVM/one a/one.yaml:3:1', 'EnvironmentVM/two b/two.yml:1:1', 'Host/h c.json:1:1'],
  )
  assert.equal(revision.files, 4)
  assert.equal(revision.incomplete, false)
  assert.equal((await readTree(root)).id, revision.id)
  writeFileSync(join(root, 'a/one.yaml'), vmManifest('vmId: 102', 'one'))
  assert.notEqual((await readTree(root)).id, revision.id)
})

test('the generation follows the meaning, not the writing', () => {
  const generation = (fields: string) => readText(vmManifest(fields)).declarations[0]?.generation
  const plain = generation('vmId: 100\nstarted: true')
  assert.equal(generation('# why\nstarted: true\nvmId:   100 # because'), plain)
  assert.equal(generation('cpu: {cores: 2}'), generation('cpu:\n- cores: 2'))
  assert.notEqual(generation('vmId: 100\nstarted: false'), plain)
})

test('a List is each of its items, with their own places', () => {
  const item = (name: string, extra: string) =>
    `- apiVersion: croft.dev/v1alpha1\n  kind: Host\n  metadata: {name: ${name}}\n  spec: {${extra}}\n`
  const revision = readText(`apiVersion: v1\nkind: List\nitems:\n${item('a', '')}${item('b', 'nod: x')}`)
  assert.deepEqual(
    revision.declarations.map(({ key, origin }) => `${key} ${origin.line}:${origin.column}`),
    ['Host/a 4:3'],
  )
  assert.deepEqual(told(revision.problems), ['unknown-field 11:10 "nod" is not a field of spec (did you mean node?)'])
})

test('what is not ours is listed and left alone, however it is written', () => {
  const revision = readTexts({
    'a.yaml':
      'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec: {version: 1.10, <<: {}}\n---\napiVersion: v1\nkind: Namespace\n',
    'values.yaml': 'image: {tag: 1.10}\n',
    'infra/kustomization.yaml': 'resources: [b.yaml]\n',
    'infra/b.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n',
    'tf.yaml': 'apiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform\n',
  })
  assert.deepEqual(told(revision.problems), [])
  assert.deepEqual(
    revision.ignored.map(({ file, line, kind }) => `${file}:${line} ${kind}`),
    [
      'infra/kustomization.yaml:1 Kustomization',
      'a.yaml:1 HelmRelease',
      'a.yaml:6 Namespace',
      'values.yaml:1 ',
      'tf.yaml:1 Terraform',
      'infra/b.yaml:1 Namespace',
    ],
  )
})

test('unknown kinds and versions of our own groups are errors, known kinds that are not kept are warnings', () => {
  const kind = (apiVersion: string, name: string) =>
    told(readText(`apiVersion: ${apiVersion}\nkind: ${name}\nmetadata: {name: a}\nspec: {}\n`).problems)
  assert.deepEqual(kind('croft.dev/v1alpha1', 'Machin'), [
    'unknown-kind 2:7 Machin is not a kind of croft.dev (did you mean Machine?)',
  ])
  assert.deepEqual(kind('croft.dev/v1', 'Machine'), [
    'unknown-version 1:13 Machine is not known in croft.dev/v1 (write croft.dev/v1alpha1)',
  ])
  assert.match(kind('croft.dv/v1alpha1', 'Cluster')[0] ?? '', /^unknown-version 1:13 /)
  assert.deepEqual(kind('cloud.dev/v1', 'Cluster'), [])
  assert.deepEqual(kind('proxmoxve.crossplane.io/v1beta1', 'ProviderConfig'), [])
  assert.match(kind('virtualenvironmentvm.crossplane.io/v1beta9', 'EnvironmentVM')[0] ?? '', /^unknown-version 1:13 /)
  assert.match(
    kind('virtualenvironmentvm.crossplane.io/v1alpha1', 'EnvironmentVMs')[0] ?? '',
    /did you mean EnvironmentVM\?/,
  )
  assert.deepEqual(kind('proxmoxbpg.crossplane.io/v1alpha1', 'ProviderConfigUsage'), [
    'kind-not-kept 2:1 croft knows ProviderConfigUsage but does not keep it yet: this object is left alone',
  ])
  assert.match(told(readText('kind: Machine\n').problems)[0] ?? '', /^missing-field 1:1 apiVersion is missing/)
  assert.match(
    told(readText('apiVersion: croft.dev/v1alpha1\n').problems)[0] ?? '',
    /^missing-field 1:1 kind is missing/,
  )
})

test('the same object twice is an error that names both places, and neither counts as gone', () => {
  const revision = readTexts({ 'a.yaml': vmManifest('vmId: 100'), 'b.yaml': `\n${vmManifest('vmId: 101')}` })
  assert.deepEqual(told(revision.problems), [
    'duplicate-object 5:9 EnvironmentVM/web-1 is declared twice: here and at a.yaml:1:1 (remove one of them, or give it another name)',
  ])
  assert.deepEqual(revision.declarations, [])
  assert.deepEqual(revision.unreadable, ['EnvironmentVM/web-1'])
})

test('[S-12] one invalid object among 500 hides no other', () => {
  const files = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [
      `vm-${index}.yaml`,
      vmManifest(index === 250 ? 'vmId: nope' : `vmId: ${1000 + index}`, `vm-${index}`),
    ]),
  )
  const revision = readTexts(files)
  assert.equal(revision.declarations.length, 499)
  assert.deepEqual(told(revision.problems), ['wrong-type 8:11 vmId is "nope"; expected a whole number'])
  assert.deepEqual(revision.unreadable, ['EnvironmentVM/vm-250'])
  assert.equal(revision.incomplete, false)
})

test('[S-12] a document that nobody can read makes the revision incomplete and hides no other', () => {
  const revision = readText(
    `${vmManifest('vmId: 100')}---\nkind: Machine\na: [\n---\n${vmManifest('vmId: 101', 'web-2')}`,
  )
  assert.equal(revision.declarations.length, 2)
  assert.equal(revision.incomplete, true)
  assert.equal(errorsOf(revision).length, 1)
})

test('[S-08] links are not followed, inside or outside the tree', async () => {
  const outside = tree({
    'secret.yaml': vmManifest('vmId: 100', 'outside'),
    'd/x.yaml': vmManifest('vmId: 101', 'below'),
  })
  const root = tree({ 'a.yaml': vmManifest('vmId: 102', 'inside') })
  symlinkSync(join(outside, 'secret.yaml'), join(root, 'link.yaml'))
  symlinkSync(join(outside, 'd'), join(root, 'dir'))
  symlinkSync('a.yaml', join(root, 'same.yaml'))
  const revision = await readTree(root)
  assert.deepEqual(
    revision.declarations.map(({ name }) => name),
    ['inside'],
  )
  assert.deepEqual(
    revision.problems.map(({ code, origin, severity }) => `${severity} ${code} ${origin.file}`),
    ['warning symbolic-link link.yaml', 'warning symbolic-link same.yaml', 'warning not-read dir'],
  )
})

test('[S-08] what becomes a link between the look and the read leads nowhere', () => {
  const outside = tree({ 'x.yaml': 'outside', 'y.yaml': 'outside' })
  const swapped = (root: string, victim: string, target: string) =>
    walkFiles(root, (path) => {
      if (path !== victim) return
      renameSync(join(root, victim), join(root, '.moved'))
      symlinkSync(join(outside, target), join(root, victim))
    })
  const directory = swapped(tree({ 'd/x.yaml': 'inside' }), 'd', '.')
  assert.deepEqual(
    directory.files.map((file) => ('refused' in file ? file.refused.code : 'read')),
    ['unreadable'],
  )
  const file = swapped(tree({ 'x.yaml': 'inside' }), 'x.yaml', 'y.yaml')
  assert.deepEqual(
    file.files.map((entry) => ('refused' in entry ? entry.refused.code : 'read')),
    ['unreadable'],
  )
  // A directory further up is swapped while one below it is open: the open one is read, not the one that took its name.
  const root = tree({ 'd/e/x.yaml': 'inside' })
  const above = walkFiles(root, (path) => {
    if (path !== 'd/e/x.yaml') return
    renameSync(join(root, 'd'), join(root, '.moved'))
    symlinkSync(outside, join(root, 'd'))
    mkdirSync(join(outside, 'e'))
    writeFileSync(join(outside, 'e/x.yaml'), 'outside')
  })
  assert.deepEqual(
    above.files.map((entry) => ('bytes' in entry ? Buffer.from(entry.bytes).toString() : '')),
    ['inside'],
  )
})

test('[S-08] what is no regular file is refused and not waited for', async () => {
  const root = tree({ 'a.yaml': vmManifest('vmId: 102', 'inside') })
  execFileSync('mkfifo', [join(root, 'pipe.yaml')])
  const revision = await readTree(root)
  assert.deepEqual(told(revision.problems), ['unreadable 1:1 this is not a regular file'])
  assert.equal(revision.declarations.length, 1)
  assert.equal(revision.incomplete, true)
})

test('[S-09] files and trees beyond the limits are refused without being read', async () => {
  const root = tree({ 'a.yaml': vmManifest('vmId: 102', 'inside'), 'huge.yaml': '' })
  // A sparse file: a gigabyte that takes no room.
  truncateSync(join(root, 'huge.yaml'), 1024 ** 3)
  const before = process.memoryUsage().rss
  const revision = await readTree(root)
  assert.match(told(revision.problems)[0] ?? '', /^too-large 1:1 the file has 1073741824 bytes/)
  assert.equal(revision.declarations.length, 1)
  assert.ok(process.memoryUsage().rss - before < 256 * 1024 * 1024)

  const many = tree({})
  for (let index = 0; index <= LIMITS.files; index++) writeFileSync(join(many, `f${index}.yaml`), '')
  const refused = await readTree(many)
  assert.deepEqual(told(refused.problems), [
    `too-large 1:1 the tree is too large: more than ${LIMITS.files} manifest files`,
  ])
  assert.equal(refused.incomplete, true)
  assert.deepEqual(refused.declarations, [])

  const deep = tree({ [`${'d/'.repeat(LIMITS.directoryDepth + 2)}a.yaml`]: '' })
  assert.match(told((await readTree(deep)).problems)[0] ?? '', /levels deep/)
  const long = tree({ [`${`${'d'.repeat(200)}/`.repeat(6)}a.yaml`]: vmManifest('vmId: 1') })
  assert.match(told((await readTree(long)).problems)[0] ?? '', /^path-too-long 1:1 /)
})

test('what did not change is not judged again', async () => {
  const root = tree({ 'a.yaml': vmManifest('vmId: 100', 'a'), 'b.yaml': vmManifest('vmId: 101', 'b') })
  const cache = createParseCache()
  let judged = 0
  const counting: ParseCache = {
    ...cache,
    put(blob, entry) {
      judged++
      cache.put(blob, entry)
    },
  }
  const first = await readTree(root, { cache: counting })
  assert.equal(judged, 2)
  writeFileSync(join(root, 'b.yaml'), vmManifest('vmId: 102', 'b'))
  const second = await readTree(root, { cache: counting })
  assert.equal(judged, 3)
  assert.equal(second.declarations[0]?.spec, first.declarations[0]?.spec)
})

test('a problem that a kind finds later gets the place of its field', () => {
  const revision = readText(
    `${vmManifest('vmId: 100')}---\n${vmManifest('disk:\n  - interface: scsi0\n    size: 5', 'web-2')}`,
  )
  const declaration = revision.declarations[1]
  assert.ok(declaration)
  const problem = revision.problemAt(declaration, {
    code: 'x',
    path: ['spec', 'forProvider', 'disk', 0, 'size'],
    message: 'too small',
  })
  assert.deepEqual(told([problem]), ['x 19:15 too small'])
  assert.equal(problem.object, 'EnvironmentVM/web-2')
  assert.deepEqual(revision.locate(declaration, ['spec', 'nothing']), { file: 'a.yaml', line: 14, column: 1 })
})
