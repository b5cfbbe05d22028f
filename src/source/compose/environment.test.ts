import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTexts, told } from '../testing/fixture.ts'

const DEFINITION = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: nodes.lab.example.org}
spec:
  scope: Cluster
  group: lab.example.org
  names: {kind: Node, plural: nodes}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {stage: {type: string}, cores: {type: integer}, owner: {type: string}}
            status:
              type: object
              properties: {room: {type: string}}
`
const INSTANCE = `apiVersion: lab.example.org/v1
kind: Node
metadata: {name: agent-1}
spec: {stage: production, cores: 2}
`

interface Written {
  readonly sources?: string
  readonly more?: string
  readonly patches?: string
  readonly resource?: string
}

/** A composition of one machine. Everything is written in the short form of YAML, one entry on a line. */
function composition({ sources = '', more = '', patches = '', resource = '' }: Written): string {
  return `apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: node}
spec:
  compositeTypeRef: {apiVersion: lab.example.org/v1, kind: Node}
  mode: Pipeline
  pipeline:
    - step: environment
      functionRef: {name: function-environment-configs}
      input:
        apiVersion: environmentconfigs.fn.crossplane.io/v1beta1
        kind: Input
        spec: {environmentConfigs: [${sources}]${more}}
    - step: machines
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        environment:
          patches: [${patches}]
        resources:
          - name: vm
            base:
              apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
              kind: EnvironmentVM
              spec: {forProvider: {nodeName: pve, memory: [{dedicated: 512}]}}
            patches: [${resource}]
