import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { EtcdMember, ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import {
  CA,
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
import { nextSteps, phaseOf, plannedGuards, plannedSteps } from './testing/planned.ts'

/** A cluster that is not formed yet, so its API cannot be asked. */
function unformed(names: string, turns: Readonly<Record<string, NodeTurn>>, firstServer?: string): ObservedCluster {
  const asked = observedCluster(names, turns, { api: 'no', members: 'unknown', membershipChanged: 'no' })
  const nodes = asked.nodes.map((node) => ({ ...node, kube: 'unknown' as const, passwordSecret: 'unknown' as const }))
  const { identity, ...rest } = asked
  if (firstServer === undefined) return { ...rest, nodes }
  return { ...rest, nodes, identity: { caHash: CA, firstServer, formed: false, recordedMs: NOW - HOUR } }
}

const three = clusterSpec('s1 s2 s3 a1 a2')

describe('forming', () => {
  for (const [what, machine, k3s] of [
    ['that is still to be adopted', { exists: 'unknown', power: 'unknown' }, 'unknown'],
    ['that is on and has not been asked', { exists: 'yes', power: 'on' }, 'unknown'],
  ] as const)
    test(`[D-04] no CA and no token are made while there is a machine ${what}: it may be a member of a running cluster`, () => {
      for (const name of ['s1', 's3']) {
        const turns = { s1: NOTHING, s2: NOTHING, s3: NOTHING, [name]: { machine, k3s } }
        const decision = coordinate(clusterSpec('s1 s2 s3'), unformed('s1 s2 s3', turns), NOW)
        assert.deepEqual(plannedSteps(decision), [])
        assert.match(decision.waits.map(({ awaits }) => awaits).join(), new RegExp(`a report of what runs on ${name}$`))
      }
    })

  test('[D-01] of a machine that answers nobody, while there is no record of the cluster, nobody says that it may go', () => {
    const silent = { k3s: 'unknown', silence: 'permission denied', machine: { createdMs: NOW - 5 * HOUR } } as const
    const turns = { s1: silent, a1: silent }
    const { holds, waits, steps } = coordinate(clusterSpec('s1 a1'), unformed('s1 a1', turns), NOW)
    assert.deepEqual(steps, [])
    assert.match(waits.map(({ awaits }) => awaits).join('\n'), /^a report of what runs on s1: permission denied$/m)
    const [hold] = holds.filter(({ node }) => node === 'a1')
    assert.match(
      hold?.reason ?? '',
      /^a1 is on and nothing answers on it: permission denied; croft has no record of homelab/,
    )
    assert.doesNotMatch(hold?.allow ?? 'replace', /replace|wipe|recreate/)
    const known = coordinate(clusterSpec('s1 a1'), unformed('s1 a1', { s1: FRESH, a1: silent }, 's1'), NOW)
    assert.match(known.holds.find(({ node }) => node === 'a1')?.allow ?? '', /croft cluster replace homelab a1$/)
  })

  test('first the identity is written down, then machines are made side by side', () => {
    const nothing = { s1: NOTHING, s2: NOTHING, s3: NOTHING, a1: NOTHING, a2: NOTHING }
    const names = 's1 s2 s3 a1 a2'
    assert.deepEqual(nextSteps(three, unformed(names, nothing)), [
      'record-first-server s1',
      'create-machine a1',
      'create-machine a2',
    ])
    assert.deepEqual(nextSteps(three, unformed(names, nothing, 's1')), [
      'create-machine s1',
      'create-machine s2',
      'create-machine s3',
      'create-machine a1',
      'create-machine a2',
    ])
  })

  test('[A9] the recorded server forms the cluster, wherever it stands in the list', () => {
    const fresh = { s1: FRESH, s2: FRESH, s3: FRESH }
    const spec = clusterSpec('s3 s1 s2')
    const decision = coordinate(spec, unformed('s1 s2 s3', fresh, 's2'), NOW)
    assert.deepEqual(plannedSteps(decision), [`init-cluster s2 ${VERSION}`])
    assert.equal(decision.phase, 'Forming')
  })

  test('nobody forms a cluster while another server may hold its data', () => {
    const doubtful = { s1: FRESH, s2: { k3s: 'unknown' } as const, s3: FRESH }
    assert.deepEqual(nextSteps(clusterSpec('s1 s2 s3'), unformed('s1 s2 s3', doubtful, 's1')), [])
    const younger = { ...doubtful, s2: { k3s: 'unknown', machine: { createdMs: NOW - MINUTE } } as const }
    assert.deepEqual(nextSteps(clusterSpec('s1 s2 s3'), unformed('s1 s2 s3', younger, 's1')), [
      `init-cluster s1 ${VERSION}`,
    ])
  })

  test('data of the cluster on any machine proves that it was formed, even with the record lost', () => {
    const turns = { s1: FRESH, s2: { k3s: { service: 'stopped' } } as const, s3: FRESH }
    assert.deepEqual(nextSteps(clusterSpec('s1 s2 s3'), unformed('s1 s2 s3', turns, 's1')), ['restart-k3s s2'])
  })

  test('a server declared on demand is refused: it would hold a vote while it sleeps', () => {
    const spec = { ...clusterSpec('s1'), servers: [nodeSpec('s1', { power: 'onDemand' })] }
    assert.deepEqual(plannedGuards(coordinate(spec, observedCluster('s1'), NOW)), ['power'])
  })
})

describe('booting', () => {
  const spec = clusterSpec('s1 s2 s3 a1')
  const guards = (upMs: number | undefined) => {
    const machine = { createdMs: NOW - 5 * HOUR, ...(upMs === undefined ? {} : { upMs }) }
    const turns = { a1: { kube: 'absent', k3s: 'unknown', machine } as const }
    return plannedGuards(coordinate(spec, observedCluster('s1 s2 s3 a1', turns), NOW))
  }
  test('a machine that was made long ago and has just been started is given its time to boot', () => {
    assert.deepEqual(guards(5_000), [])
    assert.deepEqual(guards(HOUR), ['unreachable'])
    assert.deepEqual(guards(undefined), ['unreachable'])
  })
})

describe('joining', () => {
  const waiting = { s2: FRESH, s3: FRESH, a1: FRESH, a2: FRESH }
  const only = (...names: string[]) => ({ members: names.map((name) => member(name)) })

  test('[F-32] servers one at a time, agents all at once', () => {
    assert.deepEqual(nextSteps(three, observedCluster('s1 s2 s3 a1 a2', waiting, only('s1'))), [
      `join-server s2 ${VERSION}`,
      `join-agent a1 ${VERSION}`,
      `join-agent a2 ${VERSION}`,
    ])
  })

  test('[F-32] while one is a learner, or has only just started, the next one waits', () => {
    const started: NodeTurn = { kube: 'absent', k3s: { service: 'starting', sinceMs: NOW - 1000 } }
    const spec = clusterSpec('s1 s2 s3')
    for (const members of [only('s1').members, [member('s1'), member('s2', { learner: true })]]) {
      const observed = observedCluster('s1 s2 s3', { ...waiting, s2: started }, { members })
      assert.deepEqual(nextSteps(spec, observed), [])
    }
  })

  test('as soon as it has its vote the next one starts: its Node comes later', () => {
    const promoted: NodeTurn = { kube: 'absent', k3s: { service: 'running', sinceMs: NOW - 9000 } }
    const observed = observedCluster('s1 s2 s3', { ...waiting, s2: promoted }, only('s1', 's2'))
    assert.deepEqual(nextSteps(clusterSpec('s1 s2 s3'), observed), [`join-server s3 ${VERSION}`])
  })

  test('[A5] the token is read from the cluster when the step is performed: no step holds one', () => {
    const decision = coordinate(three, observedCluster('s1 s2 s3 a1 a2', waiting, only('s1')), NOW)
    assert.ok(decision.steps.length > 0)
    assert.doesNotMatch(JSON.stringify(decision), /K10|token/i)
  })

  test('who joins in the middle of a rollout gets what the others run, never the pin', () => {
    const spec = clusterSpec('s1 s2 s3 a1', { version: 'v1.36.3+k3s1' })
    const observed = observedCluster('s1 s2 s3 a1', { s3: FRESH, a1: FRESH }, only('s1', 's2'))
    assert.deepEqual(nextSteps(spec, observed), [`join-server s3 ${VERSION}`, `join-agent a1 ${VERSION}`])
  })

  test('[R7] one more line in the declaration is all that a new node needs', () => {
    const more = clusterSpec('s1 s2 s3 a1 a2 a3')
    const there = 's1 s2 s3 a1 a2'
    assert.deepEqual(nextSteps(more, observedCluster(`${there} a3`, { a3: NOTHING })), ['create-machine a3'])
    assert.deepEqual(nextSteps(more, observedCluster(`${there} a3`, { a3: FRESH })), [`join-agent a3 ${VERSION}`])
    assert.deepEqual(nextSteps(more, observedCluster(there)), [], 'what was not looked at is not made')
  })

  test('a step says what it awaits, since when and until when', () => {
    const [step] = coordinate(three, observedCluster('s1 s2 s3', waiting, only('s1')), NOW).steps
    assert.equal(step?.awaits, 's2 an etcd voter and Ready')
    assert.equal(step?.sinceMs, NOW)
    assert.equal(step?.untilMs, NOW + 5 * MINUTE)
    assert.equal(step?.lane, 'agent')
  })
})

describe('[R6] stale state', () => {
  const other: NodeTurn = { kube: 'absent', k3s: { service: 'stopped', data: 'd'.repeat(64) } }
  const members = [member('s1'), member('s2')]
  const observed = observedCluster('s1 s2 s3', { s3: other }, { members })
  const spec = (more: Partial<ClusterSpec>) => clusterSpec('s1 s2 s3', more)

  test('[A6] data of another cluster is refused by name, and both ways out are offered', () => {
    const decision = coordinate(spec({}), observed, NOW)
    assert.deepEqual(decision.steps, [])
    assert.deepEqual(decision.refusals, [
      {
        node: 's3',
        guard: 'stale-state',
        reason: 's3 holds stale K3s state (cluster dddddddddddd)',
        allow:
          "if it is this cluster's own data, run croft cluster recover homelab --from a server that runs; else wipe it and join (staleState: wipe), or recreate its machine (staleState: recreate)",
      },
    ])
    assert.equal(phaseOf(decision, 's3'), 'StaleState')
  })

  test('[A6] by policy it is wiped, or its machine is made anew; it never joins dirty', () => {
    assert.deepEqual(nextSteps(spec({ staleState: 'wipe' }), observed), ['wipe-k3s s3'])
    assert.deepEqual(nextSteps(spec({ staleState: 'recreate' }), observed), ['destroy-machine s3'])
    const host = {
      ...spec({ staleState: 'recreate' }),
      servers: ['s1', 's2', 's3'].map((name) => nodeSpec(name, { machine: { host: name } })),
    }
    assert.deepEqual(nextSteps(host, observed), [], 'a box that was there before us is never destroyed')
  })

  test('[A7] an old peer CA beside a new certificate is refused before etcd is asked', () => {
    for (const data of ['none', CA]) {
      const mixed: NodeTurn = { kube: 'absent', k3s: { service: 'absent', data, mixedCa: true } }
      const decision = coordinate(spec({}), observedCluster('s1 s2 s3', { s3: mixed }, { members }), NOW)
      assert.deepEqual(decision.steps, [])
      assert.match(decision.refusals[0]?.reason ?? '', /certificates of more than one CA/)
    }
  })
})

describe('[R20-7] a server that croft itself is joining', () => {
  const members = [member('s1')]
  const arriving = (service: 'starting' | 'running'): NodeTurn => ({
    kube: 'absent',
    k3s: { service, data: 'other', configured: true, sinceMs: NOW - 12_000 },
  })

  test('is never stale, and the next one waits until it votes, whatever the policy', () => {
    for (const service of ['starting', 'running'] as const) {
      for (const staleState of ['refuse', 'wipe', 'recreate'] as const) {
        const observed = observedCluster('s1 s2 s3', { s2: arriving(service), s3: FRESH }, { members })
        const decision = coordinate(clusterSpec('s1 s2 s3', { staleState }), observed, NOW)
        assert.deepEqual([decision.steps.map((step) => step.verb), decision.refusals], [[], []], staleState)
        assert.equal(phaseOf(decision, 's2'), 'Joining')
      }
    }
  })

  test('is kept out and never wiped where somebody else started it', () => {
    const foreign: NodeTurn = { kube: 'absent', k3s: { service: 'running', data: 'other', configured: false } }
    const spec = clusterSpec('s1 s2', { staleState: 'wipe' })
    const decision = coordinate(spec, observedCluster('s1 s2', { s2: foreign }, { members }), NOW)
    assert.deepEqual(decision.steps, [])
    assert.equal(phaseOf(decision, 's2'), 'Unrecorded')
  })

  test('is not wiped as a learner or voter, whatever its disk says', () => {
    for (const turn of [
      { learner: true, up: 'yes' },
      { learner: true, up: 'unknown' },
      { up: 'yes' },
      { up: 'unknown' },
    ]) {
      const held = [member('s1'), member('s2', turn as Partial<EtcdMember>)]
      for (const mixedCa of [true, false]) {
        const sick: NodeTurn = { kube: 'absent', k3s: { service: 'running', data: 'd'.repeat(64), mixedCa } }
        const observed = observedCluster('s1 s2 s3', { s2: sick }, { members: [...held, member('s3')] })
        const decision = coordinate(clusterSpec('s1 s2 s3', { staleState: 'wipe' }), observed, NOW)
        assert.deepEqual(
          decision.steps.filter(({ verb }) => verb === 'wipe-k3s'),
          [],
        )
        assert.match(decision.refusals[0]?.reason ?? '', /is a member of etcd/)
      }
    }
  })
})

describe('[R42] failed joins', () => {
  const spec = clusterSpec('s1 s2 s3')
  const failed: NodeTurn = {
    kube: 'absent',
    k3s: { service: 'failed', failure: 'x509: certificate signed by unknown authority' },
  }

  test('[A8] the learner that it added is removed first, then it is configured, then wiped, and only then it joins again', () => {
    const learner = [member('s1'), member('s2'), member('s3', { learner: true, up: 'no' })]
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: failed }, { members: learner })), [
      'remove-member s3',
    ])
    const gone = { members: [member('s1'), member('s2')] }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: failed }, gone)), ['rewrite-k3s s3'])
    const tried: NodeTurn = { ...failed, tried: ['rewrite-k3s'] }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: tried }, gone)), ['wipe-k3s s3'])
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: FRESH }, gone)), [`join-server s3 ${VERSION}`])
  })

  test('a join that takes too long is stopped before it is cleared away', () => {
    const late: NodeTurn = { kube: 'absent', k3s: { service: 'running', sinceMs: NOW - 6 * MINUTE } }
    const members = [member('s1'), member('s2'), member('s3', { learner: true })]
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: late }, { members })), ['stop-k3s s3'])
  })

  test('a voter that lost its Node is started anew, if the others can do without it', () => {
    const lost: NodeTurn = { kube: 'absent', k3s: { service: 'running', sinceMs: NOW - HOUR } }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: lost })), ['restart-k3s s3'])
    const members = [member('s1'), member('s2', { up: 'unknown' }), member('s3')]
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s3: lost }, { members })), [])
  })
})

