import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../../kinds/registry.ts'
import type { Foreign } from '../../kubernetes/objects.ts'
import type { DeclaredObject } from '../objects.ts'
import type { ServedKind } from '../served.ts'
import type { ComposedObject } from './composed-objects.ts'
import { decideInstance, INSTANCE_FINALIZER, type InstanceFacts } from './decide.ts'

const kind = findKind('croft.dev/v1alpha1', 'Machine') ?? assert.fail()
const served: ServedKind = { kind, apiVersion: 'croft.dev/v1alpha1', plural: 'machines', namespaced: true }
const HASH = { 'compose.croft.dev/hash': 'a' }

const wanted = (name: string, spec: Foreign = {}): ComposedObject => ({
  key: `Machine/${name}`,
  served,
  namespace: 'croft-system',
  name,
  id: name,
  object: { metadata: { name, annotations: HASH }, spec },
})

const child = (
  name: string,
  more: { readonly spec?: Foreign; readonly ready?: boolean; readonly deleting?: boolean } = {},
) => {
  const conditions = [{ type: 'Ready', status: more.ready === false ? 'False' : 'True', reason: 'Booting' }]
  const object = { metadata: { name, annotations: HASH }, spec: more.spec ?? {}, status: { conditions } }
  return { served, object, key: `Machine/${name}`, deleting: more.deleting === true } satisfies DeclaredObject
}

const facts = (
  more: Partial<InstanceFacts> & { readonly deleting?: boolean; readonly finalizers?: readonly string[] },
): InstanceFacts => ({
  object: {
    metadata: {
      name: 'agent-1',
      uid: 'u',
      finalizers: more.finalizers ?? [INSTANCE_FINALIZER],
      ...(more.deleting === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
  },
  along: undefined,
  wanted: [],
  children: [],
  strangers: [],
  ...more,
})

/** Returns the decision in short: `apply vm; True Expanded; False Creating`. */
const shown = (given: InstanceFacts) => {
  const { steps, synced, ready } = decideInstance(given)
  const done = steps.map((step) =>
    step.do === 'apply'
      ? `apply ${step.wanted.name}`
      : step.do === 'delete'
        ? `delete ${step.child.key.slice(8)}`
        : step.do,
  )
  return `${done.join(', ')}; ${synced.status} ${synced.reason}; ${ready.status} ${ready.reason}`
}

const two = [wanted('vm'), wanted('disk', { dependsOn: ['Machine/vm'] })]
const both = [child('vm'), child('disk', { spec: { dependsOn: ['Machine/vm'] } })]

for (const [what, given, expected] of [
  ['is held before anything is made for it', { wanted: two, finalizers: [] }, 'hold; True Expanded; False Creating'],
  ['gets all that it wants', { wanted: two }, 'apply vm, apply disk; True Expanded; False Creating'],
  ['that has everything is ready', { wanted: two, children: both }, '; True Expanded; True Available'],
  [
    'waits for what is not ready',
    { wanted: [wanted('vm')], children: [child('vm', { ready: false })] },
    '; True Expanded; False Creating',
  ],
  [
    'has what somebody changed put back',
    { wanted: [wanted('vm', { host: 'a' })], children: [child('vm', { spec: { host: 'b' } })] },
    'apply vm; True Expanded; True Available',
  ],
  [
    'leaves alone what a server or a person added',
    { wanted: [wanted('vm', { host: 'a' })], children: [child('vm', { spec: { host: 'a', more: 1 } })] },
    '; True Expanded; True Available',
  ],
  [
    'loses what it no longer wants',
    { wanted: [wanted('vm')], children: both },
    'delete disk; True Expanded; True Available',
  ],
  [
    'waits while what it wants is being deleted',
    { wanted: [wanted('vm')], children: [child('vm', { deleting: true, ready: false })] },
    '; True Expanded; False Creating',
  ],
  ['with a mistake loses nothing', { wanted: { problem: 'no' }, children: both }, '; False Refused; True Available'],
  ['makes nothing beside a stranger', { wanted: two, strangers: ['Machine/vm'] }, '; False Conflict; False Conflict'],
  [
    'of which the server took one object not says so and tries again',
    { wanted: two, refusal: 'too long' },
    `${shown(facts({ wanted: two })).split(';')[0]}; False Refused; False Creating`,
  ],
  [
    'whose objects are all there says no longer what the server once refused',
    { wanted: two, children: both, refusal: 'too long' },
    '; True Expanded; True Available',
  ],
  [
    'that is deleted loses the last first',
    { deleting: true, children: both },
    'delete disk; True Expanded; False Deleting',
  ],
  [
    'that is deleted waits for what goes',
    { deleting: true, children: [child('vm'), child('disk', { spec: { dependsOn: ['Machine/vm'] }, deleting: true })] },
    '; True Expanded; False Deleting',
  ],
  [
    'that is deleted with a mistake goes too',
    { deleting: true, wanted: { problem: 'no' } },
    'release; True Expanded; False Deleting',
  ],
  [
    'that is deleted with its kind loses nothing',
    { deleting: true, along: 'its kind goes', children: both },
    '; False DeletionHeld; True Available',
  ],
  [
    'that leaves its objects behind deletes none',
    { deleting: true, finalizers: ['orphan', INSTANCE_FINALIZER], children: both },
    '; True Expanded; False Deleting',
  ],
] as const)
  test(`an instance ${what}`, () => assert.equal(shown(facts(given)), expected))
