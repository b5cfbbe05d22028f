import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '../../model/action.ts'
import { type DecidedRemoval, inOrderOfLeaving } from './removal-order.ts'

const GOING: Action = { do: 'delete', externalId: 'x', host: 'homelab', steps: [], reason: 'no longer declared' }
const KEPT: Action = { do: 'refuse', guard: 'protection', reason: '', allow: '' }

function removal(key: string, list: string, action: Action = GOING, deletion: 'Delete' | 'Orphan' = 'Delete') {
  const sighting = { connection: 'cluster/homelab', type: 'object', list, externalId: key, host: 'homelab' } as const
  return { removal: { key, uid: key, type: 'object', sighting, record: undefined, deletion, protect: false }, action }
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
