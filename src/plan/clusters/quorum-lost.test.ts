import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_REQUESTS } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { clusterSpec, NOW, observedCluster } from './testing/fixture.ts'

const off = { machine: { power: 'off' }, kube: 'unknown', k3s: 'unknown' } as const
const unseen = { machine: { exists: 'unknown', power: 'unknown' }, kube: 'unknown', k3s: 'unknown' } as const
const runs = { kube: 'unknown' } as const
const blind = { api: 'no', members: 'unknown' } as const
type Turns = Parameters<typeof observedCluster>[1]

function judged(names: string, turns: Turns, more: Parameters<typeof observedCluster>[2] = blind) {
  const decision = coordinate(clusterSpec(names), observedCluster(names, turns, more), NOW)
  const hold = decision.holds.find(({ guard }) => guard.startsWith('quorum'))
  return { ...decision, said: hold === undefined ? decision.phase : `${decision.phase} ${hold.guard}: ${hold.reason}` }
}

test('a lost majority is seen in the machines, where nobody can count votes', () => {
  const lost = judged('s1 s2 s3', { s1: runs, s2: off, s3: off })
  assert.match(
    lost.said,
    /^QuorumLost quorum-lost: 2 of 3 servers are off \(s2, s3\) and etcd needs 2 that run: etcd has/,
  )
  assert.deepEqual(
    lost.nodes.map(({ name, phase, message }) => `${name} ${phase} ${message}`),
    [
      's1 Unknown K3s runs on it, and the API does not answer',
      ...['s2', 's3'].map((s) => `${s} NotReady its machine is off`),
    ],
  )
  // Machines that are off are still started: that restores the majority.
  assert.deepEqual(
    lost.steps.map(({ verb, node }) => `${verb} ${node}`),
    ['start-machine s2', 'start-machine s3'],
  )
  assert.match(judged('s1 s2', { s1: runs, s2: off }).said, /^QuorumLost quorum-lost: 1 of 2 servers are off \(s2\)/)
})

test('servers that nobody sees are a loss that is likely, and said as that', () => {
  const likely = judged('s1 s2 s3', { s1: runs, s2: unseen, s3: unseen })
  assert.match(likely.said, /^Unknown quorum-unseen: 2 of 3 servers are not seen \(s2, s3\) and etcd needs 2/)
  assert.deepEqual(likely.nodes.map(({ phase, message }) => `${phase} ${message}`).slice(1), [
    'Unknown nothing is seen of its machine',
    'Unknown nothing is seen of its machine',
  ])
})

test('no majority is said to be lost where enough run, where votes are seen, or where croft sees nothing at all', () => {
  const voters = [{ id: '1', node: 's1' }]
  const grows = { ...runs, k3s: { etcd: { voters } } } as unknown as NonNullable<Turns>[string]
  const quiet: Readonly<Record<string, string>> = {
    'one of three': judged('s1 s2 s3', { s1: runs, s2: runs, s3: off }).said,
    'agents have no vote': judged('s1 a1 a2', { s1: runs, a1: off, a2: off }).said,
    'votes are seen': judged('s1 s2 s3', {}, {}).said,
    'nothing is seen': judged('s1 s2 s3', { s1: unseen, s2: unseen, s3: unseen }).said,
    'the two that are off have no vote yet': judged('s1 s2 s3', { s1: grows, s2: off, s3: off }).said,
    'switched off': judged(
      's1 s2 s3',
      { s2: off, s3: off },
      { ...blind, requests: { ...NO_REQUESTS, hold: { reason: 'off', allow: '', power: 'off' } } },
    ).said,
    'never formed': judged(
      's1 s2 s3',
      { s2: off, s3: off },
      { ...blind, identity: { caHash: 'a', formed: false, recordedMs: 0 } },
    ).said,
  }
  for (const [why, said] of Object.entries(quiet)) assert.doesNotMatch(said, /quorum/i, why)
})

test('where only a copy from Git is left, sealed before the cluster was formed, the hold says what to do if it never ran', () => {
  const gone = { machine: { exists: 'no', power: 'unknown' }, kube: 'unknown', k3s: 'unknown' } as const
  const { identity } = observedCluster('s1', {}, {})
  assert.ok(identity)
  for (const unsure of [true, undefined] as const) {
    const more = {
      ...blind,
      identity: { ...identity, formed: true, ...(unsure === undefined ? {} : { unsure }) },
    } as const
    const { holds, steps } = judged('s1', { s1: gone }, more)
    const { allow = '' } = holds.find(({ guard }) => guard === 'quorum-lost') ?? {}
    assert.match(allow, /run croft cluster restore homelab with the last usable snapshot/)
    assert.equal(allow.includes('never ran, move escrow/'), unsure === true)
    assert.ok(!steps.some(({ verb }) => verb === 'init-cluster'))
  }
})
