// A join that K3s refuses: tried twice, then reported and retried rarely until a fact changes.
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

test('a refused join that leaves data on the disk is held as well, though croft wipes after each', async () => {
  const lab = driverLab('s1 s2 s3')
  const good = lab.spec
  const flags = { 'egress-selector-mode': 'disabled' }
  lab.spec = { ...good, servers: good.servers.map((node) => (node.name === 's2' ? { ...node, flags } : node)) }
  lab.restart()
  await lab.until(allReady('s1'), 900)
  const ca = '/var/lib/rancher/k3s/server/tls/server-ca.crt'
  const left = lab.box('s1').machine.files.text(ca) ?? ''
  lab.done.length = 0
  const timesOn = (name: string, verb: string) =>
    lab.done.filter(({ step }) => step.node === name && step.verb === verb).length
  for (let round = 0; round < 15; round++) {
    const before = timesOn('s2', 'join-server')
    await assert.rejects(lab.until(() => false, 10))
    if (timesOn('s2', 'join-server') > before) lab.box('s2').machine.files.write(ca, left)
  }
  const hold = (await lab.look()).decision.holds.find(({ guard }) => guard === 'join')
  assert.match(hold?.reason ?? '', /K3s on s2 ended \d times .* critical configuration value mismatch/)
  assert.ok(timesOn('s2', 'wipe-k3s') > 0, 'croft wiped what the join left')
  assert.ok(timesOn('s2', 'join-server') <= 4, `joined ${timesOn('s2', 'join-server')} times`)
})

describe('a join', () => {
  const failed = { ...cleanK3s, service: 'failed', failure: 'critical configuration value mismatch' } as const
  const spec = clusterSpec('s1 s2 s3')
  for (const [what, joins, k3s, steps, guards] of [
    ['that was not tried', undefined, cleanK3s, ['join-server s2'], []],
    ['that ended once', { count: 1, ageMs: 1000 }, failed, ['join-server s2'], []],
    ['that ended twice lets the next have its turn', { count: 2, ageMs: 1000 }, failed, ['join-server s3'], ['join']],
    ['that ended twice a while ago is tried again', { count: 2, ageMs: 600_000 }, failed, ['join-server s2'], ['join']],
    [
      'that was wiped after it ended twice keeps its reason',
      { count: 2, ageMs: 1000, failure: 'critical configuration value mismatch' },
      cleanK3s,
      ['join-server s3'],
      ['join'],
    ],
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
