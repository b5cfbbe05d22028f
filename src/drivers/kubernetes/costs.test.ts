import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { KubeObject } from '../../model/kube-object.ts'
import { objectsIn } from '../../source/objects-at.ts'
import { fieldChanges } from './diff.ts'
import { previewChanges } from './preview.ts'

/*
 * Others decide how large an object is, so comparing it must cost time in proportion to its size: each of these took
 * from ten seconds to minutes when every field was compared with every other.
 */

/** Limit of processor time, generous for slow computers. Each takes less than half a second. */
const MOST_MS = 8_000
const COUNT = 20_000

const named = (fields: object, metadata: object = {}): Foreign => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', ...metadata },
  ...fields,
})
const each = (make: (at: number) => readonly [string, unknown]) =>
  Object.fromEntries(Array.from({ length: COUNT }, (_, at) => make(at)))
const list = <T>(make: (at: number) => T) => Array.from({ length: COUNT }, (_, at) => make(at))
const kept = (fieldsV1: object, manager = 'croft') => ({ manager, operation: 'Apply', fieldsV1 })
const long = 'k'.repeat(500_000)

const CASES: Readonly<
  Record<string, { readonly declared: Foreign; readonly live: Foreign; readonly applied?: boolean }>
> = {
  'entries by name': {
    declared: named({ spec: { list: list((at) => ({ name: `n${at}`, value: 'a' })) } }),
    live: named({ spec: { list: list((at) => ({ name: `n${at}`, value: 'b' })) } }),
  },
  'entries by a key of the server': {
    declared: named({ spec: { ports: list((at) => ({ port: at, name: 'a' })) } }),
    live: named(
      { spec: { ports: list((at) => ({ port: at, protocol: 'TCP', name: 'b' })) } },
      {
        managedFields: [
          kept({ 'f:spec': { 'f:ports': each((at) => [`k:${JSON.stringify({ port: at, protocol: 'TCP' })}`, {}]) } }),
        ],
      },
    ),
  },
  'entries without the key of the server': {
    declared: named({ spec: { ports: list((at) => ({ other: at })) } }),
    live: named(
      { spec: { ports: list((at) => ({ other: at })) } },
      { managedFields: [kept({ 'f:spec': { 'f:ports': { 'k:{"port":1}': {} } } })] },
    ),
  },
  'entries of a set': {
    declared: named({ spec: { set: list((at) => `a${at}`) } }),
    live: named(
      { spec: { set: list((at) => `b${at}`) } },
      { managedFields: [kept({ 'f:spec': { 'f:set': each((at) => [`v:"b${at}"`, {}]) } })] },
    ),
  },
  'fields that were ours': {
    declared: named({ spec: each((at) => [`a${at}`, 'x']) }),
    live: named(
      { spec: each((at) => [`b${at}`, 'x']) },
      { managedFields: [kept({ 'f:spec': each((at) => [`f:b${at}`, {}]) })] },
    ),
  },
  'fields that somebody took': {
    declared: named({ spec: each((at) => [`a${at}`, 'x']) }),
    live: named(
      { spec: each((at) => [`b${at}`, 'x']) },
      { managedFields: [kept({ 'f:spec': each((at) => [`f:b${at}`, {}]) })] },
    ),
    applied: true,
  },
  'a name as long as a document': {
    declared: named({ spec: { [long]: each((at) => [`a${at}`, 'x']) } }),
    live: named({ spec: { [long]: each((at) => [`a${at}`, 'y']) } }),
  },
  'a long name in what the server says': {
    declared: named({ spec: { a: 'b' } }),
    live: named({ spec: { a: 'b' } }, { managedFields: [kept({ [`f:${long}`]: each((at) => [`f:a${at}`, {}]) })] }),
  },
  'many who keep fields': {
    declared: named({ spec: { a: 'b' } }),
    live: named(
      { spec: { a: 'b' } },
      {
        managedFields: [
          kept({ 'f:spec': each((at) => [`f:a${at}`, {}]) }),
          ...Array.from({ length: 5_000 }, (_, at) => kept({ 'f:spec': { [`f:z${at}`]: {} } }, `m${at}`)),
        ],
      },
    ),
  },
}

for (const [name, { declared, live, applied = false }] of Object.entries(CASES))
  test(`[S-53] ${name}: compared in time that grows with their number alone`, () => {
    const before = process.threadCpuUsage()
    fieldChanges(declared as unknown as KubeObject, live, applied)
    previewChanges(live, declared)
    const { user, system } = process.threadCpuUsage(before)
    assert.ok((user + system) / 1000 < MOST_MS, `${(user + system) / 1000} ms of processor time`)
  })

test('[S-53] a name that is too long to be shown is compared with what it names, as one', () => {
  const of = (value: string) => named({ spec: { [long]: { a: value, b: 'c' } } })
  const changes = (from: string, to: string) => [
    fieldChanges(of(to) as unknown as KubeObject, of(from), false).map(({ path }) => path),
    previewChanges(of(from), of(to)).map(({ path }) => path),
  ]
  assert.deepEqual(changes('x', 'x'), [[], []])
  assert.deepEqual(changes('x', 'y'), [['spec'], ['spec']])
})

test('[S-53] an object with more values than any definition of Kubernetes is refused where it is', () => {
  const text = (count: number) => `apiVersion: v1\nkind: Thing\nmetadata: {name: a}\nspec: [${'1,'.repeat(count)}]\n`
  assert.ok('objects' in objectsIn('a.yaml', text(LIMITS.objectNodes - 10)))
  const refused = objectsIn('a.yaml', text(LIMITS.objectNodes))
  assert.match('problem' in refused ? refused.problem : '', /^a\.yaml:1: an object with more than 40000 values$/)
})
