import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Foreign } from '../../kubernetes/objects.ts'
import { celProblem, holds } from '../../lib/cel.ts'
import type { KubeObject, WantedObject } from '../../model/kube-object.ts'
import { DEFAULT_POLICY } from '../../model/policy.ts'
import type { Resource } from '../../model/resource.ts'
import type { Sighting } from '../../model/sighting.ts'
import { fieldChanges } from './diff.ts'
import { handoverStep, keeperLook } from './handover.ts'
import type { ObjectLook } from './look.ts'
import { marked, onlyMark } from './marks.ts'
import { objectReadiness } from './readiness.ts'
import { refusalOfWrite } from './refusals.ts'
import { rules } from './rules.ts'

const MAP: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace: 'n' },
  data: { a: '1' },
}

function wanted(object: KubeObject = MAP, more: Partial<WantedObject> = {}): WantedObject {
  return { cluster: 'homelab', addon: 'x', object, plural: 'configmaps', deletion: 'Delete', ...more }
}

function resource(one: WantedObject): Resource {
  return {
    key: 'Addon/x@ConfigMap/n/m',
    uid: '0123456789abcdef',
    kind: 'Addon',
    name: 'x/m',
    driver: 'kubernetes',
    connection: 'cluster/homelab',
    estate: 'default',
    desired: { type: 'object', object: one },
    needs: [],
    policy: DEFAULT_POLICY,
    origin: { file: 'a', line: 1, column: 1 },
    generation: 'g',
  }
}

function seen(look: ObjectLook): Sighting {
  const about = { connection: 'cluster/homelab', type: 'object', list: 'v1 ConfigMap', host: 'homelab' } as const
  return { ...about, externalId: 'ConfigMap/n/m', close: { config: { look }, atMs: 1 } }
}

const manager = (name: string, fieldsV1: object, operation = 'Apply') => ({ manager: name, operation, fieldsV1 })
const DATA = { 'f:data': { 'f:a': {} } }

/** As the server would show it after we applied it. */
function applied(
  one: WantedObject,
  managedFields: readonly object[] = [manager('croft', DATA)],
  more: Foreign = {},
): Foreign {
  const object = marked(resource(one), one)
  return { ...object, ...more, metadata: { ...object.metadata, managedFields } }
}

const paths = (one: WantedObject, look: ObjectLook) => rules.diff(resource(one), seen(look)).map(({ path }) => path)

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
  assert.deepEqual(step?.secretParams, ['data.key'])
  assert.equal(step?.call.params['data.key'], '{"env":"KEY"}')
  assert.doesNotMatch(step?.call.params.body ?? '', /"data"/)
  const [change] = rules.diff(resource(one), seen({ object: applied(one, []), secretsDiffer: ['key'] }))
  assert.deepEqual([change?.path, change?.from, change?.to, change?.secret], ['data.key', '***', '***', true])
})

const APPLICATION: KubeObject = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name: 'x', namespace: 'argocd' },
}
const SYNCED = keeperLook({
  kind: 'Application',
  status: { sync: { status: 'Synced' }, health: { status: 'Healthy' } },
})

test('[A52] from what is seen to the next step of handing over, and back: one owner at any time', () => {
  const handed = wanted(MAP, { handover: { to: 'argocd', by: APPLICATION } })
  const both = [manager('croft', DATA), manager('argocd-controller', DATA)]
  const released = onlyMark(resource(handed), handed) as unknown as Foreign
  const step = (one: WantedObject, look: ObjectLook) => handoverStep(one, look).do
  const table: readonly (readonly [string, WantedObject, ObjectLook, string])[] = [
    ['nobody asked', wanted(), { object: applied(wanted()) }, 'keep'],
    ['the Application is not there', handed, { object: applied(handed, both) }, 'keep'],
    ['it is not there, as was seen', handed, { object: applied(handed, both), keeper: keeperLook(undefined) }, 'keep'],
    ['it is not in sync', handed, { object: applied(handed, both), keeper: { ...SYNCED, synced: false } }, 'keep'],
    ['it is ill', handed, { object: applied(handed, both), keeper: { ...SYNCED, healthy: false } }, 'keep'],
    ['it does not keep our field', handed, { object: applied(handed), keeper: SYNCED }, 'keep'],
    ['it keeps all', handed, { object: applied(handed, both), keeper: SYNCED }, 'release'],
    ['it is given', handed, { object: released, keeper: SYNCED }, 'watch'],
    ['it is given, and ill', handed, { object: released, keeper: { ...SYNCED, healthy: false } }, 'watch'],
    ['wanted back, the other is there', wanted(), { object: released, keeper: SYNCED }, 'await'],
    ['wanted back, the other is gone', wanted(), { object: released, keeper: keeperLook(undefined) }, 'take-back'],
  ]
  for (const [what, one, look, expected] of table) assert.equal(step(one, look), expected, what)
  const [back] = rules.updateSteps(resource(wanted()), seen({ object: released }), [
    { path: 'owner', from: 'argocd', to: 'croft', effect: 'live' },
  ])
  assert.match(back?.call.path ?? '', /force=true/)
  const [give] = rules.updateSteps(resource(handed), seen({ object: applied(handed, both) }), [
    { path: 'owner', from: 'croft', to: 'argocd', effect: 'live' },
  ])
  assert.doesNotMatch(give?.call.path ?? '', /force/)
  assert.doesNotMatch(give?.call.params.body ?? '', /"data"/)
  assert.deepEqual(give?.learns?.done, { owner: 'argocd' })
})

