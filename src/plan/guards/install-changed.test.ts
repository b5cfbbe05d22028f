import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { Action } from '../../model/plan.ts'
import { estateOf, step } from '../testing/fixture.ts'
import type { GuardContext } from './guard.ts'
import { installChanged } from './install-changed.ts'

const RELEASE = 'Addon/shop@Release.helm.sh/shop/shop'
const WEB = 'Addon/shop@Deployment.apps/shop/web'
const doing = (what: 'create' | 'delete' | 'update') =>
  ({
    do: what,
    externalId: 'x',
    host: 'prod',
    steps: [step('delete', 'x')],
    reason: 'x',
    changes: [],
  }) as unknown as Action

/** Judges an action. `declared` keys include the `unseen` ones that do not exist yet; `leaving` keys are undeclared. */
function judged(
  key: string,
  what: 'create' | 'delete' | 'update',
  {
    declared = [],
    unseen = [],
    leaving = [],
    deletion = 'Delete',
    brings = [],
  }: {
    declared?: readonly string[]
    unseen?: readonly string[]
    leaving?: readonly string[]
    deletion?: 'Delete' | 'Orphan'
    brings?: readonly string[]
  },
): string {
  const resources = declared.map((one) => ({ key: one, connection: 'cluster/prod' }))
  const observed = { connection: 'cluster/prod', externalId: 'Release.helm.sh/shop/shop', name: 'shop', brings }
  const context = {
    estate: { ...estateOf([]), resources },
    unseen: new Set(unseen),
    leaving: leaving.map((one) => ({ key: one, deletion, observed })),
  } as unknown as GuardContext
  const action = doing(what)
  const entry = { key, action } as never
  return installChanged.judge(action as never, { entry, policy: DEFAULT_POLICY }, context).do
}

const TO_HELM = { declared: [RELEASE], unseen: [RELEASE], leaving: [WEB] }
const TO_APPLY = { declared: [WEB], leaving: [RELEASE], brings: ['Deployment.apps/shop/web'] }

const CASES: readonly (readonly [string, string, 'create' | 'delete' | 'update', object, string])[] = [
  ['objects of the chart leave while Helm has not installed it', WEB, 'delete', TO_HELM, 'refuse'],
  ['the release comes while they would be deleted', RELEASE, 'create', TO_HELM, 'refuse'],
  ['they stay by prune: none', RELEASE, 'create', { ...TO_HELM, deletion: 'Orphan' }, 'create'],
  ['an object leaves beside a release that is there', WEB, 'delete', { ...TO_HELM, unseen: [] }, 'delete'],
  ['an add-on without a release', WEB, 'delete', { leaving: [WEB] }, 'delete'],
  [
    'another add-on has one',
    WEB,
    'delete',
    { ...TO_HELM, declared: ['Addon/x@Release.helm.sh/x/x'], unseen: ['Addon/x@Release.helm.sh/x/x'] },
    'delete',
  ],
  ['the release leaves and its objects are declared', RELEASE, 'delete', TO_APPLY, 'refuse'],
  [
    'the release leaves, and what is declared is not of it',
    RELEASE,
    'delete',
    { ...TO_APPLY, brings: ['Service/shop/web'] },
    'delete',
  ],
  ['a release that is only changed', RELEASE, 'update', TO_HELM, 'update'],
  ['what is no part of an add-on', 'Machine/a', 'delete', TO_HELM, 'delete'],
]

for (const [name, key, what, world, expected] of CASES)
  test(`between apply and helm: ${name}`, () => assert.equal(judged(key, what, world), expected))
