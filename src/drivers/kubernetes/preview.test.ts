import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import { fieldChanges } from './diff.ts'
import { previewChanges } from './preview.ts'
import { applied, wanted } from './testing/fixture.ts'

const lines = (before: Foreign | undefined, after: Foreign) =>
  previewChanges(before, after).map(({ path, from, to }) => [path, from, to])

test('a preview names every field that would be another, and none that the server or our mark writes', () => {
  const before = applied(wanted(), [], {
    spec: {
      replicas: 1,
      list: [
        { name: 'a', v: 1 },
        { name: 'b', v: 2 },
      ],
      old: true,
    },
  })
  const metadata = before.metadata as Foreign
  const after = {
    ...before,
    metadata: {
      ...metadata,
      generation: 2,
      resourceVersion: '9',
      labels: { ...(metadata.labels as object), new: 'x' },
    },
    spec: {
      replicas: 2,
      list: [
        { name: 'c', v: 3 },
        { name: 'a', v: 1 },
      ],
      default: 'filled in',
    },
    status: { any: 'thing' },
  }
  assert.deepEqual(lines(before, after), [
    ['metadata.labels.new', undefined, 'x'],
    ['spec.replicas', 1, 2],
    ['spec.list[name=b].name', 'b', undefined],
    ['spec.list[name=b].v', 2, undefined],
    ['spec.list[name=c].name', undefined, 'c'],
    ['spec.list[name=c].v', undefined, 3],
    ['spec.old', true, undefined],
    ['spec.default', undefined, 'filled in'],
  ])
})

test('of something new every field is shown, but for its name and our mark', () => {
  const object = applied(wanted()) as Foreign
  assert.deepEqual(
    lines(undefined, { ...object, metadata: { ...(object.metadata as object), managedFields: undefined } }),
    [['data.a', undefined, '1']],
  )
})

test('what is empty and says something is shown as well', () => {
  const policy = (spec: object) => ({ kind: 'NetworkPolicy', metadata: { name: 'n' }, spec })
  assert.deepEqual(lines(undefined, policy({ podSelector: {}, ingress: [] })), [
    ['spec.podSelector', undefined, {}],
    ['spec.ingress', undefined, []],
  ])
  assert.deepEqual(lines(policy({ podSelector: {} }), policy({ podSelector: {} })), [])
  assert.deepEqual(lines(policy({ podSelector: {} }), policy({})), [['spec.podSelector', {}, undefined]])
})

test('values of a chart are compared one by one; a text that croft did not write stays a text', () => {
  const chart = (valuesContent: string, version = '1.0.0') => ({
    apiVersion: 'helm.cattle.io/v1',
    kind: 'HelmChart',
    metadata: { name: 'c', namespace: 'kube-system' },
    spec: { version, valuesContent },
  })
  const text = (values: object) => JSON.stringify(values, undefined, 2)
  const changes = (from: string, to: string, version?: string) =>
    fieldChanges(chart(to, version), chart(from) as Foreign, false).map((one) => [one.path, one.from, one.to])
  assert.deepEqual(changes(text({ a: { b: 1, c: [1] } }), text({ a: { b: 2, c: [1] }, d: true }), '1.1.0'), [
    ['spec.version', '1.0.0', '1.1.0'],
    ['spec.valuesContent.a.b', 1, 2],
    ['spec.valuesContent.d', undefined, true],
  ])
  assert.deepEqual(changes('a: 1\n', text({ a: 2 })), [['spec.valuesContent', 'a: 1\n', text({ a: 2 })]])
  assert.deepEqual(changes(text({ a: 1 }), text({ a: 1 })), [])
})