test('what goes takes only itself: by its uid, and a keeper of Flux is put to rest first', () => {
  const release = {
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name: 'r', namespace: 'f', uid: 'u' },
  }
  const steps = rules.deleteSteps(seen({ object: release }))
  assert.deepEqual(
    steps.map(({ verb }) => verb),
    ['configure', 'delete'],
  )
  assert.equal(steps[1]?.call.params.uid, 'u')
  assert.deepEqual(
    rules.deleteSteps(seen({ object: { ...release, spec: { suspend: true } } })).map(({ verb }) => verb),
    ['delete'],
  )
})

test('an object is ready by the rules of its kind, by its conditions, and by what a person wrote', () => {
  const ready = (object: Foreign, more: Partial<ObjectLook> = {}, expression?: string) =>
    objectReadiness({ object, ...more }, expression).ready
  const pods = (kind: string, status: object, spec: object = {}) => ({
    kind,
    metadata: { generation: 2 },
    spec,
    status,
  })
  const yes = (type: string) => ({ conditions: [{ type, status: 'True' }] })
  const table: readonly (readonly [string, boolean, boolean])[] = [
    ['a map', ready(MAP), true],
    [
      'old generation',
      ready(pods('Deployment', { observedGeneration: 1, updatedReplicas: 1, availableReplicas: 1 })),
      false,
    ],
    ['all pods', ready(pods('Deployment', { observedGeneration: 2, updatedReplicas: 1, availableReplicas: 1 })), true],
    [
      'one lacks',
      ready(pods('Deployment', { observedGeneration: 2, updatedReplicas: 2, availableReplicas: 1 }, { replicas: 2 })),
      false,
    ],
    ['nobody saw it', ready(pods('DaemonSet', {})), false],
    ['no nodes', ready(pods('DaemonSet', { observedGeneration: 2, desiredNumberScheduled: 0 })), true],
    ['definition', ready({ kind: 'CustomResourceDefinition', status: yes('Established') }), true],
    ['definition, new', ready({ kind: 'CustomResourceDefinition' }), false],
    ['job', ready({ kind: 'Job', status: yes('Complete') }), true],
    ['job failed', ready({ kind: 'Job', status: yes('Failed') }), false],
    ['chart', ready({ kind: 'HelmChart' }, { install: 'complete' }), true],
    ['chart, installing', ready({ kind: 'HelmChart' }, { install: 'running' }), false],
    ['ready', ready({ kind: 'Any', status: yes('Ready') }), true],
    [
      'stalled',
      ready({ kind: 'Any', status: { conditions: [...yes('Ready').conditions, ...yes('Stalled').conditions] } }),
      false,
    ],
    ['going', ready({ ...MAP, metadata: { deletionTimestamp: 'x' } }), false],
    ['expression', ready({ status: { n: 3 } }, {}, 'object.status.n >= 3'), true],
    ['expression, not yet', ready({ status: { n: 2 } }, {}, 'object.status.n >= 3'), false],
    ['expression without its field', ready({}, {}, 'object.status.n >= 3'), false],
  ]
  for (const [what, found, expected] of table) assert.equal(found, expected, what)
})

test('expressions answer yes, no, or why nobody can tell', () => {
  assert.equal(holds('object.a == 1', { a: 1 }), true)
  assert.equal(typeof holds('object.b == 1', { a: 1 }), 'string')
  assert.equal(typeof holds('object.a + 1', { a: 1 }), 'string')
  assert.notEqual(celProblem('object.a =='), undefined)
  assert.equal(celProblem('object.a == 1'), undefined)
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
  assert.equal(refusalOfWrite(404, {}, 'apply it', known).meaning, 'waiting')
})
