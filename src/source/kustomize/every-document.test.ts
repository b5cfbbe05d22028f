import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Revision } from '../git/revision.ts'
import { readTexts } from '../testing/fixture.ts'

const K = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`
const gone = (name: string) => `$patch: delete\n${map(name)}`
const SECRET = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n'

function named({ ignored }: Revision): readonly string[] {
  return ignored
    .map(({ file, line, kind, note = '' }) => [`${file}:${line}`, kind, note].filter((word) => word !== '').join(' '))
    .sort()
}

describe('every document of a tree with kustomizations is named once', () => {
  test('what a patch deletes, each document of a patch, and what kustomize keeps to itself', () => {
    const local = map('local').replace(
      'name: local',
      'name: local, annotations: {config.kubernetes.io/local-config: "true"}',
    )
    const revision = readTexts({
      'app/kustomization.yaml': `${K}resources: [all.yaml]\npatches: [{path: gone.yaml}]\n`,
      'app/all.yaml': [map('a'), map('b'), map('c'), local].join('---\n'),
      'app/gone.yaml': [gone('b'), gone('c')].join('---\n'),
    })
    assert.deepEqual(revision.problems, [])
    assert.deepEqual(named(revision), [
      'app/all.yaml:1 ConfigMap',
      'app/all.yaml:13 ConfigMap taken out by a kustomization',
      'app/all.yaml:5 ConfigMap taken out by a kustomization',
      'app/all.yaml:9 ConfigMap taken out by a kustomization',
      'app/gone.yaml:1 part of a kustomization',
      'app/gone.yaml:6 part of a kustomization',
      'app/kustomization.yaml:1 Kustomization built',
    ])
  })

  test('a base of three overlays is told once, with what is wrong with it; a file is one file', () => {
    const overlay = `${K}resources: [../../base]\n`
    const revision = readTexts({
      'base/kustomization.yaml': `${K}resources: [all.yaml]\nconfigMapGenerator: [{name: made, literals: [a=b]}]\n`,
      'base/all.yaml': `${map('a')}---\n${SECRET}`,
      'overlays/one/kustomization.yaml': overlay,
      'overlays/two/kustomization.yaml': overlay,
      'overlays/three/kustomization.yaml': `${overlay}patches: [{patch: '{$patch: delete, apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'}]\n`,
    })
    assert.deepEqual(
      revision.problems.map(({ code, origin }) => `${code} ${origin.file}:${origin.line}`),
      ['secret-in-manifest base/all.yaml:8'],
    )
    assert.deepEqual(named(revision), [
      'base/all.yaml:1 ConfigMap',
      'base/all.yaml:5 Secret',
      'base/kustomization.yaml:1 ConfigMap',
      'base/kustomization.yaml:1 Kustomization built',
      'overlays/one/kustomization.yaml:1 Kustomization built',
      'overlays/three/kustomization.yaml:1 Kustomization built',
      'overlays/two/kustomization.yaml:1 Kustomization built',
    ])
    assert.equal(revision.files, 2)
  })
})

test('what defines an API and what is an instance of it are named beside what they become', () => {
  const revision = readTexts({
    'lan.yaml': [
      `apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: lan}\nspec:\n  schema: {apiVersion: v1alpha1, kind: Lan, spec: {mtu: integer}}\n  resources:\n    - id: net\n      template:\n        apiVersion: croft.dev/v1alpha1\n        kind: Network\n        metadata: {name: "\${schema.metadata.name}"}\n        spec: {mtu: "\${schema.spec.mtu}"}\n`,
      'apiVersion: kro.run/v1alpha1\nkind: Lan\nmetadata: {name: home}\nspec: {mtu: 9000}\n',
    ].join('---\n'),
  })
  assert.deepEqual(revision.problems, [])
  assert.deepEqual(
    revision.declarations.map(({ key }) => key),
    ['Network/home'],
  )
  assert.deepEqual(
    revision.expanded?.map(({ line, kind, note }) => `${line} ${kind}: ${note}`),
    ['1 ResourceGraphDefinition: defines an API', '14 Lan: instance of an API that is defined here'],
  )
})
