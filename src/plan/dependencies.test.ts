import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../kinds/registry.ts'
import { readTexts, told } from '../source/testing/fixture.ts'
import { link } from './link.ts'

const GROUND = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: home}
spec: {endpoint: "https://pve:8006", fingerprint: "${Array.from({ length: 32 }, () => 'AA').join(':')}", token: {env: TOKEN}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: cow}
spec: {bindings: {storages: {disks: local-lvm}}}
`

function machine(name: string, more = ''): string {
  return `apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec:
  host: cow
  cpu: {cores: 1}
  memory: 1Gi
${more}`
}

function linked(...machines: readonly string[]) {
  const read = readTexts({ 'ground.yaml': GROUND, 'machines.yaml': machines.join('---\n') })
  const estate = link(read, { findKind, problemAt: read.problemAt })
  const needs = estate.resources.map(({ key, needs }) => [key, ...needs].join(' < '))
  return { told: told(estate.problems), needs, unreadable: estate.unreadable }
}

test('a machine needs what it depends on, besides what it needs anyway', () => {
  const { told: problems, needs } = linked(machine('a'), machine('b', '  dependsOn: [Machine/a]\n'))
  assert.deepEqual(problems, [])
  assert.deepEqual(needs, ['Machine/a', 'Machine/b < Machine/a'])
})

const WRONG: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'a name that nothing has',
    [machine('db-1'), machine('web', '  dependsOn:\n    - Machine/db-1\n    - Machine/db1\n')],
    ['unknown-dependency 18:7 nothing declares Machine/db1 (did you mean Machine/db-1?)'],
  ],
  [
    'itself',
    [machine('a', '  dependsOn: [Machine/a]\n')],
    ['dependency-circle 8:15 Machine/a waits for Machine/a: a dependency cycle (take one of them out)'],
  ],
  [
    'a circle of three',
    [
      machine('a', '  dependsOn: [Machine/c]\n'),
      machine('b', '  dependsOn: [Machine/a]\n'),
      machine('c', '  dependsOn: [Machine/b]\n'),
    ],
    [
      'dependency-circle 8:15 Machine/a waits for Machine/c waits for Machine/b waits for Machine/a: a dependency cycle (take one of them out)',
      'dependency-circle 17:15 Machine/b waits for Machine/a waits for Machine/c waits for Machine/b: a dependency cycle (take one of them out)',
      'dependency-circle 26:15 Machine/c waits for Machine/b waits for Machine/a waits for Machine/c: a dependency cycle (take one of them out)',
    ],
  ],
]

for (const [what, manifests, expected] of WRONG)
  test(`it cannot depend on ${what}: the place is named, and the rest is followed`, () => {
    const { told: problems, needs } = linked(machine('z'), ...manifests)
    // Each is one machine of eight lines further down.
    const moved = problems.map((line) => line.replace(/ (\d+):/, (_, at: string) => ` ${Number(at) - 8}:`))
    assert.deepEqual(moved, expected)
    assert.ok(needs.includes('Machine/z'))
    assert.ok(!needs.some((line) => line.startsWith('Machine/web') || line.startsWith('Machine/a')))
  })

test('a cluster that waits for an add-on of its own is a circle through what nobody wrote', () => {
  const cluster = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: lab}
spec:
  version: v1.34.3+k3s1
  servers: [{name: a, machine: Machine/a}]
  dependsOn: [Addon/web]
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: web}
spec: {cluster: lab, objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}}]}
`
  const { told: problems } = linked(machine('a'), cluster)
  assert.deepEqual(problems.filter((line) => line.startsWith('dependency-circle')).length, 1)
  assert.match(problems.join('\n'), /Cluster\/lab waits for Addon\/web waits for Cluster\/lab/)
})

test('what depends on something that could not be read waits for it to be put right', () => {
  const { told: problems, needs } = linked(machine('a', '  dependsOn: [Machine/b]\n'), machine('b', '  wrong: 1\n'))
  assert.deepEqual(
    problems.map((line) => line.split(' ')[0]),
    ['unknown-field'],
  )
  assert.deepEqual(needs, ['Machine/a < Machine/b'])
})

test('kinds of the provider say it in annotations, and wrong words are refused there', () => {
  const vm = (annotations: string) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata:
  name: vm
  annotations:
    ${annotations}
spec: {forProvider: {nodeName: cow}}
`
  assert.deepEqual(linked(machine('a'), vm('croft.dev/depends-on: Machine/a')).needs, [
    'Machine/a',
    'EnvironmentVM/vm < Machine/a',
  ])
  assert.deepEqual(linked(vm('croft.dev/depends-on: machine a')).told, [
    'bad-value 6:27 "machine a" is not a key of a declaration (a key like Machine/db-1)',
  ])
  assert.match(
    linked(vm('croft.dev/ready-when: "self.status. =="')).told.join(),
    /bad-expression 6:27 not an expression/,
  )
})

test('an expression that is none is refused where it stands', () => {
  assert.match(
    linked(machine('a', '  readyWhen:\n    - self.status.power == "running"\n    - "self.("\n')).told.join(),
    /^bad-expression 10:7 not an expression in CEL: /,
  )
})
