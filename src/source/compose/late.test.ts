import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignKey } from '../../model/foreign-object.ts'
import { type KnownObject, showWaiting } from '../../model/waiting.ts'
import { piecesOf, unpack } from '../apart/pack.ts'
import type { Revision } from '../git/revision.ts'
import { errorsOf, readTexts, told } from '../testing/fixture.ts'
import { expandLate } from './late.ts'

function graph(resources: string, more = ''): string {
  return `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata:
  name: shop
  annotations: {croft.dev/cluster: home}
spec:
  schema:
    apiVersion: v1alpha1
    kind: Shop
    spec: {size: integer | default=1}
${more}  resources:
${resources}`
}

const INSTANCE = 'apiVersion: kro.run/v1alpha1\nkind: Shop\nmetadata: {name: toys, namespace: shops}\nspec: {}\n'

const MACHINE = `    - id: vm
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: "\${schema.metadata.name}-vm"}
        spec: {host: h1, class: small, networks: [{network: lan}]}
`

function config(id: string, data: string): string {
  return `    - id: ${id}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: ${id}}
        data: ${data}
`
}

const seen = (objects: Readonly<Record<string, KnownObject>>) => new Map(Object.entries(objects))
const MACHINE_SEEN = { 'Machine/shops/toys-vm': { status: { addresses: ['10.0.0.7'], host: 'h1' } } }

function waits({ waiting = [] }: Revision): readonly string[] {
  return waiting.map((one) => `${one.key ?? '?'}: ${showWaiting(one)}`)
}

function keys({ declarations }: Revision): readonly string[] {
  return declarations.map(({ key }) => key).sort()
}

function dataOf({ declarations }: Revision, key: string): unknown {
  const spec = declarations.find((one) => one.key === key)?.spec as
    | { readonly objects: { data: unknown }[] }
    | undefined
  return JSON.parse(JSON.stringify(spec?.objects[0]?.data ?? null))
}

test('what takes a status is not declared until it is known; it is not gone, and the rest is declared as ever', () => {
  const texts = { 'g.yaml': graph(MACHINE + config('facts', `{at: "\${vm.status.addresses[0]}"}`)), 'i.yaml': INSTANCE }
  const first = readTexts(texts)
  assert.deepEqual(told(errorsOf(first)), [])
  assert.deepEqual(keys(first), ['Machine/shops/toys-vm'])
  assert.deepEqual(first.unreadable, ['Addon/toys-facts'])
  assert.equal(first.incomplete, false)
  assert.deepEqual(waits(first), [
    `Addon/toys-facts: data.at = \${vm.status.addresses[0]} is known after Machine/shops/toys-vm is ready`,
  ])
  const settled = first.settle?.(seen(MACHINE_SEEN))
  assert.ok(settled)
  assert.deepEqual(keys(settled), ['Addon/toys-facts', 'Machine/shops/toys-vm'])
  assert.deepEqual(dataOf(settled, 'Addon/toys-facts'), { at: '10.0.0.7' })
  assert.deepEqual([settled.unreadable, settled.waiting], [[], []])
  assert.deepEqual(settled.declarations.find(({ kind }) => kind === 'Addon')?.policy.after, ['Machine/shops/toys-vm'])
  // A value that vanishes is unknown again.
  assert.deepEqual(keys(settled.settle?.(new Map()) ?? settled), ['Machine/shops/toys-vm'])
})

test('an exception while one instance is expanded is a problem at its line, and the others are expanded', () => {
  const texts = {
    'g.yaml': graph(MACHINE + config('facts', `{at: "\${vm.status.host}"}`)),
    'i.yaml': INSTANCE,
    'other.yaml': INSTANCE.replace('name: toys', 'name: books'),
  }
  const ill = {
    get status(): never {
      throw new TypeError('planted')
    },
  }
  const known = seen({ ...MACHINE_SEEN, 'Machine/shops/books-vm': ill })
  const settled = readTexts(texts).settle?.(known)
  assert.ok(settled)
  assert.deepEqual(keys(settled), ['Addon/toys-facts', 'Machine/shops/toys-vm'])
  assert.equal(settled.incomplete, true)
  assert.match(told(errorsOf(settled)).join(), /^failed 1:\d+ croft failed on this Shop .* TypeError: planted/)
})

