import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removed } from '../../model/destruction.ts'
import type { KubeObject, WantedObject } from '../../model/kube-object.ts'
import { fieldChanges } from './diff.ts'
import type { ObjectDetails } from './marks.ts'
import { rules } from './rules.ts'
import { applied, DATA, MAP, manager, resource, seen, shown, wanted } from './testing/fixture.ts'
import { refusalOfWrite } from './writing.ts'

const paths = (one: WantedObject, look: ObjectDetails) => rules.diff(resource(one), seen(look)).map(({ path }) => path)

test('differences are those of declared fields, by the server’s own account of who keeps what', () => {
  const one = wanted()
  assert.deepEqual(paths(one, { object: applied(one) }), [])
  assert.deepEqual(paths(one, { object: applied(one, undefined, { data: { a: '1', b: '2' } }) }), [], 'others may add')
  assert.deepEqual(
    paths(one, { object: applied(one, [manager('kubectl', DATA)], { data: { a: '9' } }) }),
    ['data.a'],
    'somebody took it',
  )
  assert.deepEqual(
    paths(one, { object: applied(one, undefined, { data: { a: 'in another form' } }) }),
    [],
    'still ours, and the same text: the server only wrote it in its own form',
  )
  assert.deepEqual(paths(wanted({ ...MAP, data: { a: '2' } }), { object: applied(one) }), ['data.a'])
  const gone = rules.diff(resource(wanted({ ...MAP, data: {} })), seen({ object: applied(one) }))
  assert.deepEqual(
    gone.map(({ path, from, to }) => [path, from, to]),
    [['data.a', '1', undefined]],
  )
  assert.deepEqual(paths({ ...one, deletion: 'Orphan' }, { object: applied(one) }), ['deletion'])
})

test('lists are taken apart as the server does: by key, as a set, or whole', () => {
  const declared: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { containers: [{ name: 'b', image: '2' }], args: ['x', 'y'], ports: [{ port: 80 }] },
  }
  const live = {
    spec: {
      containers: [{ name: 'injected' }, { name: 'b', image: '1' }],
      args: ['y', 'x'],
      ports: [{ port: 80, protocol: 'TCP' }],
    },
    metadata: {
      managedFields: [
        manager('other', {
          'f:spec': {
            'f:containers': { 'k:{"name":"b"}': { 'f:image': {} } },
            'f:args': {},
            'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:port': {} } },
          },
        }),
      ],
    },
  }
  assert.deepEqual(
    fieldChanges(declared, live, false).map(({ path, from, to }) => [path, from, to]),
    [
      ['spec.containers[name=b].image', '1', '2'],
      ['spec.args', ['y', 'x'], ['x', 'y']],
    ],
  )
})

test('a list that is kept as one is compared as one, and shown by its entries', () => {
  const chart = (valuesSecrets: readonly object[], version: string) =>
    ({
      apiVersion: 'helm.cattle.io/v1',
      kind: 'HelmChart',
      metadata: { name: 'c', namespace: 'kube-system' },
      spec: { version, valuesSecrets },
    }) as const
  const secret = (name: string, key: string) => ({ name, keys: [key] })
  const fieldsV1 = { 'f:spec': { 'f:version': {}, 'f:valuesSecrets': {} } }
  const live = (valuesSecrets: readonly object[]) => ({
    ...chart(valuesSecrets, '1.0.0'),
    metadata: { name: 'c', managedFields: [{ manager: 'croft', operation: 'Apply', fieldsV1 }] },
  })
  const paths = (was: readonly object[], is: readonly object[]) =>
    fieldChanges(chart(is, '1.1.0'), live(was), false).map(({ path }) => path)
  const [a, b] = [secret('a', 'x'), secret('b', 'y')]
  assert.deepEqual(paths([a], [a]), ['spec.version'], 'what is declared is not taken away')
  assert.deepEqual(paths([a, b], [a]), ['spec.version', 'spec.valuesSecrets[name=b].name'])
  assert.deepEqual(paths([a], [secret('a', 'z')]), ['spec.version', 'spec.valuesSecrets[name=a].keys[0]'])
})

test('a selector is kept as one: another image is no reason to replace a Deployment', () => {
  const deployment = (image: string, app = 'shop'): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { app } }, template: { spec: { containers: [{ name: 'main', image }] } } },
  })
  const fields = {
    'f:spec': {
      'f:selector': {},
      'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:name': {}, 'f:image': {} } } } },
    },
  }
  const live = {
    ...deployment('shop:1'),
    metadata: { name: 'd', managedFields: [{ ...manager('croft', fields), operation: 'Apply' }] },
  }
  const changes = (declared: KubeObject) =>
    fieldChanges(declared, live, false).map(({ path, effect }) => `${effect} ${path}`)
  assert.deepEqual(changes(deployment('shop:1')), [])
  assert.deepEqual(changes(deployment('shop:2')), ['live spec.template.spec.containers[name=main].image'])
  assert.deepEqual(changes(deployment('shop:1', 'other')), ['replace spec.selector'])
})