describe('what a former machine left behind', () => {
  test('[A9] a first server whose machine is gone: cleared away, made anew, and it joins', () => {
    const spec = clusterSpec('s1 s2 s3')
    const gone: NodeTurn = { ...NOTHING, kube: { ready: 'no' } }
    const members = [member('s1', { up: 'no' }), member('s2'), member('s3')]
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s1: gone }, { members })), ['remove-member s1'])
    const rest = { members: [member('s2'), member('s3')] }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s1: gone }, rest)), ['delete-node s1'])
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s1: NOTHING }, rest)), ['create-machine s1'])
    assert.deepEqual(nextSteps(spec, observedCluster('s1 s2 s3', { s1: FRESH }, rest)), [`join-server s1 ${VERSION}`])
  })

  test('[A10] a worker replaced under its name joins only when the old Node and its password are gone', () => {
    const spec = clusterSpec('s1 a1')
    const old: NodeTurn = { ...FRESH, kube: { ready: 'no' } }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 a1', { a1: old })), ['delete-node a1'])
    const secret: NodeTurn = { ...FRESH, passwordSecret: 'yes' }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 a1', { a1: secret })), ['delete-node-password a1'])
    const unseen: NodeTurn = { ...FRESH, passwordSecret: 'unknown' }
    assert.deepEqual(nextSteps(spec, observedCluster('s1 a1', { a1: unseen })), [])
    assert.deepEqual(nextSteps(spec, observedCluster('s1 a1', { a1: FRESH })), [`join-agent a1 ${VERSION}`])
  })

  test('witnesses that contradict each other are believed by nobody', () => {
    const decision = coordinate(
      clusterSpec('s1 s2 s3'),
      observedCluster('s1 s2 s3', { s3: { machine: { exists: 'no' } } }),
      NOW,
    )
    assert.deepEqual(decision.steps, [])
    assert.deepEqual(plannedGuards(decision), ['contradiction'])
  })

  test('a server that has gone and whose Node is still Ready is removed only when its etcd is certainly down', () => {
    const decide = (up: 'yes' | 'no' | 'unknown') => {
      const members = [member('s1'), member('s2'), member('s3', { up })]
      const seen = observedCluster('s1 s2 s3', { s3: { machine: { exists: 'no' } } }, { members })
      return coordinate(clusterSpec('s1 s2 s3'), seen, NOW)
    }
    for (const up of ['yes', 'unknown'] as const) {
      assert.deepEqual(decide(up).steps, [], up)
      assert.deepEqual(plannedGuards(decide(up)), ['contradiction'], up)
    }
    assert.deepEqual(
      decide('no').steps.map(({ verb }) => verb),
      ['remove-member'],
    )
  })
})