test('what was read in another process is settled the same way, by what that evaluates', () => {
  const read = readTexts({
    'g.yaml': graph(MACHINE + config('facts', `{at: "\${vm.status.host}"}`)),
    'i.yaml': INSTANCE,
  })
  const { id, files, incomplete, unreadable } = read.late?.base ?? read
  const pieces = structuredClone([...piecesOf(read, [])])
  const taken = unpack({ id, files, incomplete, unreadable }, pieces, (instances) => ({
    by: (known) => expandLate(instances, known),
    prepare: async () => {},
  }))
  assert.deepEqual([keys(taken), waits(taken), taken.unreadable], [keys(read), waits(read), read.unreadable])
  const settled = taken.settle?.(seen(MACHINE_SEEN))
  assert.deepEqual(settled === undefined ? undefined : dataOf(settled, 'Addon/toys-facts'), { at: 'h1' })
})

test('a chain waits link by link; a field that croft cannot know is taken from the object', () => {
  const chain =
    MACHINE +
    config('first', `{at: "\${vm.status.host}"}`) +
    config('second', `{name: "\${first.metadata.name}", uid: "\${first.metadata.uid}", at: "\${first.data.at}"}`)
  const read = readTexts({ 'g.yaml': graph(chain), 'i.yaml': INSTANCE })
  assert.deepEqual(waits(read), [
    `Addon/toys-first: data.at = \${vm.status.host} is known after Machine/shops/toys-vm is ready`,
    `Addon/toys-second: data.uid = \${first.metadata.uid} is known after Addon/toys-first is ready`,
    `Addon/toys-second: data.at = \${first.data.at} is known after Addon/toys-first is ready (field not found: at)`,
  ])
  const one = read.settle?.(seen(MACHINE_SEEN)) ?? read
  assert.deepEqual(keys(one), ['Addon/toys-first', 'Machine/shops/toys-vm'])
  const object = { metadata: { name: 'first', uid: 'u-1' }, data: { at: 'h1' } }
  const both = read.settle?.(seen({ ...MACHINE_SEEN, 'Addon/toys-first': { object } })) ?? read
  assert.deepEqual(dataOf(both, 'Addon/toys-second'), { name: 'first', uid: 'u-1', at: 'h1' })
})

test('where a name, a condition or a list waits, nothing of the instance counts as gone', () => {
  const tables: readonly (readonly [string, string])[] = [
    [config('facts', '{a: b}').replace('name: facts', `name: "\${vm.status.host}"`), 'Addon/toys-facts'],
    [
      config('facts', '{a: b}').replace(
        '      template',
        `      includeWhen: ["\${vm.status.host == 'h1'}"]\n      template`,
      ),
      'Addon/toys-facts',
    ],
    [MACHINE.replace('id: vm', 'id: other').replace(`"\${schema.metadata.name}-vm"`, `"\${vm.status.host}"`), '?'],
  ]
  for (const [resource, key] of tables) {
    const read = readTexts({ 'g.yaml': graph(MACHINE + resource), 'i.yaml': INSTANCE })
    assert.deepEqual(told(errorsOf(read)), [])
    assert.equal(waits(read)[0]?.split(': ')[0], key, resource)
    assert.equal(read.incomplete, key === '?', resource)
    const settled = read.settle?.(seen(MACHINE_SEEN)) ?? read
    assert.deepEqual([keys(settled).length, settled.incomplete], [2, false], resource)
  }
})

