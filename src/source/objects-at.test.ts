import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsAt } from './objects-at.ts'

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`
const names = (files: Readonly<Record<string, string>>, place: string) => {
  const found = objectsAt({ texts: new Map(Object.entries(files)) }, place)
  return 'objects' in found
    ? found.objects.map((one) => {
        const { metadata } = one as { metadata: { name: string; namespace?: string } }
        return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`
      })
    : found.problem
}

test('objects come from a file, a directory, a List or a kustomization, and nothing is run or fetched', () => {
  const files = {
    'a/one.yaml': `${map('one')}---\n${map('two')}`,
    'a/b/three.yml': map('three'),
    'a/notes.txt': 'not a manifest',
    'list.yaml': `apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n`,
    'k/kustomization.yaml': 'namespace: app\nresources: [../a/one.yaml]\n',
    'r/kustomization.yaml': 'resources: [https://example.org/x.yaml]\n',
    'broken/x.yaml': 'a: [1',
  }
  assert.deepEqual(names(files, 'a/one.yaml'), ['one', 'two'])
  assert.deepEqual(names(files, 'a'), ['three', 'one', 'two'])
  assert.deepEqual(names(files, 'list.yaml'), ['x'])
  assert.deepEqual(names(files, 'k'), ['app/one', 'app/two'])
  assert.match(String(names(files, 'r')), /^r\/kustomization\.yaml:1: .* is not fetched/)
  assert.match(String(names(files, 'broken')), /^broken\/x\.yaml:1: /)
  assert.match(String(names(files, 'nowhere')), /there is no file or directory nowhere/)
})

test('a file that is no plain text is not left out of a directory without a word', () => {
  const bytes = new Map([
    ['a/one.yaml', Buffer.from(map('one'))],
    ['a/two.yaml', Buffer.from(`${map('two')}data: {a: "\ufeff"}\n`)],
    ['a/icon.png', Buffer.from([0, 1])],
    ['k/kustomization.yaml', Buffer.from('resources: [../a/two.yaml]\n')],
  ])
  const texts = new Map(['a/one.yaml', 'k/kustomization.yaml'].map((file) => [file, String(bytes.get(file))]))
  for (const place of ['a', 'a/two.yaml'])
    assert.deepEqual(objectsAt({ texts, bytes }, place), {
      problem: 'a/two.yaml:4: the character U+FEFF cannot stand in a manifest',
    })
  assert.deepEqual(objectsAt({ texts, bytes }, 'k'), {
    problem: 'a/two.yaml:4: the character U+FEFF cannot stand in a manifest',
  })
})

test('a key twice, which kubectl and kustomize refuse, loses nothing silently', () => {
  const files = {
    'a/x.yaml': `${map('x')}data: {a: "1"}\ndata: {b: "2"}\n`,
    'k/kustomization.yaml': 'namespace: app\nresources: [../a/x.yaml]\n',
    'u/kustomization.yaml': 'resources: [x.yaml]\n',
    'u/x.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: }\ndata: {a: "b: }"}\n',
    't/x.yaml': `${map('x')}data: {a: !env A}\n`,
  }
  assert.equal(names(files, 'a'), 'a/x.yaml:5: the key data is in one map twice')
  assert.equal(names(files, 'k'), 'a/x.yaml:5: the key data is in one map twice')
  assert.match(String(names(files, 'u')), /^u\/x\.yaml:3: a value in braces is left out/)
  assert.deepEqual(names(files, 'u/x.yaml'), ['x'])
  assert.match(String(names(files, 't')), /^t\/x\.yaml:4: .*!env/)
})
