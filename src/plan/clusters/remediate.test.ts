import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterSpec } from '../../model/cluster.ts'
import { NO_REQUESTS, type ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { brakeLimit } from './remediate.ts'
import { clusterSpec, HOUR, MINUTE, member, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'
import { nextSteps, phaseOf, plannedGuards, plannedSteps } from './testing/planned.ts'

/** Silent for so long: NotReady and not answering, with its machine on. */
const silent = (forMs: number, more: NodeTurn = {}): NodeTurn => ({
  kube: { ready: 'no', readyReason: 'NodeStatusUnknown', readySinceMs: NOW - forMs },
  k3s: 'unknown',
  ...more,
})
const agents = (count: number) => Array.from({ length: count }, (_, index) => `a${index + 1}`)
const three = clusterSpec('s1 s2 s3')
const withoutS3 = { members: [member('s1'), member('s2'), member('s3', { up: 'no' })] }

describe('dead nodes', () => {
  test('are replaced when they have been dead for long enough', () => {
    const young = observedCluster('s1 s2 s3', { s3: silent(4 * MINUTE) }, withoutS3)
    assert.deepEqual(nextSteps(three, young), [])
    const dead = observedCluster('s1 s2 s3', { s3: silent(6 * MINUTE) }, withoutS3)
    assert.deepEqual(nextSteps(three, dead), ['cordon s3'])
    const off = { ...three, remediation: { ...three.remediation, enabled: false } }
    assert.deepEqual(nextSteps(off, dead), [])
  })

  test('the dead member goes first, then Node, machine, and a new one comes', () => {
    const work = { purpose: 'remediate', target: 'remediate', sinceMs: NOW, cordoned: true } as const
    const kube = { ready: 'no', readySinceMs: NOW - HOUR, unschedulable: true, work } as const
    const two = { members: [member('s1'), member('s2')] }
    const at = (turn: NodeTurn, more: object) => nextSteps(three, observedCluster('s1 s2 s3', { s3: turn }, more))
    assert.deepEqual(at({ kube, k3s: 'unknown' }, withoutS3), ['remove-member s3'])
    assert.deepEqual(at({ kube, k3s: 'unknown' }, two), ['delete-node s3'])
    assert.deepEqual(at({ kube: 'absent', k3s: 'unknown', remediation: { atMs: NOW } }, two), ['destroy-machine s3'])
  })

  test('one that came back by itself is given back', () => {
    const work = { purpose: 'remediate', target: 'remediate', sinceMs: NOW, cordoned: true } as const
    const observed = observedCluster('s1 s2 s3', { s3: { kube: { unschedulable: true, work } } })
    assert.deepEqual(nextSteps(three, observed), ['uncordon s3'])
  })

  test('a server that etcd still sees is not dead, nor is one that a person cordoned ours to replace', () => {
    const dead = silent(HOUR)
    assert.deepEqual(nextSteps(three, observedCluster('s1 s2 s3', { s3: dead })), [])
    const cordoned = silent(HOUR, { kube: { ready: 'no', readySinceMs: NOW - HOUR, unschedulable: true } })
    const decision = coordinate(three, observedCluster('s1 s2 s3', { s3: cordoned }, withoutS3), NOW)
    assert.deepEqual(decision.steps, [])
    assert.ok(plannedGuards(decision).includes('somebody-at-work'))
  })

  test('one whose machine is off, or whose K3s has stopped, is started, not replaced', () => {
    const off = silent(MINUTE, { machine: { power: 'off' } })
    assert.deepEqual(nextSteps(three, observedCluster('s1 s2 s3', { s3: off }, withoutS3)), ['start-machine s3'])
    const stopped = silent(MINUTE, { k3s: { service: 'failed' } })
    assert.deepEqual(nextSteps(three, observedCluster('s1 s2 s3', { s3: stopped }, withoutS3)), ['restart-k3s s3'])
  })
})

describe('the data of a dead node', () => {
  const asking = (names: string) => {
    const spec = clusterSpec(names)
    return { ...spec, remediation: { ...spec.remediation, dataMayGo: false } }
  }
  const box = (spec: ReturnType<typeof asking>) => ({
    ...spec,
    agents: spec.agents.map((node) => ({ ...node, machine: { host: node.name } })),
  })
  const agent = asking('s1 s2 s3 a1')
  const server = asking('s1 s2 s3')
  const [deadA1, deadS3] = [{ a1: silent(HOUR) }, { s3: silent(HOUR) }]
  const order = { requests: { ...NO_REQUESTS, replace: [{ node: 'a1', atMs: NOW, goes: 'unseen' as const }] } }
  const work = { purpose: 'remediate', target: 'remediate', sinceMs: NOW, cordoned: true } as const
  const begun = { ready: 'no', readySinceMs: NOW - HOUR, unschedulable: true, work } as const
  const out: NodeTurn = { kube: 'absent', k3s: 'unknown', remediation: { atMs: NOW } }

  const cases: readonly [string, ClusterSpec, ObservedCluster, readonly string[], readonly string[]][] = [
    ['an agent is not destroyed', agent, observedCluster('s1 s2 s3 a1', deadA1), [], ['node-data']],
    ['a server is not destroyed', server, observedCluster('s1 s2 s3', deadS3, withoutS3), [], ['node-data']],
    ['Git says so', clusterSpec('s1 s2 s3 a1'), observedCluster('s1 s2 s3 a1', deadA1), ['cordon a1'], []],
    ['a person orders it', agent, observedCluster('s1 s2 s3 a1', deadA1, order), ['cordon a1'], []],
    ['a box is only wiped', box(agent), observedCluster('s1 s2 s3 a1', deadA1), ['cordon a1'], []],
    [
      'the word was taken back before the Node was deleted',
      agent,
      observedCluster('s1 s2 s3 a1', { a1: { kube: begun, k3s: 'unknown' } }),
      ['uncordon a1'],
      [],
    ],
    [
      'the word was taken back before the machine was destroyed',
      agent,
      observedCluster('s1 s2 s3 a1', { a1: out }),
      [],
      ['unreachable'],
    ],
    ['an order after that', agent, observedCluster('s1 s2 s3 a1', { a1: out }, order), ['destroy-machine a1'], []],
  ]
  for (const [name, spec, observed, steps, guards] of cases) {
    test(name, () => {
      const decision = coordinate(spec, observed, NOW)
      assert.deepEqual(plannedSteps(decision), steps)
      assert.deepEqual(plannedGuards(decision), guards)
    })
  }

  test('the hold names what goes and both ways out', () => {
    const [hold] = coordinate(agent, observedCluster('s1 s2 s3 a1', deadA1), NOW).holds
    assert.equal(hold?.node, 'a1')
    assert.match(hold?.reason ?? '', /^a1 has been NotReady for 60 min .*all its disks: .*local-path/)
    assert.match(hold?.allow ?? '', /croft cluster replace homelab a1, or write remediation: \{dataMayGo: true\}/)
  })

  test('one that may go does not wait for one that may not', () => {
    const two = asking('s1 s2 s3 a1 a2')
    const spec = {
      ...two,
      remediation: { ...two.remediation, brake: { nodes: 2, percent: 20 } },
      agents: two.agents.map((node) => (node.name === 'a2' ? { ...node, machine: { host: 'a2' } } : node)),
    }
    const decision = coordinate(spec, observedCluster('s1 s2 s3 a1 a2', { ...deadA1, a2: silent(HOUR) }), NOW)
    assert.deepEqual(plannedSteps(decision), ['cordon a2'])
    assert.deepEqual(plannedGuards(decision), ['node-data'])
  })
})

describe('[F-34] the brake', () => {
  test('its limit is one machine or 20 %, whichever is larger', () => {
    const usual = { nodes: 1, percent: 20 }
    assert.deepEqual(
      [1, 3, 5, 9, 10, 100].map((nodes) => brakeLimit(nodes, usual)),
      [1, 1, 1, 1, 2, 20],
    )
  })

  // percent unwell of 100 nodes, limit in percent, replaced?
  const cases: readonly [number, number, boolean][] = [
    [1, 20, true],
    [20, 20, true],
    [21, 20, false],
    [40, 20, false],
    [40, 40, true],
    [41, 40, false],
    [100, 40, false],
    [100, 20, false],
  ]
  for (const [unwell, percent, replaced] of cases) {
    test(`${unwell} % unwell, limit ${percent} %: ${replaced ? 'replaced one by one' : 'nothing is replaced'}`, () => {
      const names = agents(97)
      const base = clusterSpec(['s1 s2 s3', ...names].join(' '))
      const spec = { ...base, remediation: { ...base.remediation, brake: { nodes: 1, percent } } }
      const ill = unwell === 100 ? [...names, 's1', 's2', 's3'] : names.slice(0, unwell)
      const turns = Object.fromEntries(ill.map((name) => [name, silent(HOUR)]))
      const decision = coordinate(spec, observedCluster(['s1 s2 s3', ...names].join(' '), turns), NOW)
      assert.equal(decision.steps.length, replaced ? 1 : 0)
      assert.equal(plannedGuards(decision).includes('brake'), !replaced)
    })
  }
})

describe('[F-35] flapping', () => {
  test('up and down every 30 s for 24 h: never replaced, and told', () => {
    const spec = clusterSpec('s1 s2 s3 a1')
    let replacements = 0
    for (let ms = 0; ms < 24 * HOUR; ms += 30_000) {
      const sinceMs = NOW + Math.floor(ms / 30_000) * 30_000
      const ready = Math.floor(ms / 30_000) % 2 === 0 ? 'no' : 'yes'
      const turn: NodeTurn = { kube: { ready, readySinceMs: sinceMs, readyChanges: 120 } }
      const decision = coordinate(spec, observedCluster('s1 s2 s3 a1', { a1: turn }), NOW + ms)
      replacements += decision.steps.length
      assert.equal(phaseOf(decision, 'a1'), 'Flapping')
    }
    assert.equal(replacements, 0)
  })

  test('nodes that die again and again: at most one replacement per hour and pool', () => {
    const spec = clusterSpec('s1 s2 s3 a1 a2 a3 a4 a5 a6')
    const names = 's1 s2 s3 a1 a2 a3 a4 a5 a6'
    let begun: number[] = []
    // Agents die for good one after the other; each returns right after its replacement started.
    const remediated = new Map<string, number>()
    for (let ms = 0; ms < 24 * HOUR; ms += 5 * MINUTE) {
      const nowMs = NOW + ms
      const victim = `a${1 + (begun.length % 6)}`
      const turns: Record<string, NodeTurn> = {}
      for (const [name, atMs] of remediated) turns[name] = { remediation: { atMs, over: true } }
      turns[victim] = { ...turns[victim], kube: { ready: 'no', readySinceMs: NOW - HOUR }, k3s: 'unknown' }
      const decision = coordinate(spec, observedCluster(names, turns), nowMs)
      const step = decision.steps.find(({ purpose }) => purpose === 'remediate')
      if (step?.node === undefined) continue
      remediated.set(step.node, nowMs)
      begun = [...begun, nowMs]
    }
    assert.equal(begun.length, 24)
    for (const [index, atMs] of begun.entries()) assert.ok(index === 0 || atMs - (begun[index - 1] ?? 0) >= HOUR)
  })
})

describe('[R43] servers that stay away', () => {
  const evicting = { ...three, remediation: { ...three.remediation, enabled: false, evictAfterMs: 24 * HOUR } }

  test('lose their vote by policy, even where replacing is off', () => {
    const away = observedCluster('s1 s2 s3', { s3: silent(25 * HOUR) }, withoutS3)
    assert.deepEqual(nextSteps(evicting, away), ['remove-member s3'])
    const two = { members: [member('s1'), member('s2')] }
    assert.deepEqual(nextSteps(evicting, observedCluster('s1 s2 s3', { s3: silent(25 * HOUR) }, two)), [
      'delete-node s3',
    ])
    assert.deepEqual(nextSteps(evicting, observedCluster('s1 s2 s3', { s3: silent(23 * HOUR) }, withoutS3)), [])
    assert.deepEqual(nextSteps({ ...evicting, remediation: { ...three.remediation, enabled: false } }, away), [])
  })

  test('not because croft does not reach them, while their kubelet speaks: it may be unwell for long, and vote', () => {
    const members = [member('s1'), member('s2'), member('s3', { up: 'unknown' })]
    const next = (readyReason: string) => {
      const kube = { ready: 'no', readyReason, readySinceMs: NOW - 25 * HOUR } as const
      return nextSteps(evicting, observedCluster('s1 s2 s3', { s3: { kube, k3s: 'unknown' } }, { members }))
    }
    assert.deepEqual(next('KubeletNotReady'), [])
    assert.deepEqual(next('NodeStatusUnknown'), ['remove-member s3'])
  })

  test('not where the others could not agree on it', () => {
    const members = [member('s1'), member('s2', { up: 'unknown' }), member('s3', { up: 'no' })]
    assert.deepEqual(nextSteps(evicting, observedCluster('s1 s2 s3', { s3: silent(25 * HOUR) }, { members })), [])
  })
})

describe('[F-31] a lost majority', () => {
  test('is told with the way out, and nothing is reset', () => {
    const members = [member('s1'), member('s2', { up: 'no' }), member('s3', { up: 'no' })]
    const decision = coordinate(
      three,
      observedCluster('s1 s2 s3', { s2: silent(HOUR), s3: silent(HOUR) }, { members, api: 'no' }),
      NOW,
    )
    assert.deepEqual(decision.steps, [])
    assert.equal(decision.phase, 'QuorumLost')
    assert.match(decision.holds.find(({ guard }) => guard === 'quorum-lost')?.allow ?? '', /croft cluster restore/)
  })

  test('machines that are off, and K3s that has stopped, are started: nothing else', () => {
    const turns = { s1: { k3s: { service: 'failed' } }, s2: { machine: { power: 'off' }, k3s: 'unknown' } } as const
    const decision = coordinate(three, observedCluster('s1 s2 s3', turns, { members: 'unknown', api: 'no' }), NOW)
    assert.deepEqual(
      decision.steps.map((step) => `${step.verb} ${step.node}`),
      ['restart-k3s s1', 'start-machine s2'],
    )
  })
})