test('a list of objects is taken as a whole, and every one of it must be there', () => {
  const nodes = `    - id: nodes
      forEach:
        - n: \${lists.range(2)}
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: "n\${n}"}
        spec: {host: h1, class: small, networks: [{network: lan}]}
`
  const read = readTexts({
    'g.yaml': graph(nodes + config('all', `{at: "\${nodes.map(one, one.status.host).join(',')}"}`)),
    'i.yaml': INSTANCE,
  })
  assert.deepEqual(keys(read), ['Machine/shops/n0', 'Machine/shops/n1'])
  const host = (name: string) => ({ status: { host: name } })
  const half = read.settle?.(seen({ 'Machine/shops/n0': host('a') })) ?? read
  assert.equal(waits(half).length, 1)
  const whole = read.settle?.(seen({ 'Machine/shops/n0': host('a'), 'Machine/shops/n1': host('b') })) ?? read
  assert.deepEqual(dataOf(whole, 'Addon/toys-all'), { at: 'a,b' })
})

test('the status of an instance inside another is what its graph says of it', () => {
  const inner = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: box}
spec:
  schema:
    apiVersion: v1alpha1
    kind: Box
    spec: {}
    status: {address: "\${vm.status.addresses[0]}"}
  resources:
${MACHINE}`
  const outer = `    - id: box
      template:
        apiVersion: kro.run/v1alpha1
        kind: Box
        metadata: {name: toys}
        spec: {}
${config('facts', `{at: "\${box.status.address}"}`)}`
  const read = readTexts({ 'g.yaml': graph(outer), 'b.yaml': inner, 'i.yaml': INSTANCE })
  assert.deepEqual(told(errorsOf(read)), [])
  assert.deepEqual(waits(read).length, 1)
  const settled = read.settle?.(seen(MACHINE_SEEN)) ?? read
  assert.deepEqual(dataOf(settled, 'Addon/toys-facts'), { at: '10.0.0.7' })
})

test('mistakes are found before anything is known: a field that the kind does not have, a value of the wrong type', () => {
  const wrong = MACHINE.replace('id: vm', 'id: other')
    .replace(`"\${schema.metadata.name}-vm"`, 'other')
    .replace('class: small', `class: small, description: "\${vm.status.host}", hots: h1`)
  const read = readTexts({ 'g.yaml': graph(MACHINE + wrong), 'i.yaml': INSTANCE })
  assert.match(told(errorsOf(read)).join('\n'), /unknown-field .*hots.*\(for Shop\/shops\/toys\)/)
  const typed = MACHINE.replace('id: vm', 'id: other').replace('class: small', `class: "\${vm.status.addresses}"`)
  assert.match(
    told(readTexts({ 'g.yaml': graph(MACHINE + typed) }).problems).join('\n'),
    /wrong-type .*vm\.status\.addresses is a list; class must be text/,
  )
})

const EXTERNAL = `    - id: platform
      externalRef:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: platform, namespace: system}
