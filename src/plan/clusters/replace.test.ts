import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NO_REQUESTS, type ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate, mayDestroyMachine } from './coordinate.ts'
import { replacementSaid } from './replace.ts'
import { toleranceSentence } from './servers-change.ts'
import {
  clusterSpec,
  FRESH,
  HOUR,
  MINUTE,
  member,
  NOTHING,
  NOW,
  type NodeTurn,
  nodeSpec,
  observedCluster,
  VERSION,
} from './testing/fixture.ts'
import { nextSteps, plannedGuards, plannedSteps } from './testing/planned.ts'

const spec = clusterSpec('s1 s2 s3')
const asked = {
  requests: { ...NO_REQUESTS, replace: [{ node: 's3', atMs: NOW - MINUTE, goes: { machineId: 'id-s3' } }] },
}
const mark = { purpose: 'replace', target: 'replace', sinceMs: NOW - MINUTE, cordoned: true } as const
const marked = { unschedulable: true, work: mark } as const
const two = [member('s1'), member('s2')]

describe('[F-28] replacing a server: each moment a crash may leave behind has one next step', () => {
  const moments: readonly [string, NodeTurn, Partial<ObservedCluster>, readonly string[]][] = [
    ['asked for', {}, {}, ['cordon s3']],
    ['marked', { kube: { ...marked, podsToMove: 4 } }, {}, ['drain s3']],
    ['pods not seen', { kube: { ...marked, podsToMove: 'unknown' } }, {}, []],
    ['drained', { kube: marked }, {}, ['stop-k3s s3']],
    ['stopped, still counted as up', { kube: marked, k3s: { service: 'stopped' } }, {}, ['remove-member s3']],
    [
      'stopped',
      { kube: { ...marked, ready: 'no' }, k3s: { service: 'stopped' } },
      { members: [...two, member('s3', { up: 'no' })] },
      ['remove-member s3'],
    ],
    [
      'stopped, with the mark of an earlier removal',
      { kube: { ...marked, ready: 'no', removedNameMark: true }, k3s: { service: 'stopped' } },
      { members: [...two, member('s3', { up: 'no' })] },
      ['clear-removed-mark s3'],
    ],
    [
      'member removed',
      { kube: { ...marked, ready: 'no' }, k3s: { service: 'stopped' } },
      { members: two },
      ['delete-node s3'],
    ],
    ['member removed while it still runs', { kube: marked }, { members: two }, ['stop-k3s s3']],
    [
      'Node gone, its password not',
      { kube: 'absent', k3s: { service: 'stopped' }, passwordSecret: 'yes' },
      { members: two },
      ['delete-node-password s3'],
    ],
    ['Node gone', { kube: 'absent', k3s: { service: 'stopped' } }, { members: two }, ['destroy-machine s3']],
    [
      'Node gone, machine off',
      { kube: 'absent', k3s: 'unknown', machine: { power: 'off' } },
      { members: two },
      ['destroy-machine s3'],
    ],
    [
      'machine being destroyed',
      { kube: 'absent', k3s: 'unknown', machine: { busy: 'the machine to be destroyed' } },
      { members: two },
      [],
    ],
    ['machine gone', NOTHING, { members: two }, ['create-machine s3']],
    [
      'machine new',
      { ...FRESH, machine: { createdMs: NOW, machineId: 'new' } },
      { members: two },
      [`join-server s3 ${VERSION}`],
    ],
    [
      'joining',
      { kube: 'absent', k3s: { service: 'starting', sinceMs: NOW }, machine: { createdMs: NOW, machineId: 'new' } },
      { members: two },
      [],
    ],
    ['back', { machine: { createdMs: NOW, machineId: 'new' }, kube: { createdMs: NOW } }, {}, []],
    ['the API is away', { kube: marked }, { api: 'no' }, []],
    ['the members are not known', { kube: marked }, { members: 'unknown' }, []],
  ]
  for (const [what, turn, more, expected] of moments) {
    test(what, () =>
      assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: turn }, { ...asked, ...more })), expected),
    )
  }

  test('without a majority beside it nothing is stopped, and who went away comes first', () => {
    const beside = (up: 'no' | 'unknown') => {
      const members = [member('s1'), member('s2', { up }), member('s3')]
      return coordinate(spec, observedCluster('s1 s2 s3', { s3: { kube: marked } }, { ...asked, members }), NOW)
    }
    assert.deepEqual(plannedSteps(beside('no')), ['uncordon s3'])
    assert.deepEqual(plannedSteps(beside('unknown')), [])
    assert.ok(plannedGuards(beside('unknown')).includes('quorum'))
  })

  test('a box that was there before us is wiped, not destroyed', () => {
    const hosts = { ...spec, servers: ['s1', 's2', 's3'].map((name) => nodeSpec(name, { machine: { host: name } })) }
    const left: NodeTurn = { kube: 'absent', k3s: { service: 'stopped', sinceMs: NOW - HOUR } }
    assert.deepEqual(nextSteps(hosts, observedCluster('s1 s2 s3', { s3: left }, { ...asked, members: two })), [
      'wipe-k3s s3',
    ])
  })

  test('a server that cannot be reached is stopped by its machine, before its member is removed', () => {
    const silent: NodeTurn = { kube: marked, k3s: 'unknown' }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: silent }, asked)), ['stop-machine s3'])
  })

  test('an order that was withdrawn gives the node back, as long as it still runs', () => {
    const drained: NodeTurn = { kube: marked }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: drained })), ['uncordon s3'])
    const stopped: NodeTurn = { kube: { ...marked, ready: 'no' }, k3s: { service: 'stopped' } }
    const members = [...two, member('s3', { up: 'no' })]
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: stopped }, { members })), ['remove-member s3'])
  })

  test('drain deadlines: wait, force, abort', () => {
    const late = {
      ...marked,
      podsToMove: 1,
      drainBlockedBy: 'The disruption budget w needs 2',
      work: { ...mark, sinceMs: NOW - HOUR },
    }
    const observed = observedCluster('s1 s2 s3', { s3: { kube: late } }, asked)
    const drain = (onTimeout: 'wait' | 'force' | 'abort', timeoutMs = MINUTE) =>
      coordinate({ ...spec, upgrade: { ...spec.upgrade, drain: { timeoutMs, onTimeout } } }, observed, NOW)
    assert.deepEqual(
      drain('wait').steps.map((step) => [step.verb, step.force]),
      [['drain', undefined]],
    )
    assert.match(drain('wait').holds[0]?.reason ?? '', /1 pod left on s3 after 1 min: The disruption budget/)
    assert.deepEqual(
      drain('force', 40 * MINUTE).steps.map((step) => [step.verb, step.force]),
      [['drain', true]],
    )
    assert.deepEqual(
      drain('abort').steps.map((step) => [step.verb, step.givenUp]),
      [['uncordon', 'replace']],
    )
  })
})

