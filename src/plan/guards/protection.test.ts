import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY, type Policy } from '../../model/declaration.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { Action } from '../../model/plan.ts'
import { clusterSpec } from '../clusters/testing/fixture.ts'
import { estateOf, ORIGIN, step } from '../testing/fixture.ts'
import type { GuardContext } from './guard.ts'
import { protection } from './protection.ts'

const CLUSTER: ClusterDeclaration = {
  key: 'Cluster/homelab',
  name: 'homelab',
  estate: 'default',
  spec: clusterSpec('s1 s2 s3'),
  artifacts: [],
  hosts: new Map(),
  policy: DEFAULT_POLICY,
  origin: ORIGIN,
  generation: '',
}
const DELETE: Action = { do: 'delete', externalId: '100', host: 'alpha', steps: [step('delete', '100')], reason: 'x' }

function judged(
  policy: Partial<Policy>,
  clusters: readonly ClusterDeclaration[],
  action: Action = DELETE,
  unreadable: readonly string[] = [],
): Action {
  const context = { estate: estateOf([], { clusters, unreadable }) } as unknown as GuardContext
  const entry = { key: 'Machine/s1', action } as unknown as Parameters<typeof protection.judge>[1]['entry']
  return protection.judge(action as never, { entry, policy: { ...DEFAULT_POLICY, ...policy } }, context)
}

test('[R8] a server stays when its whole cluster is declared no more', () => {
  const refused = judged({ serverOf: 'Cluster/homelab' }, [])
  assert.ok(refused.do === 'refuse')
  assert.equal(refused.reason, 'Machine/s1 is a server of Cluster/homelab, which is not declared here')
  assert.match(refused.allow, /protect: false in one commit/)
})

test('[R8] a server that its own cluster has let go may go', () => {
  assert.equal(judged({ serverOf: 'Cluster/homelab' }, [CLUSTER]), DELETE)
})

test('[R8] what a person protects stays, whatever its cluster wants', () => {
  assert.equal(judged({ protect: true }, [CLUSTER]).do, 'refuse')
  assert.equal(judged({ protect: true, serverOf: 'Cluster/homelab' }, [CLUSTER]).do, 'refuse')
  assert.equal(judged({}, []), DELETE)
})

test('a server of a Cluster that could not be read stays, and the advice is to correct it', () => {
  const refused = judged({ serverOf: 'Cluster/homelab' }, [], DELETE, ['Cluster/homelab'])
  assert.ok(refused.do === 'refuse')
  assert.match(refused.reason, /declared and could not be read/)
  assert.match(refused.allow, /correct Cluster\/homelab/)
  assert.doesNotMatch(refused.allow, /protect: false/)
})