test('values of a Secret that a chart wrote are compared by who keeps them, and never shown', () => {
  const secret = (data: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    data,
  })
  const live = { metadata: { name: 's', managedFields: [manager('croft', { 'f:data': { 'f:a': {} } })] } }
  assert.deepEqual(fieldChanges(secret({ a: 'MQ==' }), live, true), [])
  const [step] = rules.createSteps(resource(wanted(secret({ a: 'MQ==' }))), '')
  assert.deepEqual(shown(step).secretParams, ['body'], 'the call is shown to nobody')
  assert.equal(rules.createSteps(resource(wanted()), '')[0]?.secretParams, undefined)
  for (const changes of [
    fieldChanges(secret({ a: 'Mg==' }), live, false),
    fieldChanges(secret({}), live, false),
    fieldChanges(secret({ a: 'MQ==' }), { metadata: { name: 's', managedFields: [] } }, true),
  ]) {
    assert.equal(changes.length, 1)
    assert.deepEqual([changes[0]?.from, changes[0]?.to, changes[0]?.secret], ['***', '***', true])
  }
})

test('what no server lets anybody change is a replacement, and nothing else is', () => {
  const set = (kind: string, spec: object): KubeObject => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 's' },
    spec,
  })
  const effect = (kind: string, spec: object) => fieldChanges(set(kind, spec), {}, false).map((one) => one.effect)
  assert.deepEqual(effect('StatefulSet', { serviceName: 'a' }), ['replace'])
  assert.deepEqual(effect('Deployment', { replicas: 2 }), ['live'])
  assert.deepEqual(effect('Job', { template: { spec: { x: 1 } } }), ['replace'])
})

test('what croft did not make is refused, unless a person lets it be taken over; a namespace is only a place', () => {
  const [change] = rules.diff(resource(wanted()), seen({ object: { ...MAP } }))
  assert.match(change?.blocked?.message ?? '', /was not made by croft/)
  const adopted = rules.diff(resource(wanted(MAP, { adopt: true })), seen({ object: { ...MAP, data: { a: '0' } } }))
  assert.deepEqual(
    adopted.map(({ path, blocked }) => [path, blocked]),
    [
      ['mark', undefined],
      ['data.a', undefined],
    ],
  )
  const space: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
  assert.deepEqual(paths(wanted(space), { object: space }), [])
})

test('values of secrets travel by reference: not in the body, not in the diff', () => {
  const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'n' } }
  const one = wanted(secret, { plural: 'secrets', secrets: { key: { env: 'KEY' } } })
  const [step] = rules.createSteps(resource(one), 'Secret/n/s')
  assert.deepEqual(shown(step).secretParams, ['data.key'])
  assert.equal(shown(step).params['data.key'], '{"env":"KEY"}')
  assert.doesNotMatch(shown(step).params.body ?? '', /"data"/)
  const [change] = rules.diff(resource(one), seen({ object: applied(one, []), secretsDiffer: ['key'] }))
  assert.deepEqual([change?.path, change?.from, change?.to, change?.secret], ['data.key', '***', '***', true])
})

test('what goes takes only itself: by its uid, and a keeper of Flux is put to rest first', () => {
  const release = {
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name: 'r', namespace: 'f', uid: 'u' },
  }
  const steps = rules.deleteSteps(removed(seen({ object: release }), []))
  assert.deepEqual(
    steps.map(({ verb }) => verb),
    ['configure', 'delete'],
  )
  assert.equal(shown(steps[1]).params.uid, 'u')
  assert.deepEqual(
    rules.deleteSteps(removed(seen({ object: { ...release, spec: { suspend: true } } }), [])).map(({ verb }) => verb),
    ['delete'],
  )
})

test('conflicts name the field and its keeper; a webhook that is not up yet is no fault', () => {
  const known = { reason: 'Conflict', meaning: 'waiting', message: 'm' } as const
  const causes = [{ reason: 'FieldManagerConflict', message: 'conflict with "kubectl" using v1', field: '.data.a' }]
  const conflict = refusalOfWrite(409, { details: { causes } }, 'apply it', known)
  assert.equal(conflict.meaning, 'stalled')
  assert.match(conflict.message, /\.data\.a \(kubectl\)/)
  const hook = refusalOfWrite(500, { message: 'failed calling webhook "x"' }, 'apply it', {
    ...known,
    connectionWide: true,
  })
  assert.deepEqual([hook.meaning, hook.connectionWide], ['waiting', undefined])
  // kube-apiserver 1.34 answers so: the object is wrong, the server is fine, and others continue.
  const typed = 'failed to create typed patch object (n/m; /v1, Kind=ConfigMap): .immutable: expected boolean'
  const wrong = refusalOfWrite(500, { message: typed }, 'apply it', { ...known, connectionWide: true })
  assert.deepEqual([wrong.meaning, wrong.connectionWide], ['stalled', undefined])
  assert.equal(refusalOfWrite(404, {}, 'apply it', known).meaning, 'waiting')
})
