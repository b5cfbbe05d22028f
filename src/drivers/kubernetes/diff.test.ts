import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import { fieldChanges } from './diff.ts'

const SAME: readonly [string, Foreign, Foreign][] = [
  ['an empty list, and none', { args: [] }, {}],
  ['an empty list, and null', { args: [] }, { args: null }],
  ['an empty map inside a list, and none', { rules: [{ port: 80, match: {} }] }, { rules: [{ port: 80 }] }],
  ['null inside a list, and none', { rules: [{ port: 80, match: null }] }, { rules: [{ port: 80 }] }],
  ['what the server adds inside a list', { rules: [{ port: 80 }] }, { rules: [{ port: 80, protocol: 'TCP' }] }],
]
const OTHER: readonly [string, Foreign, Foreign][] = [
  ['an empty list, and a full one', { args: [] }, { args: ['x'] }],
  ['a full list, and none', { args: ['x'] }, {}],
  ['a list that has one entry more', { args: ['x'] }, { args: ['x', 'y'] }],
  ['another value inside a list', { args: [{ a: { b: 1 } }] }, { args: [{ a: { b: 2 } }] }],
  ['zero, and none', { args: 0 }, {}],
  ['false, and none', { args: false }, {}],
]

const changed = (declared: Foreign, live: Foreign) =>
  fieldChanges(
    { apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name: 'x' }, spec: declared },
    { spec: live },
    false,
  ).map(({ path }) => path)

for (const [name, declared, live] of SAME)
  test(`the same for the server: ${name}`, () => assert.deepEqual(changed(declared, live), []))
for (const [name, declared, live] of OTHER)
  test(`another for the server: ${name}`, () => assert.deepEqual(changed(declared, live), ['spec.args']))
