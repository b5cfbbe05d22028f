import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTexts, told } from '../testing/fixture.ts'
import { fieldPath, valueAt, withValue } from './field-path.ts'
import { goFormat, plainValue, withIntegers } from './go-values.ts'
import { TransformMistake, transformOf } from './transforms.ts'

const DEFINITION = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xk3snodes.homelab.example.org}
spec:
  group: homelab.example.org
  names: {kind: XK3sNode, plural: xk3snodes}
  claimNames: {kind: K3sNode, plural: k3snodes}
  versions:
    - name: v1alpha1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [host]
              properties:
                host: {type: string}
                size: {type: string, enum: [small, large], default: small}
                cores: {type: integer, minimum: 1}
                started: {type: string, default: "true"}
            status:
              type: object
              properties: {vm: {type: string}, image: {type: string}}
`

const RESOURCES = `resources:
  - name: image
    base:
      apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
      kind: EnvironmentDownloadFile
      spec:
        forProvider:
          datastoreId: local
          contentType: import
          url: https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img
    patches:
      - type: PatchSet
        patchSetName: place
      - type: CombineFromComposite
        combine:
          variables:
            - fromFieldPath: metadata.name
            - fromFieldPath: spec.size
          strategy: string
          string: {fmt: "noble-%s-%s.qcow2"}
        toFieldPath: spec.forProvider.fileName
      - type: ToCompositeFieldPath
        fromFieldPath: spec.forProvider.fileName
        toFieldPath: status.image
  - name: vm
    base:
      apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
      kind: EnvironmentVM
      spec:
        forProvider:
          started: true
          cpu: [{cores: 1}]
          memory: [{dedicated: 1024}]
          disk: [{interface: scsi0, datastoreId: local, size: 20, importFrom: x}]
    patches:
      - type: PatchSet
        patchSetName: place
      - type: FromCompositeFieldPath
        fromFieldPath: metadata.name
        toFieldPath: metadata.name
      - fromFieldPath: spec.cores
        toFieldPath: spec.forProvider.cpu[0].cores
      - fromFieldPath: spec.size
        toFieldPath: spec.forProvider.memory[0].dedicated
        transforms:
          - type: map
            map: {small: 2048, large: 8192}
          - type: math
            math: {multiply: 2}
      - fromFieldPath: spec.started
        toFieldPath: spec.forProvider.started
        transforms:
          - type: convert
            convert: {toType: bool}
      - fromFieldPath: status.image
        toFieldPath: spec.forProvider.disk[0].importFrom
        transforms:
          - type: string
            string: {type: Format, fmt: "local:import/%s"}
      - type: ToCompositeFieldPath
        fromFieldPath: status.atProvider.id
        toFieldPath: status.vm
    readinessChecks:
      - type: MatchString
        fieldPath: status.power
        matchString: running
      - type: MatchCondition
        matchCondition: {type: Ready, status: "True"}
patchSets:
  - name: place
    patches:
      - type: FromCompositeFieldPath
        fromFieldPath: spec.host
        toFieldPath: spec.forProvider.nodeName
`

const indented = (text: string, by: number) => text.replaceAll(/^(?=.)/gm, ' '.repeat(by))
const HEAD = `apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: k3snode}
spec:
  compositeTypeRef: {apiVersion: homelab.example.org/v1alpha1, kind: XK3sNode}
`
const PLAIN = `${HEAD}${indented(RESOURCES, 2)}`
const PIPELINE = `${HEAD}  mode: Pipeline
  pipeline:
    - step: patch-and-transform
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
${indented(RESOURCES, 8)}    - step: ready
      functionRef: {name: function-auto-ready}
