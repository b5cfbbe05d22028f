import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import { rules } from './rules.ts'
import { applied, DATA, manager, seen, shown, wanted } from './testing/fixture.ts'

const MORE = { 'f:data': { 'f:a': {}, 'f:b': {} } }
const COPY = { ...DATA, 'f:metadata': { 'f:labels': { 'f:croft.dev/uid': {} } } }
const OTHER = { 'f:data': { 'f:b': {} } }

/** The result for an object that left its add-on. */
const CASES: readonly [string, readonly object[], 'goes' | 'is released' | 'is held', Foreign?][] = [
  ['nobody else keeps it', [manager('croft', DATA)], 'goes'],
  ['Flux applies all of it', [manager('croft', DATA), manager('kustomize-controller', DATA)], 'is released'],
  ['Flux applies all of it and more', [manager('croft', DATA), manager('kustomize-controller', MORE)], 'is released'],
  [
    'Argo CD applies it, client side',
    [manager('croft', DATA), manager('argocd-controller', DATA, 'Update')],
    'is released',
  ],
  ['a person applies it by kubectl', [manager('croft', DATA), manager('kubectl', DATA)], 'is released'],
  ['OpenTofu applies it', [manager('croft', DATA), manager('terraform', DATA)], 'is released'],
  ['a person edited its fields', [manager('croft', DATA), manager('kubectl-edit', DATA, 'Update')], 'goes'],
  ['another applies another field', [manager('croft', DATA), manager('kubectl', OTHER)], 'goes'],
  ['two others apply a half each', [manager('croft', MORE), manager('x', DATA), manager('y', OTHER)], 'goes'],
  ['Power writes what croft keeps', [manager('croft', DATA), manager('croft-power', DATA)], 'goes'],
  [
    'Flux applies a copy of it, the mark with it',
    [manager('croft', DATA), manager('kustomize-controller', COPY)],
    'is held',
  ],
  [
    'Flux tracks it and applies a part of it',
    [manager('croft', MORE), manager('kustomize-controller', DATA)],
    'is held',
    { 'kustomize.toolkit.fluxcd.io/name': 'apps' },
  ],
]

for (const [what, managers, becomes, labels = {}] of CASES)
  test(`an object that left its add-on ${becomes}: ${what}`, () => {
    const object = applied(wanted(), managers) as { metadata: { labels: object } }
    const observed = seen({
      object: {
        ...object,
        metadata: { ...object.metadata, uid: 'u', labels: { ...object.metadata.labels, ...labels } },
      },
    })
    const release = rules.releases?.(observed)
    const held = rules.undeletable(observed)
    assert.equal(release !== undefined ? 'is released' : held !== undefined ? 'is held' : 'goes', becomes)
    if (release === undefined) return
    const { method, path, params } = shown(release.steps[0])
    assert.equal(release.steps.length, 1)
    assert.deepEqual([method, path.replace(/.*\?/, '')], ['PATCH', 'fieldManager=croft'])
    assert.doesNotMatch(JSON.stringify(params), /\\"data|croft\.dev/)
  })
