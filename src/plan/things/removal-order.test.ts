import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/plan.ts'
import { type DecidedRemoval, dependentsFirst, inOrderOfLeaving } from './removal-order.ts'

const GOING: Action = { do: 'delete', externalId: 'x', host: 'homelab', steps: [], reason: 'no longer declared' }
const KEPT: Action = { do: 'refuse', guard: 'protection', reason: '', allow: '' }

function removal(key: string, list: string, action: Action = GOING, deletion: 'Delete' | 'Orphan' = 'Delete') {
  const observed = { connection: 'cluster/homelab', type: 'object', list, externalId: key, host: 'homelab' } as const
  return { removal: { key, uid: key, type: 'object', observed, record: undefined, deletion, protect: false }, action }
}

const POOL = removal('Addon/rook@CephBlockPool.ceph.rook.io/rook-ceph/p', 'ceph.rook.io/v1 CephBlockPool')
const CHART = removal('Addon/rook@HelmChart.helm.cattle.io/kube-system/rook', 'helm.cattle.io/v1 HelmChart')
const SPACE = removal('Addon/rook@Namespace/rook-ceph', 'v1 Namespace')
const OTHER = removal('Addon/web@Deployment.apps/web/web', 'apps/v1 Deployment')

const said = (...all: readonly ReturnType<typeof removal>[]) =>
  inOrderOfLeaving(all as readonly DecidedRemoval[]).map(({ action }) =>
    action.do === 'wait' ? [action.message, action.next?.do] : action.do,
  )

test('an add-on leaves in the order opposite to its coming: its own kinds, what runs, definitions and namespaces', () => {
  const [pool, chart] = [POOL.removal.key, CHART.removal.key]
  assert.deepEqual(said(SPACE, CHART, POOL, OTHER), [
    [`waits until ${chart}, ${pool} are gone`, 'delete'],
    [`waits until ${pool} is gone`, 'delete'],
    'delete',
    'delete',
  ])
  assert.deepEqual(said(SPACE, CHART), [[`waits until ${chart} is gone`, 'delete'], 'delete'])
})

test('what is being deleted is waited for until it is gone; what stays is not', () => {
  const going: Action = { do: 'wait', reason: 'Locked', message: 'being deleted', lookAgainMs: 1 }
  assert.deepEqual(said(CHART, { ...POOL, action: going })[0], [`waits until ${POOL.removal.key} is gone`, 'delete'])
  assert.equal(said(CHART, { ...POOL, action: KEPT })[0], 'delete')
  assert.equal(said(CHART, removal(POOL.removal.key, 'ceph.rook.io/v1 CephBlockPool', GOING, 'Orphan'))[0], 'delete')
})

test('what depends on another leaves first, on whichever connection it is', () => {
  const ordered = (key: string, after: readonly string[] = [], declaredBy = 'git') => {
    const { removal: it, action } = removal(key, '')
    const record = { declaredBy, policy: { after } }
    return { removal: { ...it, type: 'vm', record }, action } as unknown as DecidedRemoval
  }
  const words = (...all: readonly DecidedRemoval[]) =>
    dependentsFirst(all).map(({ action }) => (action.do === 'wait' ? action.message : action.do))
  const [db, web, chart] = [
    ordered('Machine/db'),
    ordered('Machine/web', ['Machine/db']),
    ordered('Addon/site@Deployment/x', ['Machine/web', 'Machine/db']),
  ]
  assert.deepEqual(words(db, web, chart), [
    'waits until Machine/web, Addon/site@Deployment/x are gone',
    'waits until Addon/site@Deployment/x is gone',
    'delete',
  ])
  assert.deepEqual(words(db, web), ['waits until Machine/web is gone', 'delete'])
  assert.deepEqual(words(db), ['delete'])
  // If an owner has parts, each part waits.
  assert.deepEqual(words(ordered('Image/noble@cow'), ordered('Machine/a', ['Image/noble'])), [
    'waits until Machine/a is gone',
    'delete',
  ])
  // In a circle of old records none can be first, and another source delays nothing.
  assert.deepEqual(words(ordered('Machine/a', ['Machine/b']), ordered('Machine/b', ['Machine/a'])), [
    'delete',
    'delete',
  ])
  assert.deepEqual(words(db, ordered('Machine/web', ['Machine/db'], 'other')), ['delete', 'delete'])
})