test('only a server is said to leave etcd', () => {
  const some = clusterSpec('s1 s2 s3', { agents: [nodeSpec('a1')] })
  assert.match(replacementSaid(some, 's2'), /^s2 .* drained, removed from etcd, recreated, joined$/)
  assert.match(replacementSaid(some, 'a1'), /^a1 .* drained, recreated, joined$/)
})

describe('changing the number of servers', () => {
  const healthy = observedCluster('s1 s2 s3')

  test('[R10] every declaration says what it survives', () => {
    assert.deepEqual([1, 2, 3, 4, 5].map(toleranceSentence), [
      '1 server, fault tolerance 0: if it is lost, the API is gone until a backup is restored',
      '2 servers, fault tolerance 0: the API stops when either is lost, so two are worse than one',
      '3 servers, fault tolerance 1: the API survives the loss of one',
      '4 servers, fault tolerance 1: the API survives the loss of one, just as with 3; the last one only adds another that can fail',
      '5 servers, fault tolerance 2: the API survives the loss of 2',
    ])
    assert.equal(coordinate(spec, healthy, NOW).faultTolerance, toleranceSentence(3))
    assert.deepEqual(coordinate(clusterSpec('s1 s2'), observedCluster('s1 s2'), NOW).warnings, [toleranceSentence(2)])
  })

  test('[A31] three to two is refused with that sentence, unless a person allows it', () => {
    const decision = coordinate(clusterSpec('s1 s2'), healthy, NOW)
    assert.deepEqual(decision.steps, [])
    assert.deepEqual(decision.refusals, [
      {
        guard: 'fault-tolerance',
        reason: `${toleranceSentence(2)}, now ${toleranceSentence(3)}`,
        allow: 'declare an odd number of at least three servers, or set spec.allow.degraded: true of the Cluster',
      },
    ])
    const allow = { degraded: true, interruption: false }
    assert.deepEqual(nextSteps(clusterSpec('s1 s2', { allow }), healthy), ['cordon s3'])
  })

  test('[A31] so are three to one, three to four, five to four; five to three and four to three pass', () => {
    const way = (declared: string, there: string) => {
      const turns = Object.fromEntries(
        declared
          .split(' ')
          .filter((name) => !there.split(' ').includes(name))
          .map((name) => [name, FRESH]),
      )
      const names = [...new Set([...there.split(' '), ...declared.split(' ')])].join(' ')
      const members = there.split(' ').map((name) => member(name))
      const decision = coordinate(clusterSpec(declared), observedCluster(names, turns, { members }), NOW)
      return decision.steps.length === 0 ? plannedGuards(decision) : decision.steps.map((step) => step.verb)
    }
    assert.deepEqual(way('s1', 's1 s2 s3'), ['fault-tolerance'])
    assert.deepEqual(way('s1 s2 s3 s4', 's1 s2 s3'), ['fault-tolerance'])
    assert.deepEqual(way('s1 s2 s3 s4', 's1 s2 s3 s4 s5'), ['fault-tolerance'])
    assert.deepEqual(way('s1 s2 s3', 's1 s2 s3 s4 s5'), ['cordon'])
    assert.deepEqual(way('s1 s2 s3', 's1 s2 s3 s4'), ['cordon'])
    assert.deepEqual(way('s1 s2 s3', 's1 s2'), ['join-server'])
    assert.deepEqual(way('s1 s2 s3 s4', 's1 s2'), ['join-server'], 'a new cluster forms as far as it is sound')
  })

  test('[A32] two of three servers exchanged: replacements first, then one leaves at a time', () => {
    const wanted = clusterSpec('s1 s4 s5')
    const both = { s4: FRESH, s5: FRESH }
    const three = [member('s1'), member('s2'), member('s3')]
    const first = observedCluster('s1 s2 s3 s4 s5', both, { members: three })
    assert.deepEqual(nextSteps(wanted, first), [`join-server s4 ${VERSION}`])
    const second = observedCluster('s1 s2 s3 s4 s5', { s5: FRESH }, { members: [...three, member('s4')] })
    assert.deepEqual(nextSteps(wanted, second), [`join-server s5 ${VERSION}`])
    const all = observedCluster('s1 s2 s3 s4 s5')
    assert.deepEqual(nextSteps(wanted, all), ['cordon s2'])
    const leaving = { unschedulable: true, work: { ...mark, purpose: 'remove', target: 'remove' } } as const
    assert.deepEqual(nextSteps(wanted, observedCluster('s1 s2 s3 s4 s5', { s2: { kube: leaving } })), ['stop-k3s s2'])
    const gone = observedCluster('s1 s3 s4 s5')
    assert.deepEqual(nextSteps(wanted, gone), ['cordon s3'])
    const ill = observedCluster('s1 s3 s4 s5', { s4: { kube: { ready: 'no', readySinceMs: NOW } } })
    assert.deepEqual(nextSteps(wanted, ill), [], 'the second waits for a healthy cluster')
  })

  test('[A32] two of three taken away: nothing goes without an override; with it one, then the other', () => {
    assert.deepEqual(nextSteps(clusterSpec('s1'), healthy), [])
    const one = clusterSpec('s1', { allow: { degraded: true, interruption: false } })
    assert.deepEqual(nextSteps(one, healthy), ['cordon s2'])
    const leaving = { unschedulable: true, work: { ...mark, purpose: 'remove', target: 'remove' } } as const
    const last = observedCluster('s1 s3', { s3: { kube: leaving } })
    assert.deepEqual(nextSteps(one, last), ['remove-member s3'], 'of two neither can be stopped first')
    const members = [member('s1')]
    assert.deepEqual(nextSteps(one, observedCluster('s1 s3', { s3: { kube: leaving } }, { members })), ['stop-k3s s3'])
  })

  test('[A54] one whose machine a guard keeps stays in the cluster: nothing is taken out of etcd for nothing', () => {
    const mayNotGo = { key: 'Machine/s4', guard: 'blast-radius', reason: 'too many', allow: 'commit one' }
    const kept = observedCluster('s1 s2 s3 s4', { s4: { machine: { mayNotGo } } })
    const decision = coordinate(clusterSpec('s1 s2 s3'), kept, NOW)
    assert.deepEqual(decision.steps, [])
    const reason = 's4 stays (s4 is no longer declared): its machine may not go'
    const hold = { node: 's4', guard: 'blast-radius', reason, allow: 'what the plan says at Machine/s4' }
    assert.deepEqual(decision.holds, [hold])
    assert.deepEqual(nextSteps(clusterSpec('s1 s2 s3'), observedCluster('s1 s2 s3 s4')), ['cordon s4'])
  })

  test('[R8] a machine is not destroyed behind the coordinator: only when its node has left', () => {
    const wanted = clusterSpec('s1 s2 s3')
    const refused = mayDestroyMachine(wanted, observedCluster('s1 s2 s3 s4'), 's4')
    assert.equal(refused.allowed, false)
    // Git has removed it already: a person need do nothing.
    assert.match('allow' in refused ? refused.allow : '', /^wait: croft takes it out of homelab/)
    const declared = mayDestroyMachine(clusterSpec('s1 s2 s3 s4'), observedCluster('s1 s2 s3 s4'), 's4')
    assert.match('allow' in declared ? declared.allow : '', /^take it out of the Cluster homelab first/)
    const left = observedCluster('s1 s2 s3 s4', { s4: FRESH }, { members: [member('s1'), member('s2'), member('s3')] })
    assert.equal(mayDestroyMachine(wanted, left, 's4').allowed, true)
    assert.equal(mayDestroyMachine(wanted, { ...left, members: 'unknown' }, 's4').allowed, false)
  })
})

