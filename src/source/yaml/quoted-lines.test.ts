import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDocuments } from '../manifest.ts'
import { deeperQuotes } from './quoted-lines.ts'

const crd = (apiVersion: string) => `apiVersion: ${apiVersion}
kind: Thing
metadata:
  name: web
spec:
  description: 'one''s first
  second: third

  fourth'
  items:
  - "five
  six \\" seven"
  text: |
    key: 'not opened
  last: 0400
`

/** Recorded from sigs.k8s.io/yaml v1.6.0. */
const READ = {
  description: "one's first second: third\nfourth",
  items: ['five six " seven'],
  text: "key: 'not opened\n",
  last: 256,
}

test('quoted lines beside their key are read as kubectl reads them', () => {
  const [read] = readDocuments(crd('v1'), 'kubectl')
  assert.deepEqual(read?.findings, [])
  assert.deepEqual(JSON.parse(JSON.stringify(read?.value)).spec, READ)
})

test('at the left edge too', () => {
  const [read] = readDocuments('a: "x\ny: z"\nb: 1\n', 'kubectl')
  assert.deepEqual({ ...(read?.value as object) }, { a: 'x y: z', b: 1 })
})

test('somebody else’s object in a repository is no error, one of croft is', () => {
  const weights = (apiVersion: string) =>
    readDocuments(crd(apiVersion)).flatMap(({ findings }) => findings.map(({ weight, code }) => `${weight} ${code}`))
  assert.deepEqual(weights('example.org/v1'), ['strict ambiguous-number'])
  assert.ok(weights('croft.dev/v1alpha1').includes('syntax yaml-syntax'))
})

test('a finding behind moved lines keeps its place', () => {
  const text = crd('example.org/v1')
  const [read] = readDocuments(text)
  assert.equal(read?.findings[0]?.offset, text.indexOf('0400'))
})

test('what is indented as it should be is left as it is', () => {
  assert.equal(deeperQuotes('a:\n  b: "one\n    two"\n  c: it\'s\n  d: [\'x\',\n "y"]\n'), undefined)
})

test('a quote that nobody closes stays an error', () => {
  const [read] = readDocuments("apiVersion: v1\nkind: Thing\na:\n  b: 'one\n  c: two\n", 'kubectl')
  assert.ok(read?.findings.some(({ weight }) => weight === 'syntax'))
})

test('an alias may be a key to tools of Kubernetes, and the braces of a template may not', () => {
  const [aliased] = readDocuments('name: &app web\ncontrollers:\n  *app :\n    on: 1\n', 'kubectl')
  assert.deepEqual(JSON.parse(JSON.stringify(aliased)).value, { name: 'web', controllers: { web: { true: 1 } } })
  for (const dialect of ['kubectl', 'kustomize'] as const) {
    const [template] = readDocuments('apiVersion: v1\nkind: Thing\nname: {{ .name }}\n', dialect)
    assert.deepEqual(
      template?.findings.map(({ weight, code }) => `${weight} ${code}`),
      ['syntax bad-key'],
    )
  }
})
