import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { clusterSpec, observedCluster } from '../../plan/clusters/testing/fixture.ts'
import { closedTo } from '../verbs/doctor.ts'
import { judgeApi, judgeChecks, judgeNewestBackup, judgeNodes, judgeVotes } from './judge-cluster.ts'

const SPEC = clusterSpec('s1 s2 s3')
const WELL = observedCluster('s1 s2 s3')

test('a cluster as declared passes', () => {
  assert.equal(judgeApi(WELL).result, 'ok')
  assert.equal(judgeNodes(SPEC, WELL).result, 'ok')
  assert.deepEqual(judgeVotes(SPEC, WELL), {
    result: 'ok',
    seen: '3 of 3 servers vote; the cluster survives the loss of 1',
  })
})

test('whatever is not as declared fails by name', () => {
  const members = WELL.members === 'unknown' ? [] : WELL.members
  const [first] = members
  assert.ok(first)
  const nodes = (change: (name: string) => object): ObservedCluster['nodes'] =>
    WELL.nodes.map((node) => ({ ...node, ...change(node.name) }))
  const rows: readonly [string, ReturnType<typeof judgeNodes>, RegExp][] = [
    ['no API', judgeApi({ ...WELL, api: 'unknown' }), /does not answer/],
    ['no cluster', judgeApi({ api: 'no' }), /does not exist yet/],
    [
      'no Node',
      judgeNodes(SPEC, { nodes: nodes((name) => (name === 's2' ? { kube: 'absent' } : {})) }),
      /s2 is not a node/,
    ],
    [
      'unseen',
      judgeNodes(SPEC, { nodes: nodes((name) => (name === 's3' ? { kube: 'unknown' } : {})) }),
      /s3 cannot be seen/,
    ],
    ['another release', judgeNodes({ ...SPEC, version: 'v9.9.9+k3s1' }, WELL), /s1 runs .* instead of v9\.9\.9/],
    ['no members', judgeVotes(SPEC, { ...WELL, members: 'unknown' }), /cannot be seen/],
    [
      'a learner',
      judgeVotes(SPEC, { ...WELL, members: members.map((one) => ({ ...one, learner: one.node === 's2' })) }),
      /s2 is a learner/,
    ],
    [
      'a silent voter',
      judgeVotes(SPEC, {
        ...WELL,
        members: members.map((one) => ({ ...one, up: one.node === 's2' ? 'unknown' : 'yes' })),
      }),
      /s2 has a vote and does not answer/,
    ],
    ['one too few', judgeVotes(SPEC, { ...WELL, members: members.slice(1) }), /is not a member of etcd/],
    [
      'one too many',
      judgeVotes(SPEC, { ...WELL, members: [...members, { ...first, id: 'x', node: 'old', name: 'old-1234' }] }),
      /old-1234 is not declared/,
    ],
    ['no list of backups', judgeNewestBackup({ snapshots: 'unknown' }, 0), /cannot be seen/],
    [
      'a token that is lost',
      judgeNewestBackup({ snapshots: [{ name: 'a', atMs: 0, tokenKept: 'no', tokenHash: 'ab' }] }, 7_200_000),
      /a, 2\.0 h old: .*not kept/,
    ],
  ]
  for (const [name, verdict, words] of rows) {
    assert.equal(verdict.result, 'failed', name)
    assert.match([verdict.seen, ...(verdict.details ?? [])].join('\n'), words, name)
  }
})

test('what works and will not survive a fault is a warning', () => {
  const one = clusterSpec('s1')
  assert.equal(judgeVotes(one, observedCluster('s1')).result, 'warning')
  assert.equal(judgeNewestBackup({ snapshots: [] }, 0).result, 'warning')
  assert.equal(judgeNewestBackup({ snapshots: [{ name: 'a', atMs: 0, tokenKept: 'unknown' }] }, 0).result, 'warning')
})

test('the worst finding about a machine decides, and every fix is shown', () => {
  const check = { about: 'hosts', code: 'x', found: 'found' } as const
  assert.deepEqual(judgeChecks([{ ...check, level: 'ok' }]), { result: 'ok', seen: 'found' })
  const worst = judgeChecks([
    { ...check, level: 'warning' },
    { ...check, level: 'wrong', found: 'no curl', fix: ['apt-get install -y curl'] },
  ])
  assert.deepEqual(worst, { result: 'failed', seen: 'found', details: ['no curl', '→ apt-get install -y curl'] })
})

test('a machine that nobody can get into is told with its reason; one that is still to be made is no fault', () => {
  const machine = { exists: 'yes', power: 'on', ours: true } as const
  const of = (more: object) => closedTo('s1', 'server', { lane: 'agent', machine: { ...machine, ...more } })
  assert.equal(of({ exists: 'no', power: 'off' }).level, 'ok')
  assert.match(of({ power: 'off' }).found, /is off/)
  assert.match(of({}).found, /nothing leads into/)
  assert.match(of({ exists: 'unknown' }).found, /cannot be seen/)
  assert.equal(closedTo('s1', 'agent', undefined).level, 'warning')
})