`
}

const config = (name: string, labels: string, data: string) => `apiVersion: apiextensions.crossplane.io/v1beta1
kind: EnvironmentConfig
metadata: {name: ${name}, labels: {${labels}}}
data: {${data}}
---
`
const CONFIGS = [
  config('zoo', 'stage: production, order: "1"', 'host: fun-bedbug, size: {memory: 1024, disk: 8}'),
  config('ant', 'stage: production, order: "2"', 'host: still-fawn, size: {memory: 2048}'),
  config('lab', 'stage: test', 'host: rapid-civet, room: cellar'),
].join('')

const MEMORY =
  '{type: FromEnvironmentFieldPath, fromFieldPath: size.memory, toFieldPath: "spec.forProvider.memory[0].dedicated"}'
const HOST = '{type: FromEnvironmentFieldPath, fromFieldPath: host, toFieldPath: spec.forProvider.nodeName}'
const byStage = (more = '') =>
  `{type: Selector, selector: {${more}matchLabels: [{key: stage, valueFromFieldPath: spec.stage}]}}`

function read(written: Written, configs = CONFIGS) {
  return readTexts({ 'a.yaml': DEFINITION, 'b.yaml': composition(written), 'c.yaml': configs, 'd.yaml': INSTANCE })
}

const MADE: readonly (readonly [string, Written, object])[] = [
  ['one that is named', { sources: '{ref: {name: lab}}', resource: HOST }, { nodeName: 'rapid-civet' }],
  [
    'those with labels of the composite, in the order of their names: the last one wins, field by field',
    { sources: byStage('mode: Multiple, '), resource: `${HOST}, ${MEMORY}` },
    { nodeName: 'fun-bedbug', memory: { dedicated: 1024 } },
  ],
  [
    'those with labels, in the order of a field, and no more than so many',
    {
      sources: byStage('mode: Multiple, sortByFieldPath: metadata.labels.order, '),
      resource: `${HOST}, ${MEMORY}`,
    },
    { nodeName: 'still-fawn', memory: { dedicated: 2048 } },
  ],
  [
    'the first of those with labels',
    { sources: byStage('mode: Multiple, maxMatch: 1, '), resource: HOST },
    { nodeName: 'still-fawn' },
  ],
  [
    'data under a path of their own',
    {
      sources: '{ref: {name: lab}, toFieldPath: place.now}',
      resource:
        '{type: FromEnvironmentFieldPath, fromFieldPath: place.now.host, toFieldPath: spec.forProvider.nodeName}',
    },
    { nodeName: 'rapid-civet' },
  ],
  [
    'defaults below what is selected',
    {
      sources: '{ref: {name: lab}}',
      more: ', defaultData: {host: pve, size: {memory: 4096}}',
      resource: `${HOST}, ${MEMORY}`,
    },
    { nodeName: 'rapid-civet', memory: { dedicated: 4096 } },
  ],
  [
    'none, where that is allowed: the template stays as it is',
    { sources: '{ref: {name: gone}}', more: ', policy: {resolution: Optional}', resource: HOST },
    { nodeName: 'pve' },
  ],
  [
    'what the composite says',
    {
      patches: '{type: FromCompositeFieldPath, fromFieldPath: spec.cores, toFieldPath: seen.cores}',
      resource:
        '{type: FromEnvironmentFieldPath, fromFieldPath: seen.cores, toFieldPath: "spec.forProvider.cpu[0].cores"}',
    },
    { nodeName: 'pve', cpu: { cores: 2 } },
  ],
  [
    'what it puts into the status of the composite',
    {
      sources: '{ref: {name: lab}}',
      patches: '{type: ToCompositeFieldPath, fromFieldPath: room, toFieldPath: status.room}',
      resource: '{type: FromCompositeFieldPath, fromFieldPath: status.room, toFieldPath: spec.forProvider.description}',
    },
    { description: 'cellar' },
  ],
  [
    'several values as one text',
    {
      sources: '{ref: {name: lab}}',
      resource:
        '{type: CombineFromEnvironment, combine: {variables: [{fromFieldPath: host}, {fromFieldPath: room}], strategy: string, string: {fmt: "%s, %s"}}, toFieldPath: spec.forProvider.description}',
    },
    { description: 'rapid-civet, cellar' },
  ],
]

for (const [what, written, expected] of MADE)
  test(`a composition takes from its environment: ${what}`, () => {
    const { problems, declarations } = read(written)
    assert.deepEqual(told(problems), [])
    assert.partialDeepStrictEqual(declarations, [{ key: 'EnvironmentVM/agent-1-vm', spec: { forProvider: expected } }])
  })

const REFUSED: readonly (readonly [string, Written, RegExp])[] = [
  [
    'one that is not there',
    { sources: '{ref: {name: gone}}' },
    /^bad-composition 13:\d+ there is no EnvironmentConfig gone/,
  ],
  [
    'several where one is wanted',
    { sources: byStage() },
    /13:\d+ several EnvironmentConfigs \(zoo, ant\) have the labels stage=production; exactly one must/,
  ],
  [
    'fewer than it wants',
    { sources: byStage('mode: Multiple, minMatch: 3, ') },
    /2 EnvironmentConfigs have the labels stage=production; at least 3 must/,
  ],
  [
    'a label from a field that the instance does not say',
    { sources: '{type: Selector, selector: {matchLabels: [{key: owner, valueFromFieldPath: spec.owner}]}}' },
    /the label owner takes its value from spec\.owner, and the composite does not have it/,
  ],
  [
    'a label from a field that the definition does not have',
    { sources: '{type: Selector, selector: {matchLabels: [{key: owner, valueFromFieldPath: spec.ownr}]}}' },
    /a composite has no field spec\.ownr: its definition does not name it/,
  ],
  [
    'a label from a number',
    { sources: '{type: Selector, selector: {matchLabels: [{key: owner, valueFromFieldPath: spec.cores}]}}' },
    /a label is a text, and spec\.cores is not/,
  ],
  [
    'values that cannot be sorted',
    { sources: byStage('mode: Multiple, sortByFieldPath: data.size, ') },
    /cannot be sorted by data\.size: it is neither a text nor a number/,
  ],
  [
    'a type that is none',
    { sources: '{type: Named, ref: {name: lab}}' },
    /"Named" is not a type: Reference, Selector are/,
  ],
  ['a mode that is none', { sources: byStage('mode: Some, ') }, /"Some" is not a mode: Single, Multiple are/],
  [
    'a patch that needs what is not there',
    {
      patches:
        '{type: FromCompositeFieldPath, fromFieldPath: spec.owner, toFieldPath: x, policy: {fromFieldPath: Required}}',
    },
    /the patch requires spec\.owner, and the composite does not have it/,
  ],
  [
    'a patch of a type that an environment does not have',
    { patches: '{type: CombineFromEnvironment, toFieldPath: x}' },
    /patches of the type CombineFromEnvironment are not supported here/,
  ],
  [
    'what a resource has just put there itself',
    {
      resource: `{type: ToEnvironmentFieldPath, fromFieldPath: spec.forProvider.nodeName, toFieldPath: host}, ${HOST}`,
    },
    /vm takes host from the environment, where it has just put it itself/,
  ],
]

for (const [what, written, expected] of REFUSED)
  test(`an environment with ${what} is refused at the line of the composition, and nothing is taken for gone`, () => {
    const revision = read(written)
    assert.match(told(revision.problems).join('\n'), expected)
    assert.equal(revision.problems[0]?.origin.file, 'b.yaml')
    assert.equal(revision.incomplete, true)
  })

test('an environment without a pipeline is refused at its line', () => {
  const written = composition({}).replace(/ {2}mode: Pipeline[\s\S]*/, '  environment: {}\n  resources: []\n')
  const { problems } = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': written })
  assert.match(told(problems).join(), /an environment without a pipeline is not supported/)
})

test('what one resource puts into the environment, those further down take from there; those above do not', () => {
  const resource = (name: string, patches: string) => `          - name: ${name}
            base:
              apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
              kind: EnvironmentVM
              spec: {forProvider: {nodeName: pve}}
            patches: [${patches}]
`
  const written =
    composition({ resource: HOST }) +
    resource(
      'second',
      '{type: ToEnvironmentFieldPath, fromFieldPath: spec.forProvider.nodeName, toFieldPath: host, transforms: [{type: string, string: {type: Format, fmt: "%s-2"}}]}',
    ) +
    resource('third', HOST)
  const { problems, declarations } = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': written, 'd.yaml': INSTANCE })
  assert.deepEqual(told(problems), [])
  const hosts = declarations.map(({ key, spec, policy }) => [
    key,
    (spec as { readonly forProvider: { readonly nodeName: string } }).forProvider.nodeName,
    policy.after,
  ])
  assert.deepEqual(hosts, [
    ['EnvironmentVM/agent-1-vm', 'pve', undefined],
    ['EnvironmentVM/agent-1-second', 'pve', undefined],
    ['EnvironmentVM/agent-1-third', 'pve-2', ['EnvironmentVM/agent-1-second']],
  ])
})
