import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { recordedFile } from '../../../test/evidence/read.ts'
import type { NodeFacts } from '../../k3s/node-program.ts'
import type { YesNoUnknown } from '../../model/observed-cluster.ts'
import { formatWork, readWork } from './marks.ts'
import { judgeMembers, type Witness } from './members.ts'
import { type ObservedKubeNode, readFacts, readNode } from './read-node.ts'

const FACTS: NodeFacts = {
  machineId: 'm',
  hostname: 's3',
  bootId: 'b',
  clockMs: 0,
  architecture: 'x86_64',
  cloudInit: 'done',
  service: 'running',
  serviceSinceMs: 0,
  role: 'server',
  data: 'c'.repeat(64),
  mixedCa: false,
  gates: [],
  snapshots: [],
}
const ON = { exists: 'yes', power: 'on', ours: true } as const
const seen = (
  voter: ObservedKubeNode['voter'],
  ready: YesNoUnknown = 'yes',
  etcdName = 's3-4a13e2cb',
): ObservedKubeNode => ({
  name: 's3',
  role: 'server',
  voter,
  etcdName,
  kube: {
    createdMs: 0,
    ready,
    readySinceMs: 0,
    version: 'v1.34.3+k3s1',
    unschedulable: false,
    podsToMove: 0,
    podCidrs: [],
    internalIps: [],
  },
})

describe('is an etcd member up?', () => {
  const self = { members: [], self: 'id3' }
  const rows: readonly (readonly [string, Witness | undefined, YesNoUnknown])[] = [
    ['its own etcd answers', { machine: ON, facts: { ...FACTS, etcd: self }, seen: 'unknown' }, 'yes'],
    [
      'its etcd answers under another id',
      { machine: ON, facts: { ...FACTS, etcd: { ...self, self: 'x' } }, seen: 'unknown' },
      'no',
    ],
    ['K3s is stopped there', { machine: ON, facts: { ...FACTS, service: 'stopped' }, seen: seen('voter') }, 'no'],
    ['K3s is on its way there', { machine: ON, facts: { ...FACTS, service: 'starting' }, seen: 'absent' }, 'unknown'],
    ['the leader says voter, and its Node is Ready', { machine: ON, seen: seen('voter') }, 'yes'],
    ['the leader says voter, and its Node is not Ready', { machine: ON, seen: seen('voter', 'no') }, 'unknown'],
    [
      'the leader says voter, its Node is Ready, and it was asked just now and did not answer',
      { machine: ON, silent: true, seen: seen('voter') },
      'unknown',
    ],
    ['the leader says unhealthy', { machine: ON, seen: seen('unhealthy', 'no') }, 'no'],
    ['its Node has another member by now', { machine: ON, seen: seen('voter', 'yes', 's3-00000000') }, 'no'],
    ['its machine is off', { machine: { ...ON, power: 'off' }, seen: seen('voter') }, 'no'],
    ['its machine is gone', { machine: { ...ON, exists: 'no' }, seen: 'unknown' }, 'no'],
    ['nothing can be seen', { machine: ON, seen: 'unknown' }, 'unknown'],
    ['nobody knows a node of its name', undefined, 'no'],
    [
      'its etcd has the same id and is of another cluster',
      { machine: ON, facts: { ...FACTS, etcd: self }, stranger: true, seen: seen('voter') },
      'no',
    ],
  ]
  for (const [what, witness, expected] of rows) {
    test(`${what}: ${expected}`, () => {
      const list = { members: [{ id: 'id3', name: 's3-4a13e2cb', learner: false }] }
      const [member] = judgeMembers(list, new Map(witness === undefined ? [] : [['s3', witness]]))
      assert.equal(member?.up, expected)
    })
  }

  test('one without a name is on its way while some server is, and a ghost when none is', () => {
    const list = { members: [{ id: 'x', name: '', learner: true }] }
    const starting = { machine: ON, facts: { ...FACTS, service: 'starting' }, seen: 'absent' } as const
    assert.equal(judgeMembers(list, new Map([['s3', starting]]))[0]?.up, 'unknown')
    assert.equal(judgeMembers(list, new Map())[0]?.up, 'no')
  })
})

describe('reading without believing', () => {
  test('a mark is read back as it was written, and one that cannot be read still counts as one', () => {
    const work = {
      purpose: 'upgrade',
      target: 'v1.34.4+k3s1',
      sinceMs: 5_000,
      cordoned: true,
      changedMs: 6_000,
    } as const
    assert.deepEqual(readWork(formatWork(work)), work)
    assert.equal(readWork('rubbish')?.purpose, 'configure')
    assert.equal(readWork(undefined), undefined)
  })

  test('[S-16] facts of the wrong shape are no facts, and texts lose their control characters', () => {
    for (const value of [null, [], {}, { data: 1, service: 'running' }, { data: 'none', service: 'dancing' }])
      assert.equal(readFacts(value), undefined)
    const read = readFacts({ ...FACTS, failure: 'a\u001b[2Jb', gates: 'x', snapshots: [1, { name: 's', bytes: -1 }] })
    assert.equal(read?.failure, 'ab')
    assert.deepEqual(read?.gates, [])
  })

  test('a recorded Node of a real server', () => {
    const node = readNode(recordedFile('10-node-annotations', 'fullnode-s2.json'))
    assert.deepEqual([node?.name, node?.role, node?.voter, node?.etcdName], ['s2', 'server', 'voter', 's2-b6848674'])
    assert.deepEqual(
      [node?.kube.ready, node?.kube.version, node?.kube.internalIps],
      ['yes', 'v1.36.3+k3s1', ['10.67.0.2']],
    )
    assert.deepEqual(node?.kube.args?.disable, ['traefik'])
    assert.equal(node?.machineId, undefined)
  })
})