${config('facts', `{region: "\${platform.data.region}"}`)}`

test('externalRef reads a document among the sources', () => {
  const document =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: platform, namespace: system}\ndata: {region: attic}\n'
  const read = readTexts({ 'g.yaml': graph(EXTERNAL), 'i.yaml': INSTANCE, 'c.yaml': document })
  assert.deepEqual(told(errorsOf(read)), [])
  assert.deepEqual(dataOf(read, 'Addon/toys-facts'), { region: 'attic' })
  assert.equal(read.declarations.find(({ kind }) => kind === 'Addon')?.policy.after, undefined)
})

test('externalRef reads an object of the cluster that is named, and is refused at its line where there is none', () => {
  const read = readTexts({ 'g.yaml': graph(EXTERNAL), 'i.yaml': INSTANCE })
  assert.deepEqual(waits(read), [
    `Addon/toys-facts: data.region = \${platform.data.region} is known after ConfigMap/system/platform is ready`,
  ])
  const [wanted] = read.reads ?? []
  assert.ok(wanted)
  const object = { data: { region: 'cellar' } }
  const settled = read.settle?.(seen({ [foreignKey(wanted.object)]: { object } })) ?? read
  assert.deepEqual(dataOf(settled, 'Addon/toys-facts'), { region: 'cellar' })
  const homeless = graph(EXTERNAL).replace('annotations: {croft.dev/cluster: home}', '')
  assert.match(
    told(errorsOf(readTexts({ 'g.yaml': homeless, 'i.yaml': INSTANCE }))).join(),
    /bad-expression 14:\d+ no document here is ConfigMap system\/platform of v1; .*croft\.dev\/cluster/,
  )
})

for (const [what, from, to, expected] of [
  [
    'a Secret',
    'kind: ConfigMap\n        metadata: {name: platform',
    'kind: Secret\n        metadata: {name: platform',
    'the values of a Secret are not read',
  ],
  [
    'a selector',
    '{name: platform, namespace: system}',
    '{selector: {matchLabels: {a: b}}}',
    'a selector is not supported',
  ],
  ['no name', '{name: platform, namespace: system}', '{namespace: system}', 'externalRef needs metadata.name'],
] as const)
  test(`an externalRef with ${what} is refused at its line`, () => {
    const text = told(readTexts({ 'g.yaml': graph(EXTERNAL).replace(from, to) }).problems).join()
    assert.ok(text.includes(expected), text)
  })

const PAIR = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: pairs.example.org}
spec:
  group: example.org
  names: {kind: Pair, plural: pairs}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {note: {type: string}}}
            status: {type: object, properties: {address: {type: string}}}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: pair}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: Pair}
  mode: Pipeline
  pipeline:
    - step: make
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: app
            base:
              apiVersion: croft.dev/v1alpha1
              kind: Machine
              spec: {host: h1, class: small, networks: [{network: lan}]}
            patches:
              - type: FromCompositeFieldPath
                fromFieldPath: status.address
                toFieldPath: spec.description
                transforms: [{type: string, string: {type: Format, fmt: "database at %s"}}]
          - name: db
            base:
              apiVersion: croft.dev/v1alpha1
              kind: Machine
              spec: {host: h1, class: small, networks: [{network: lan}]}
            patches:
              - type: ToCompositeFieldPath
                fromFieldPath: status.addresses[0]
                toFieldPath: status.address
`
const PAIR_INSTANCE = 'apiVersion: example.org/v1\nkind: Pair\nmetadata: {name: shop}\nspec: {}\n'

test('what a patch takes from the status of another resource waits for it, comes after that one, and follows it', () => {
  const first = readTexts({ 'd.yaml': PAIR, 'i.yaml': PAIR_INSTANCE })
  assert.deepEqual(told(errorsOf(first)), [])
  assert.deepEqual(keys(first), ['Machine/shop-db'])
  assert.deepEqual(first.unreadable, ['Machine/shop-app'])
  assert.deepEqual(waits(first), [
    `Machine/shop-app: spec.description = \${status.address} is known after Machine/shop-db is ready`,
  ])
  const settled = (address?: string) =>
    first.settle?.(
      seen({ 'Machine/shop-db': { status: { addresses: address === undefined ? [] : [address] } } }),
    ) as Revision
  const app = (revision: Revision) => revision.declarations.find(({ key }) => key === 'Machine/shop-app')
  for (const address of ['10.0.0.7', '10.0.0.8']) {
    const known = settled(address)
    assert.deepEqual(told(errorsOf(known)), [])
    assert.partialDeepStrictEqual(app(known)?.spec, { description: `database at ${address}` })
    assert.deepEqual(app(known)?.policy.after, ['Machine/shop-db'])
  }
  const gone = settled()
  assert.equal(app(gone), undefined)
  assert.deepEqual(gone.unreadable, ['Machine/shop-app'])
})

test('a field that a patch requires makes its resource wait, and no other', () => {
  const required = PAIR.replace(
    'fromFieldPath: status.address',
    'fromFieldPath: spec.note\n                policy: {fromFieldPath: Required}',
  )
  const first = readTexts({ 'd.yaml': required, 'i.yaml': PAIR_INSTANCE })
  assert.deepEqual(told(errorsOf(first)), [])
  assert.deepEqual(keys(first), ['Machine/shop-db'])
  assert.deepEqual(waits(first), [
    `Machine/shop-app: spec.description = \${spec.note} is not known yet (the patch requires it, and the composite does not say it)`,
  ])
  const said = readTexts({ 'd.yaml': required, 'i.yaml': PAIR_INSTANCE.replace('spec: {}', 'spec: {note: x}') })
  assert.deepEqual(keys(said), ['Machine/shop-app', 'Machine/shop-db'])
})
