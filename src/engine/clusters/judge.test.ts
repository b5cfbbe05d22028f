import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterDecision, ClusterPlan } from '../../model/observed-cluster.ts'
import { clusterSpec } from '../../plan/clusters/testing/fixture.ts'
import { clusterRecord, isClusterSettled } from './judge.ts'

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
    const look = { decision, declaration: { spec: clusterSpec('s1') }, observed: {} } as unknown as ClusterPlan
    assert.equal(isClusterSettled(look, false), expected)
  })

test('nodes that wait for a network that nobody will bring are at rest', () => {
  const { network } = clusterSpec('s1')
  const spec = clusterSpec('s1', { network: { ...network, flannelBackend: 'none' } })
  const look = {
    decision: { ...QUIET, phase: 'AwaitingCNI' },
    declaration: { spec },
    observed: {},
  } as unknown as ClusterPlan
  assert.equal(isClusterSettled(look, false), true)
  assert.equal(isClusterSettled(look, true), false, 'an add-on may bring it')
})

test('a cluster whose nodes are Ready is Ready when its declared endpoint answers, and until then not at rest', () => {
  const spec = clusterSpec('s1')
  const look = (phase: string, silentEndpoint?: string) =>
    ({
      decision: { ...QUIET, phase: 'Ready', nodes: [{ name: 's1', phase }], faultTolerance: 'none' },
      declaration: { key: 'Cluster/homelab', estate: 'home', spec, policy: {}, generation: 'g' },
      observed: { api: 'yes', nodes: [], requests: {}, ...(silentEndpoint === undefined ? {} : { silentEndpoint }) },
    }) as unknown as ClusterPlan
  const ready = (plan: ClusterPlan) =>
    clusterRecord(plan, [], undefined, 0).conditions.find(({ type }) => type === 'Ready')
  const url = 'https://192.168.4.79:6443'
  assert.equal(ready(look('Ready'))?.reason, 'NodesReady')
  const silent = ready(look('Ready', url))
  assert.deepEqual([silent?.status, silent?.reason], ['False', 'EndpointSilent'])
  assert.match(silent?.message ?? '', /192\.168\.4\.79.*does not answer/)
  assert.equal(ready(look('NotReady', url))?.reason, 'Ready', 'a node that is not well is said first')
  const plan = look('Ready')
  const slow = { ...plan, observed: { ...plan.observed, slowEndpoint: { endpoint: url, ms: 3210 } } }
  assert.deepEqual([ready(slow)?.status, ready(slow)?.reason], ['False', 'EndpointSlow'])
  assert.match(ready(slow)?.message ?? '', /192\.168\.4\.79.*answers only after 3\.2 s/)
  assert.equal(isClusterSettled(slow, false), true, 'a slow one keeps no command waiting')
  assert.equal(isClusterSettled(look('Ready'), false), true)
  assert.equal(isClusterSettled(look('Ready', url), false), false)
})
