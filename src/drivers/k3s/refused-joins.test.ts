// A join that K3s itself refuses: tried twice, then said and tried now and then until a fact moves.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ObservedNode } from '../../model/observed-cluster.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import { cleanK3s, clusterSpec, FRESH, NOW, observedCluster } from '../../plan/clusters/testing/fixture.ts'
import { nextSteps, plannedGuards } from '../../plan/clusters/testing/planned.ts'
import { allReady, driverLab } from './testing/lab.ts'

test('a server that K3s refuses is held with the reason of K3s, and joins when Git mends it', async () => {
  const lab = driverLab('s1 s2 s3')
  const good = lab.spec
  const flags = { 'egress-selector-mode': 'disabled' }
  const servers = good.servers.map((node) => (node.name === 's2' ? { ...node, flags } : node))
  lab.spec = { ...good, servers }
  lab.restart()
  await lab.until(allReady('s1 s3'), 900)
  lab.done.length = 0
  await assert.rejects(lab.until(() => false, 1700))
  const joins = lab.done.filter(({ step }) => step.verb === 'join-server').length
  assert.ok(joins <= 5, `joined ${joins} times`)
  const [hold] = (await lab.look()).decision.holds
  assert.equal(hold?.guard, 'join')
  assert.match(hold?.reason ?? '', /its egress-selector-mode is not the same .* critical configuration value mismatch/)
  lab.spec = good
  lab.restart()
  await lab.until(allReady('s1 s2 s3'), 900)
})

describe('a join', () => {
  const failed = { ...cleanK3s, service: 'failed', failure: 'critical configuration value mismatch' } as const
  const spec = clusterSpec('s1 s2 s3')
  for (const [what, joins, k3s, steps, guards] of [
    ['that was not tried', undefined, cleanK3s, ['join-server s2'], []],
    ['that ended once', { count: 1, ageMs: 1000 }, failed, ['join-server s2'], []],
    ['that ended twice lets the next have its turn', { count: 2, ageMs: 1000 }, failed, ['join-server s3'], ['join']],
    ['that ended twice a while ago is tried again', { count: 2, ageMs: 600_000 }, failed, ['join-server s2'], ['join']],
    ['of which K3s says nothing is no refusal', { count: 3, ageMs: 1000 }, cleanK3s, ['join-server s2'], []],
  ] as const)
    test(what, () => {
      const observed = observedCluster('s1 s2 s3', { s2: { ...FRESH, k3s }, s3: FRESH })
      const nodes = observed.nodes.map((node): ObservedNode => {
        return node.name === 's2' && joins !== undefined ? { ...node, joins } : node
      })
      const members = observed.members === 'unknown' ? [] : observed.members.filter(({ node }) => node === 's1')
      const seen = { ...observed, nodes, members }
      const verbs = nextSteps(spec, seen).flatMap((step) =>
        step.startsWith('join') ? [step.split(' ').slice(0, 2).join(' ')] : [],
      )
      assert.deepEqual([verbs, plannedGuards(coordinate(spec, seen, NOW))], [steps, guards])
    })
})
