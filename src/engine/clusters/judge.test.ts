import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterDecision, ClusterPlan } from '../../model/observed-cluster.ts'
import { clusterSpec } from '../../plan/clusters/testing/fixture.ts'
import { isClusterSettled } from './judge.ts'

const hold = (guard: string) => ({ guard, reason: 'r', allow: 'a' })
const QUIET = { steps: [], waits: [], holds: [], refusals: [], warnings: [] }

const CASES: readonly [string, object, boolean][] = [
  ['Ready', {}, true],
  ['Off', {}, true],
  ['Forming', {}, false],
  ['Degraded', {}, false],
  ['AwaitingCNI', {}, false],
  ['Ready', { waits: [{}] }, false],
  ['Ready', { steps: [{}] }, false],
  ['Degraded', { holds: [hold('window')] }, true],
  ['Degraded', { refusals: [hold('stale-state')] }, true],
  ['Degraded', { holds: [hold('servers')] }, false],
]

for (const [phase, more, expected] of CASES)
  test(`a cluster in the phase ${phase} with ${JSON.stringify(more)} is ${expected ? '' : 'not '}at rest`, () => {
    const decision = { ...QUIET, phase, ...more } as unknown as ClusterDecision
    const look = { decision, declaration: { spec: clusterSpec('s1') } } as unknown as ClusterPlan
    assert.equal(isClusterSettled(look, false), expected)
  })

test('nodes that wait for a network that nobody will bring are at rest', () => {
  const { network } = clusterSpec('s1')
  const spec = clusterSpec('s1', { network: { ...network, flannelBackend: 'none' } })
  const look = { decision: { ...QUIET, phase: 'AwaitingCNI' }, declaration: { spec } } as unknown as ClusterPlan
  assert.equal(isClusterSettled(look, false), true)
  assert.equal(isClusterSettled(look, true), false, 'an add-on may bring it')
})