describe('ghost members', () => {
  const ghost = member('old', { up: 'no' })
  const haunted = observedCluster('s1 s2 s3', {}, { members: [...two, member('s3'), ghost], ...asked })

  test('[A40] everything is blocked until the ghost is removed by its own step', () => {
    const decision = coordinate({ ...spec, version: 'v1.35.0+k3s1' }, haunted, NOW)
    assert.deepEqual(decision.steps, [])
    assert.deepEqual(plannedGuards(decision), ['ghost-member'])
    assert.equal(decision.phase, 'Blocked')
    const ordered = { ...haunted, requests: { ...haunted.requests, removeMembers: [ghost.id] } }
    assert.deepEqual(nextSteps(spec, ordered), ['remove-member old'])
    assert.deepEqual(nextSteps({ ...spec, ghostMembers: 'remove' }, haunted), ['remove-member old'])
  })

  test('[A40] one of a declared server is removed, alone, before anything else', () => {
    const members = [...two, member('s3', { up: 'no' })]
    const decision = coordinate(
      clusterSpec('s1 s2 s3 a1'),
      observedCluster('s1 s2 s3 a1', { s3: FRESH, a1: FRESH }, { members }),
      NOW,
    )
    assert.deepEqual(
      decision.steps.map((step) => [step.verb, step.member, step.lane]),
      [['remove-member', 'm-s3', 'agent']],
    )
  })

  test('a former life of a server that is up again is a ghost too', () => {
    const members = [...two, member('s3'), member('s3', { id: 'm-old', up: 'no' })]
    const decision = coordinate(spec, observedCluster('s1 s2 s3', {}, { members }), NOW)
    assert.deepEqual(
      decision.steps.map((step) => step.member),
      ['m-old'],
    )
  })

  test('a member that may come back, or of which nothing is known, is no ghost', () => {
    for (const up of ['yes', 'unknown'] as const) {
      const members = [...two, member('s3'), { ...ghost, up }]
      assert.ok(
        !plannedGuards(coordinate(spec, observedCluster('s1 s2 s3', {}, { members }), NOW)).includes('ghost-member'),
      )
    }
  })

  test('without a majority not even a ghost is removed', () => {
    const members = [member('s1'), member('s2', { up: 'unknown' }), ghost]
    assert.deepEqual(nextSteps({ ...spec, ghostMembers: 'remove' }, observedCluster('s1 s2', {}, { members })), [])
  })
})
