import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type MachineLife, NO_REQUESTS, type ReplaceOrder } from '../../model/observed-cluster.ts'
import { standingOrders } from './orders.ts'
import { clusterSpec, HOUR, MINUTE, NOW, type NodeTurn, nodeSpec, observedCluster } from './testing/fixture.ts'
import { nextSteps } from './testing/planned.ts'

const order = (goes?: MachineLife | 'unseen'): ReplaceOrder => ({
  node: 's3',
  atMs: NOW - HOUR,
  ...(goes === undefined ? {} : { goes }),
})
const standing = (goes: MachineLife | 'unseen' | undefined, turn: NodeTurn) =>
  standingOrders([order(goes)], observedCluster('s1 s2 s3', { s3: turn }))
const box = { ours: false, exists: 'yes' } as const

describe('an order to replace a node', () => {
  test('names the machine that the first look after it shows, and what is learnt of it later', () => {
    assert.deepEqual(standing('unseen', { k3s: { wipes: 2 } }), [order({ machineId: 'id-s3', wipes: 2 })])
    assert.deepEqual(standing('unseen', { k3s: 'unknown' }), [order({ machineId: 'id-s3' })])
    assert.deepEqual(standing({ machineId: 'id-s3' }, { k3s: { wipes: 2 } }), [order({ machineId: 'id-s3', wipes: 2 })])
  })

  const cases: readonly (readonly [string, MachineLife | 'unseen' | undefined, NodeTurn, boolean])[] = [
    ['its machine is still there', { machineId: 'id-s3' }, {}, true],
    ['its machine is gone', { machineId: 'id-s3' }, { machine: { exists: 'no' } }, false],
    ['nobody can tell whether its machine is there', { machineId: 'id-s3' }, { machine: { exists: 'unknown' } }, true],
    ['another machine has the name', { machineId: 'id-old' }, {}, false],
    [
      'its machine-id is not read in this look',
      { machineId: 'x' },
      { machine: { machineId: undefined } as never },
      true,
    ],
    ['the box was wiped since', { machineId: 'id-s3', wipes: 2 }, { machine: box, k3s: { wipes: 3 } }, false],
    ['the box was not wiped since', { machineId: 'id-s3', wipes: 2 }, { machine: box, k3s: { wipes: 2 } }, true],
    ['a box holds nothing and is no node', 'unseen', { machine: box, kube: 'absent', k3s: { data: 'none' } }, false],
    ['a box is silent', 'unseen', { machine: box, kube: 'absent', k3s: 'unknown' }, true],
    ['an older croft wrote it, which gave orders no end', undefined, {}, false],
  ]
  for (const [what, goes, turn, stands] of cases)
    test(`${stands ? 'stands' : 'is over'} when ${what}`, () => {
      assert.equal(standing(goes, turn).length, stands ? 1 : 0)
    })

  test('does not come back with the Nodes of a restored snapshot, and not with a clock that is slow', () => {
    const spec = {
      ...clusterSpec('s1 s2'),
      servers: ['s1', 's2', 's3'].map((name) => nodeSpec(name, { machine: { host: name } })),
    }
    const next = (goes: MachineLife, turn: NodeTurn) =>
      nextSteps(
        spec,
        observedCluster('s1 s2 s3', { s3: turn }, { requests: { ...NO_REQUESTS, replace: [order(goes)] } }),
      )
    const restored: NodeTurn = { machine: box, kube: { createdMs: NOW - 48 * HOUR }, k3s: { wipes: 3 } }
    assert.deepEqual(next({ machineId: 'id-s3', wipes: 2 }, restored), [])
    const slow: NodeTurn = { machine: { machineId: 'new' }, kube: { createdMs: NOW - HOUR - 20 * MINUTE } }
    assert.deepEqual(next({ machineId: 'id-s3' }, slow), [])
    assert.deepEqual(next({ machineId: 'id-s3', wipes: 3 }, restored), ['cordon s3'])
  })
})