`
const CLAIM = `apiVersion: homelab.example.org/v1alpha1
kind: K3sNode
metadata: {name: agent-1, namespace: default}
spec: {host: fun-bedbug, cores: 4, size: large}
`
const COMPOSITE = CLAIM.replace('kind: K3sNode', 'kind: XK3sNode').replace(', namespace: default', '')

interface Provided {
  readonly forProvider: Readonly<Record<string, unknown>>
}

for (const [what, composition] of [
  ['resources of the composition', PLAIN],
  ['a step of a pipeline', PIPELINE],
] as const)
  for (const [who, instance] of [
    ['a claim', CLAIM],
    ['a composite', COMPOSITE],
  ] as const)
    test(`${who} becomes what ${what} say`, () => {
      const revision = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': composition, 'c.yaml': instance })
      assert.deepEqual(told(revision.problems), [])
      const found = revision.declarations.map(({ key, spec, policy, composedBy }) => [
        key,
        (spec as Provided).forProvider,
        policy.after,
        policy.readyWhen,
        composedBy?.instance.split('/')[0],
      ])
      const kind = who === 'a claim' ? 'K3sNode' : 'XK3sNode'
      assert.partialDeepStrictEqual(found, [
        [
          'EnvironmentDownloadFile/agent-1-image',
          { nodeName: 'fun-bedbug', fileName: 'noble-agent-1-large.qcow2' },
          undefined,
          undefined,
          kind,
        ],
        [
          'EnvironmentVM/agent-1',
          {
            nodeName: 'fun-bedbug',
            started: true,
            cpu: { cores: 4 },
            memory: { dedicated: 16_384 },
            disk: [{ importFrom: 'local:import/noble-agent-1-large.qcow2' }],
          },
          ['EnvironmentDownloadFile/agent-1-image'],
          ['self.status.power == "running"'],
          kind,
        ],
      ])
      assert.deepEqual(
        revision.apis?.map((one) => one.kind),
        ['XK3sNode', 'K3sNode'],
      )
    })

const WRONG: readonly (readonly [string, string, string, RegExp])[] = [
  [
    'a field that the definition has not',
    'fromFieldPath: spec.cores',
    'fromFieldPath: spec.coers',
    /bad-composition \d+:\d+ a composite has no field spec\.coers/,
  ],
  [
    'a type that does not fit',
    'fromFieldPath: spec.cores',
    'fromFieldPath: spec.host',
    /bad-composition \d+:\d+ spec\.forProvider\.cpu\[0\]\.cores must be a whole number, and the patch brings text/,
  ],
  ['a patch set that is not there', 'patchSetName: place', 'patchSetName: plaec', /there is no patch set called plaec/],
  ['a transform that is none', 'type: map', 'type: mapp', /mapp is not a type of transform/],
  [
    'a value from its own status',
    'fromFieldPath: status.image',
    'fromFieldPath: status.vm',
    /vm takes a value from its own status, which it has only later/,
  ],
  [
    'a value that nobody writes',
    'fromFieldPath: status.image',
    'fromFieldPath: status.conditions',
    /no patch of this composition writes status\.conditions/,
  ],
  [
    'a status that the definition does not have',
    'toFieldPath: status.vm',
    'toFieldPath: status.vmm',
    /a composite has no field status\.vmm: its definition does not name it/,
  ],
  [
    'a status that a resource does not have',
    'fromFieldPath: status.atProvider.id',
    'fromFieldPath: status.adresses',
    /EnvironmentVM has no field status\.adresses: its status has state, externalId/,
  ],
  [
    'a patch of another type',
    'type: ToCompositeFieldPath',
    'type: FromSomewhereFieldPath',
    /patches of the type FromSomewhereFieldPath are not supported/,
  ],
  ['another strategy', 'strategy: string', 'strategy: sum', /"sum" is not a strategy: string is/],
  [
    'a check of a status that croft does not report',
    'fieldPath: status.power',
    'fieldPath: status.atProvider.state',
    /self\.status has no field atProvider/,
  ],
]

for (const [what, from, to, expected] of WRONG)
  test(`a composition with ${what} is refused at the line, before there is an instance`, () => {
    assert.ok(PLAIN.includes(from))
    const revision = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': PLAIN.replace(from, to) })
    assert.match(told(revision.problems).join('\n'), expected)
    assert.equal(revision.problems[0]?.origin.file, 'b.yaml')
    assert.ok((revision.problems[0]?.origin.line ?? 0) > 5)
    assert.equal(revision.incomplete, true)
  })

test('functions that croft does not run, several compositions and none, and a definition that is missing are told', () => {
  const foreign = PIPELINE.replace('function-auto-ready', 'function-go-templating')
  assert.match(told(readTexts({ 'a.yaml': DEFINITION, 'b.yaml': foreign }).problems).join(), /croft runs no functions/)
  const two = {
    'a.yaml': DEFINITION,
    'b.yaml': PLAIN,
    'c.yaml': PLAIN.replace('name: k3snode', 'name: other'),
    'd.yaml': CLAIM,
  }
  assert.match(
    told(readTexts(two).problems).join(),
    /several Compositions for it: k3snode, other; name one in compositionRef/,
  )
  const named = { ...two, 'd.yaml': CLAIM.replace('size: large', 'size: large, compositionRef: {name: other}') }
  assert.deepEqual(told(readTexts(named).problems), [])
  const none = readTexts({ 'a.yaml': DEFINITION, 'd.yaml': CLAIM })
  assert.match(told(none.problems).join(), /there is no Composition for it \(for K3sNode\/default\/agent-1\)/)
  assert.equal(none.problems[0]?.origin.file, 'd.yaml')
  assert.match(
    told(readTexts({ 'b.yaml': PLAIN }).problems).join(),
    /no CompositeResourceDefinition here defines XK3sNode/,
  )
})

test('an instance is held to the definition', () => {
  const wrong = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': PLAIN, 'c.yaml': CLAIM.replace('large', 'huge') })
  assert.deepEqual(told(wrong.problems), ['bad-value 4:42 size is "huge"; it may be "small", "large"'])
})

test('a managed resource that croft does not keep is told, and nothing is deleted meanwhile', () => {
  const bucket = PLAIN.replace(
    'virtualenvironmentdownloadfile.crossplane.io/v1alpha1',
    's3.aws.crossplane.io/v1',
  ).replace('kind: EnvironmentDownloadFile', 'kind: Bucket')
  const revision = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': bucket, 'c.yaml': CLAIM })
  assert.match(
    told(revision.problems).join(),
    /kind-not-kept \d+:\d+ croft does not keep Bucket of s3\.aws\.crossplane\.io\/v1/,
  )
  assert.equal(revision.incomplete, true)
})

const TRANSFORMS: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ type: 'map', map: { a: 1 } }, 'a', 1],
  [
    { type: 'match', match: { patterns: [{ type: 'literal', literal: 'x', result: 'y' }], fallbackValue: 'z' } },
    'x',
    'y',
  ],
  [
    { type: 'match', match: { patterns: [{ type: 'regexp', regexp: '^us-', result: 'us' }], fallbackTo: 'Input' } },
    'eu-1',
    'eu-1',
  ],
  [{ type: 'match', match: { patterns: [{ type: 'regexp', regexp: '^us-', result: 'us' }] } }, 'us-1', 'us'],
  [{ type: 'math', math: { multiply: 3 } }, 4, 12],
  [{ type: 'math', math: { type: 'ClampMin', clampMin: 5 } }, 4, 5],
  [{ type: 'math', math: { type: 'ClampMax', clampMax: 3 } }, 4, 3],
  [{ type: 'string', string: { fmt: 'vm-%03d' } }, 7, 'vm-007'],
  [{ type: 'string', string: { type: 'Convert', convert: 'ToUpper' } }, 'a', 'A'],
  [{ type: 'string', string: { type: 'Convert', convert: 'ToBase64' } }, 'hi', 'aGk='],
  [{ type: 'string', string: { type: 'Convert', convert: 'ToAdler32' } }, 'Wikipedia', '300286872'],
  [{ type: 'string', string: { type: 'Convert', convert: 'ToAdler32' } }, '', '1'],
  [{ type: 'string', string: { type: 'TrimPrefix', trim: 'eu-' } }, 'eu-north', 'north'],
  [{ type: 'string', string: { type: 'TrimSuffix', trim: '-1' } }, 'a-1', 'a'],
  [{ type: 'string', string: { type: 'Join', join: { separator: ',' } } }, ['a', 'b'], 'a,b'],
  [{ type: 'string', string: { type: 'Replace', string: {}, replace: { search: 'a', replace: 'b' } } }, 'aXa', 'bXb'],
  [{ type: 'convert', convert: { toType: 'int' } }, '42', 42],
  [{ type: 'convert', convert: { toType: 'string' } }, 42, '42'],
  [{ type: 'convert', convert: { toType: 'bool' } }, 'True', true],
  [{ type: 'convert', convert: { toType: 'float64', format: 'quantity' } }, '4Ki', 4096],
  [{ type: 'convert', convert: { toType: 'object', format: 'json' } }, '{"a":1}', { a: 1 }],
]

for (const [transform, from, to] of TRANSFORMS)
  test(`${JSON.stringify(transform)} makes ${JSON.stringify(from)} ${JSON.stringify(to)}`, () => {
    assert.deepEqual(plainValue(transformOf(transform).apply(withIntegers(from))), to)
  })

test('transforms without an answer say so', () => {
  assert.throws(() => transformOf({ type: 'map', map: { a: 1 } }).apply('b'), /map has nothing for "b"/)
  assert.throws(
    () => transformOf({ type: 'convert', convert: { toType: 'int' } }).apply('many'),
    /cannot be converted to int/,
  )
  assert.throws(() => transformOf({ type: 'math', math: {} }), /has no number/)
  assert.throws(() => goFormat('%d', ['x']), /cannot show/)
  assert.throws(() => goFormat('%s-%s', ['x']), /has no value/)
})

test('a path through something else than it names is an error, and takes nothing away', () => {
  for (const [value, path] of [
    [{ a: 1 }, ['a', 'b']],
    [{ a: [1] }, ['a', 'b']],
    [{ a: { b: 1 } }, ['a', 0]],
    [{ a: 'x' }, ['a', 0]],
  ] as const) {
    assert.throws(() => valueAt(value, path), TransformMistake)
    assert.throws(() => withValue(value, path, 2), TransformMistake)
  }
  assert.equal(valueAt({ a: null }, ['a', 'b']), undefined)
  assert.deepEqual(withValue({ a: null }, ['a', 'b'], 1), { a: { b: 1 } })
  for (const nothing of [undefined, [], {}, 'x'])
    assert.throws(() => withValue({ a: nothing }, ['a', '*'], 1), /a has no entries/)
  assert.equal(fieldPath('spec.a[1025]'), undefined)
})

test('in a pipeline a patch to anything but the status of the composite has no effect, and says so', () => {
  const away = PIPELINE.replace('toFieldPath: status.image', 'toFieldPath: metadata.annotations[image]').replace(
    'fromFieldPath: status.image',
    'fromFieldPath: metadata.annotations[image]',
  )
  const revision = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': away })
  assert.match(told(revision.problems).join(), /not-kept \d+:\d+ a function can change only the status of a composite/)
  const plain = PLAIN.replace('toFieldPath: status.image', 'toFieldPath: metadata.annotations[image]')
  assert.deepEqual(
    told(readTexts({ 'a.yaml': DEFINITION, 'b.yaml': plain }).problems).filter((one) => /not-kept/.test(one)),
    [],
  )
})

test('a whole number is whole in a composition without functions, and has a fraction for a function', () => {
  const patch = `{fromFieldPath: spec.cores, toFieldPath: spec.forProvider.description, transforms: [{type: string, string: {type: Format, fmt: "%d"}}]}`
  const formatted = (text: string) =>
    text.replace(/( +)- fromFieldPath: spec\.cores/, (line, indent) => `${indent}- ${patch}\n${line}`)
  const read = (text: string) => readTexts({ 'a.yaml': DEFINITION, 'b.yaml': formatted(text), 'c.yaml': CLAIM })
  assert.deepEqual(told(read(PLAIN).problems), [])
  assert.match(told(read(PIPELINE).problems).join(), /%d cannot show 4; %v shows it/)
})

test('a value that becomes null takes its field away', () => {
  assert.deepEqual(withValue({ a: { b: 1, c: 2 } }, ['a', 'b'], undefined), { a: { c: 2 } })
})

test('paths of fields are read as Crossplane writes them', () => {
  assert.deepEqual(fieldPath('spec.disk[0].size'), ['spec', 'disk', 0, 'size'])
  assert.deepEqual(fieldPath('metadata.labels[example.org/zone]'), ['metadata', 'labels', 'example.org/zone'])
  assert.deepEqual(fieldPath("metadata.labels['a.b']"), ['metadata', 'labels', 'a.b'])
  assert.equal(fieldPath('spec..x'), undefined)
  assert.deepEqual(withValue({ a: [{ b: 1 }, { b: 2 }] }, ['a', '*', 'b'], 3), { a: [{ b: 3 }, { b: 3 }] })
  assert.equal(valueAt(withValue({}, ['a', 0, 'b'], 1), ['a', 0, 'b']), 1)
})

const REFUSED = Symbol('refused')

// Recorded answers of function-patch-and-transform.
for (const [policy, there, put, expected] of [
  ['MergeObjects', { a: 1, b: { c: 1 } }, { a: 2, b: { c: 2, d: 2 }, e: 2 }, { a: 1, b: { c: 1, d: 2 }, e: 2 }],
  ['ForceMergeObjects', { a: 1, b: { c: 1 }, f: 1 }, { a: 2, b: { d: 2 } }, { a: 2, b: { c: 1, d: 2 }, f: 1 }],
  ['MergeObjectsAppendArrays', { a: 1, l: [1, 2] }, { a: 2, l: [2, 3] }, { a: 1, l: [1, 2, 2, 3] }],
  ['MergeObjectsAppendArrays', ['a'], ['a', 'b'], ['a', 'b']],
  ['MergeObjectsAppendArrays', {}, ['a'], REFUSED],
  ['MergeObjectsAppendArrays', 'a', ['b'], REFUSED],
  ['ForceMergeObjectsAppendArrays', { a: 1 }, [], REFUSED],
  ['ForceMergeObjectsAppendArrays', ['a'], {}, {}],
  ['ForceMergeObjectsAppendArrays', { l: ['p'] }, { l: ['p', 'q'] }, { l: ['p', 'p', 'q'] }],
  ['ForceMergeObjects', 'a', [], []],
  ['ForceMergeObjects', { a: { x: 1 }, l: ['p'] }, { a: { y: 2 }, l: ['q'] }, { a: { x: 1, y: 2 }, l: ['q'] }],
  ['MergeObjects', [], 'a', 'a'],
  ['MergeObjects', {}, ['a'], ['a']],
  ['MergeObjects', ['a'], null, null],
  ['MergeObjects', { a: 's' }, { a: { y: 2 } }, { a: 's' }],
  ['ForceMergeObjectsAppendArrays', [{ a: 1 }], [{ a: 1 }, { b: 2 }], [{ a: 1 }, { b: 2 }]],
  ['ForceMergeObjects', [1], [2], [2]],
  ['MergeObjects', [1], [2], [1]],
  ['MergeObjects', undefined, { a: 1 }, { a: 1 }],
  ['MergeObjects', '', 'text', 'text'],
] as const)
  test(`${policy}: ${JSON.stringify(put)} comes to ${JSON.stringify(there)}`, () => {
    const [force, append] = [policy.startsWith('Force'), policy.endsWith('AppendArrays')]
    const merge = () => withValue({ at: there }, ['at'], put, { force, append })
    if (expected === REFUSED) assert.throws(merge, TransformMistake)
    else assert.deepEqual(merge(), { at: expected })
  })

test('a patch with a merging policy adds to the base, and a policy that is none is refused at its line', () => {
  const tagged = PLAIN.replace(
    'toFieldPath: spec.forProvider.nodeName',
    `toFieldPath: spec.forProvider.tags
          transforms: [{type: string, string: {type: Convert, convert: ToJson}}, {type: string, string: {type: Format, fmt: '[%s]'}}, {type: convert, convert: {toType: array, format: json}}]
          policy: {toFieldPath: MergeObjectsAppendArrays}`,
  )
  assert.notEqual(tagged, PLAIN)
  assert.deepEqual(told(readTexts({ 'a.yaml': DEFINITION, 'b.yaml': tagged }).problems), [])
  const wrong = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': tagged.replace('MergeObjectsAppendArrays', 'Append') })
  assert.match(told(wrong.problems).join(), /Append is not a policy: Replace, MergeObjects/)
})

test('functions under other names are known by their input; connection details are named and left out', () => {
  const named = PIPELINE.replace('name: function-patch-and-transform', 'name: pt-in-house').replace(
    'name: function-auto-ready',
    'name: function-auto-ready-in-house',
  )
  const detailed = named.replace(
    '- name: image\n',
    '- name: image\n            connectionDetails: [{name: ip, type: FromFieldPath, fromFieldPath: status.ip}]\n',
  )
  assert.notEqual(detailed, named)
  const revision = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': detailed, 'c.yaml': CLAIM })
  assert.equal(revision.declarations.length, 2)
  assert.equal(revision.incomplete, false)
  assert.match(told(revision.problems).join(), /not-kept 15:\d+ connection details are not supported/)
})

test('an instance whose composition has errors names its place', () => {
  const broken = PLAIN.replace(/fromFieldPath: .*/, 'fromFieldPath: spec.nothing')
  const revision = readTexts({ 'a.yaml': DEFINITION, 'b.yaml': broken, 'c.yaml': CLAIM })
  const own = revision.problems.filter(({ origin }) => origin.file === 'c.yaml')
  assert.match(told(own).join(), /Composition\/k3snode at b\.yaml:1:1 has errors: correct those first/)
})

const RULES: readonly (readonly [string, string, readonly string[]])[] = [
  ['that it keeps', 'x-kubernetes-validations: [{rule: "self.cores <= 4"}]', []],
  [
    'that it breaks',
    'x-kubernetes-validations: [{rule: "self.cores <= 2 || self.size == \'small\'", message: too many cores}]',
    ['bad-value 4:7 spec: too many cores'],
  ],
  [
    'without a message',
    'x-kubernetes-validations: [{rule: self.cores < 4}]',
    ['bad-value 4:7 spec: it must be that self.cores < 4'],
  ],
  ['about a change', 'x-kubernetes-validations: [{rule: self.cores >= oldSelf.cores}]', []],
  [
    'that croft cannot check',
    'x-kubernetes-validations: [{rule: isIP(self.host)}]',
    ['not-kept 19:15 croft cannot check the rule isIP(self.host): there is no function isIP'],
  ],
]

for (const [what, rules, expected] of RULES)
  test(`an instance with a rule of its definition ${what}`, () => {
    const definition = DEFINITION.replace('required: [host]', `required: [host]\n              ${rules}`)
    const { problems } = readTexts({ 'a.yaml': definition, 'b.yaml': PLAIN, 'c.yaml': CLAIM })
    assert.deepEqual(told(problems), expected)
  })