describe('phases', () => {
  const cni = {
    ready: 'no',
    readyReason: 'KubeletNotReady',
    readyMessage:
      'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
  } as const

  test('[A14] [R23] without a network plugin nodes are AwaitingCNI, joins go on, and nothing is replaced', () => {
    const base = clusterSpec('s1 s2 a1')
    const spec = {
      ...base,
      network: { ...base.network, flannelBackend: 'none' as const },
      allow: { degraded: true, interruption: false },
    }
    const kube = { ...cni, readySinceMs: NOW - 24 * HOUR }
    const decision = coordinate(
      spec,
      observedCluster('s1 s2 a1', { s1: { kube }, s2: FRESH, a1: { kube } }, { members: [member('s1')] }),
      NOW,
    )
    assert.equal(phaseOf(decision, 's1'), 'AwaitingCNI')
    assert.deepEqual(plannedSteps(decision), [`join-server s2 ${VERSION}`])
    const all = coordinate(spec, observedCluster('s1 s2 a1', { s1: { kube }, s2: { kube }, a1: { kube } }), NOW)
    assert.equal(all.phase, 'AwaitingCNI')
    assert.deepEqual(all.steps, [])
  })

  test('with a network of its own the same message is an illness', () => {
    const decision = coordinate(clusterSpec('s1 a1'), observedCluster('s1 a1', { a1: { kube: cni } }), NOW)
    assert.equal(phaseOf(decision, 'a1'), 'NotReady')
  })

  test('a node that came a minute ago is Joining while it is not Ready yet, and NotReady once it has fallen silent', () => {
    const young = { ready: 'no', createdMs: NOW - 60_000, readySinceMs: NOW - 55_000 } as const
    const phase = (readyReason: string) =>
      phaseOf(
        coordinate(clusterSpec('s1 a1'), observedCluster('s1 a1', { a1: { kube: { ...young, readyReason } } }), NOW),
        'a1',
      )
    assert.equal(phase('KubeletNotReady'), 'Joining')
    assert.equal(phase('NodeStatusUnknown'), 'NotReady')
  })

  test('a server that joined a minute ago is Joining until its vote is seen, and Unknown when its host falls silent', () => {
    const decide = (machine: NonNullable<NodeTurn['machine']>) => {
      const turn: NodeTurn = { kube: { createdMs: NOW - 60_000 }, machine }
      const members = [member('s1'), member('s2'), member('s3', { up: 'unknown' })]
      return coordinate(clusterSpec('s1 s2 s3'), observedCluster('s1 s2 s3', { s3: turn }, { members }), NOW)
    }
    const phase = (machine: NonNullable<NodeTurn['machine']>) => phaseOf(decide(machine), 's3')
    assert.equal(phase({ power: 'on' }), 'Joining')
    assert.equal(phase({ power: 'unknown', ours: false }), 'Joining', 'a box has no hypervisor that could say')
    assert.equal(phase({ power: 'unknown', ours: true }), 'Unknown')
    assert.equal(phase({ exists: 'unknown', power: 'unknown' }), 'Unknown')
    assert.equal(decide({ exists: 'unknown', power: 'unknown' }).phase, 'Degraded')
  })

  test('[A17] two nodes with one machine-id are named, and neither counts as Ready', () => {
    const same = { machine: { machineId: 'same' } }
    const decision = coordinate(clusterSpec('s1 a1 a2'), observedCluster('s1 a1 a2', { a1: same, a2: same }), NOW)
    assert.deepEqual(
      decision.refusals.map(({ reason }) => reason),
      ['a1 and a2 have the same machine-id: they are copies of one booted image'],
    )
    assert.equal(phaseOf(decision, 'a1'), 'Duplicate')
    assert.equal(phaseOf(decision, 'a2'), 'Duplicate')
    assert.notEqual(decision.phase, 'Ready')
  })

  test('[R26] a machine that may be off is healthy when it is', () => {
    const spec = { ...clusterSpec('s1'), agents: [nodeSpec('a1', { power: 'onDemand' })] }
    const asleep: NodeTurn = {
      kube: { ready: 'no', readySinceMs: NOW - 24 * HOUR },
      k3s: 'unknown',
      machine: { power: 'off' },
    }
    const decision = coordinate(spec, observedCluster('s1 a1', { a1: asleep }), NOW)
    assert.deepEqual([decision.steps, decision.holds, decision.refusals], [[], [], []])
    assert.equal(phaseOf(decision, 'a1'), 'PoweredOff')
    assert.equal(decision.phase, 'Ready')
    const always = nextSteps(clusterSpec('s1 a1'), observedCluster('s1 a1', { a1: asleep }))
    assert.deepEqual(always, ['start-machine a1'])
  })

  test('a healthy cluster needs nothing, whatever the order of the list', () => {
    for (const names of ['s1 s2 s3 a1', 'a1 s3 s2 s1']) {
      const decision = coordinate(clusterSpec(names), observedCluster('s1 s2 s3 a1'), NOW)
      assert.deepEqual([decision.steps, decision.waits, decision.holds, decision.refusals], [[], [], [], []])
      assert.equal(decision.phase, 'Ready')
    }
  })

  test('an order to stand still is obeyed before anything else', () => {
    const requests = {
      rolloutPaused: false,
      replace: [],
      removeMembers: [],
      hold: { reason: 'power off', allow: 'croft power on' },
    }
    const off: NodeTurn = { machine: { power: 'off' } }
    const decision = coordinate(clusterSpec('s1 s2 s3'), observedCluster('s1 s2 s3', { s2: off }, { requests }), NOW)
    assert.deepEqual(decision.steps, [])
    assert.equal(decision.phase, 'Blocked')
  })
})

test('the node password of an agent that is just joining is its own, and is not taken for remains', () => {
  const turn = {
    kube: 'absent',
    passwordSecret: 'yes',
    k3s: { service: 'starting', data: 'none', sinceMs: NOW },
  } as const
  const decision = coordinate(clusterSpec('s1 s2 s3 a1'), observedCluster('s1 s2 s3 a1', { a1: turn }), NOW)
  assert.deepEqual(decision.steps, [])
  assert.match(decision.waits.map(({ awaits }) => awaits).join(), /a1 to become a Node/)
})
