import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { createParseCache } from '../files/parse-cache.ts'
import { readCommit, resolveCommit } from '../git/git.ts'
import type { Revision } from '../git/revision.ts'
import { readTree } from '../read-tree.ts'
import { errorsOf, readTexts, told } from '../testing/fixture.ts'

const K = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
const net = (name: string, mtu = 1500) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata: {name: ${name}}\nspec: {mtu: ${mtu}}\n`
const FAST =
  'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n  - {target: {kind: Network}, patch: "spec: {mtu: 9000}"}\n'

/** Base, two overlays and a component, as people lay them out; one directory without a kustomization beside them. */
const LAYOUT = {
  'net/base/kustomization.yaml': `${K}resources: [lan.yaml]\n`,
  'net/base/lan.yaml': net('lan'),
  'net/base/draft.yaml': net('draft'),
  'net/parts/fast/kustomization.yaml': FAST,
  'net/overlays/home/kustomization.yaml': `${K}resources: [../../base]\ncomponents: [../../parts/fast]\nnamePrefix: home-\n`,
  'net/overlays/office/kustomization.yaml': `${K}resources: [../../base]\nnamePrefix: office-\n`,
  'plain/wan.yaml': net('wan'),
}

function declared(revision: Revision): readonly string[] {
  return revision.declarations
    .map(({ key, spec, origin }) => `${key} ${(spec as { readonly mtu: number }).mtu} ${origin.file}`)
    .sort()
}

const scratch = mkdtempSync(path.join(tmpdir(), 'croft-kustomize-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

function lay(name: string, files: Readonly<Record<string, string>>): string {
  const root = path.join(scratch, name)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), text)
  }
  return root
}

function commitAll(root: string): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], { cwd: root, stdio: 'pipe' })
  git('init', '--quiet', '-b', 'main')
  git('add', '.')
  git('commit', '--quiet', '-m', 'a')
}

describe('kustomizations in subdirectories', () => {
  test('overlays bring what they name, as they say; a base that is named is not read once more; the rest is read as it stands', () => {
    const revision = readTexts(LAYOUT)
    assert.deepEqual(told(revision.problems), [])
    assert.deepEqual(declared(revision), [
      'Network/home-lan 9000 net/base/lan.yaml',
      'Network/office-lan 1500 net/base/lan.yaml',
      'Network/wan 1500 plain/wan.yaml',
    ])
  })

  test('two overlays that bring the same object: neither counts, and both are named', () => {
    const revision = readTexts({
      ...LAYOUT,
      'net/overlays/home/kustomization.yaml': `${K}resources: [../../base]\n`,
      'net/overlays/office/kustomization.yaml': `${K}resources: [../../base]\n`,
    })
    assert.deepEqual(
      revision.problems.map(({ message }) => message),
      [
        'Network/lan is brought twice: by net/overlays/home/kustomization.yaml and by net/overlays/office/kustomization.yaml',
      ],
    )
    assert.deepEqual(revision.unreadable, ['Network/lan'])
    assert.deepEqual(declared(revision), ['Network/wan 1500 plain/wan.yaml'])
  })

  test('a circle among them is told once; a component that nobody names changes nothing and is listed', () => {
    const revision = readTexts({
      'a/kustomization.yaml': `${K}resources: [../b]\n`,
      'b/kustomization.yaml': `${K}resources: [../a]\n`,
      'c/kustomization.yaml': FAST,
      'wan.yaml': net('wan'),
    })
    assert.deepEqual(
      revision.problems.map(({ code }) => code),
      ['kustomize-cycle'],
    )
    assert.deepEqual(
      revision.ignored.map(({ file, kind }) => `${file} ${kind}`),
      ['a/kustomization.yaml Kustomization', 'b/kustomization.yaml Kustomization', 'c/kustomization.yaml Component'],
    )
    assert.deepEqual(declared(revision), ['Network/wan 1500 wan.yaml'])
  })

  test('one that cannot be built refuses deletes where it holds something of ours, and is a warning where it does not', () => {
    const remote = `${K}resources: [x.yaml, "https://github.com/x/y//base?ref=main"]\n`
    const ours = readTexts({ 'a/kustomization.yaml': remote, 'a/x.yaml': net('x') })
    assert.match(errorsOf(ours)[0]?.message ?? '', /y\/\/base\?ref=main is not fetched: main may mean something else/)
    assert.equal(ours.incomplete, true)
    assert.deepEqual(declared(ours), ['Network/x 1500 a/x.yaml'])
    const theirs = readTexts({
      'a/kustomization.yaml': remote,
      'a/x.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n',
      'wan.yaml': net('wan'),
    })
    assert.deepEqual(errorsOf(theirs), [])
    assert.match(theirs.problems[0]?.message ?? '', /may mean something else tomorrow/)
    assert.equal(theirs.incomplete, false)
  })
})

describe('a source that follows one overlay of a repository', () => {
  const HOME = ['Network/home-lan 9000 ../../base/lan.yaml']
  const overlay = 'net/overlays/home'

  test('finds the base beside it in Git, and a file of it by the same path', async () => {
    const root = lay('git', LAYOUT)
    commitAll(root)
    const revision = await readCommit(root, await resolveCommit(root, 'main'), { path: overlay })
    assert.deepEqual(told(revision.problems), [])
    assert.deepEqual(declared(revision), HOME)
    assert.equal(await revision.read?.('../../base/lan.yaml'), LAYOUT['net/base/lan.yaml'])
    assert.equal(await revision.read?.('../../../../etc/passwd'), undefined)
  })

  test('finds it in a work tree, notices its changes, and never looks above the repository', async () => {
    const root = lay('outer/tree', LAYOUT)
    lay('outer', { 'secret.yaml': net('secret') })
    commitAll(root)
    const before = await readTree(path.join(root, overlay))
    assert.deepEqual(told(before.problems), [])
    assert.deepEqual(declared(before), HOME)
    assert.equal(await before.read?.('../../base/lan.yaml'), LAYOUT['net/base/lan.yaml'])
    lay('outer/tree', { 'plain/wan.yaml': net('wan', 1400) })
    assert.equal((await readTree(path.join(root, overlay))).id, before.id, 'what it does not name is none of its')
    lay('outer/tree', { 'net/base/lan.yaml': net('lan2') })
    assert.notEqual((await readTree(path.join(root, overlay))).id, before.id)
    lay('outer/tree', { [`${overlay}/kustomization.yaml`]: `${K}resources: [../../../../secret.yaml]\n` })
    const out = await readTree(path.join(root, overlay))
    assert.match(errorsOf(out)[0]?.message ?? '', /secret.yaml leads out of what is read/)
    assert.equal(await out.read?.('../../../../secret.yaml'), undefined)
  })
})

test('files that did not change with the newest commit still bring their objects to add-ons', async () => {
  const root = lay('addons', {
    'apps/web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n',
    'lan.yaml': net('lan'),
  })
  commitAll(root)
  const cache = createParseCache()
  const commit = await resolveCommit(root, 'main')
  for (const time of ['first', 'again']) {
    const revision = await readCommit(root, commit, { cache })
    const found = revision.objectsAt?.('apps')
    assert.ok(found !== undefined && 'objects' in found, time)
    assert.equal(found.objects.length, 1, time)
  }
})

describe('a kustomization that cannot be built takes no declaration away', () => {
  const app = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\n'
  const broken = `${K}resources: [lan.yaml\nnamePrefix: home-\n`
  const refused: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['broken above its own file', { 'net/kustomization.yaml': broken, 'net/lan.yaml': net('lan') }],
    [
      'a broken overlay, whose base would stand for itself',
      {
        'net/base/kustomization.yaml': `${K}resources: [lan.yaml]\n`,
        'net/base/lan.yaml': net('lan'),
        'home/net/kustomization.yaml': `${K}resources: [../../net/base\nnamePrefix: home-\n`,
      },
    ],
    [
      'a broken base',
      {
        'net/base/kustomization.yaml': broken,
        'net/base/lan.yaml': net('lan'),
        'net/home/kustomization.yaml': `${K}resources: [../base]\n`,
      },
    ],
    [
      'a field that is not followed',
      { 'net/kustomization.yaml': `${K}resources: [lan.yaml]\nvalidators: [a.yaml]\n`, 'net/lan.yaml': net('lan') },
    ],
    [
      'a resource that was renamed',
      { 'net/kustomization.yaml': `${K}resources: [lan.yaml]\n`, 'net/home.yaml': net('lan') },
    ],
    [
      'an instance of an own API',
      {
        'api.yaml': 'apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: x}\n',
        'net/kustomization.yaml': broken,
        'net/lan.yaml': 'apiVersion: example.org/v1\nkind: Lan\nmetadata: {name: lan}\n',
      },
    ],
  ]
  for (const [what, files] of refused)
    test(what, () => {
      const errors = errorsOf(readTexts(files)).filter(({ origin }) => origin.file.endsWith('kustomization.yaml'))
      assert.notDeepEqual(errors, [])
    })

  test('the error names the line', () => {
    const revision = readTexts({ 'net/kustomization.yaml': broken, 'net/lan.yaml': net('lan') })
    assert.deepEqual(
      errorsOf(revision).map(({ origin }) => `${origin.file}:${origin.line}`),
      ['net/kustomization.yaml:4'],
    )
  })

  test('one of an application, beside declarations, is worth a warning', () => {
    const revision = readTexts({
      'net/kustomization.yaml': `${K}resources: [lan.yaml]\n`,
      'net/lan.yaml': net('lan'),
      'apps/kustomization.yaml': `${K}resources: [app.yaml, ../shared]\nvalidators: [a.yaml]\n`,
      'apps/app.yaml': app,
      'apps/unused.yaml': 'apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nspec:\n{}\n',
      'shared/kustomization.yaml': `${K}resources: [gone.yaml]\n`,
    })
    assert.deepEqual(errorsOf(revision), [])
    assert.deepEqual(declared(revision), ['Network/lan 1500 net/lan.yaml'])
  })
})
