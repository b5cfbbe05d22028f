import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import {
  type ClusterPlan,
  NO_REQUESTS,
  type ObservedCluster,
  type OperationAt,
  type OperationStepAt,
} from '../../model/observed-cluster.ts'
import type { ObservedPower, PowerPlan } from '../../model/observed-power.ts'
import type { PowerRequests } from '../../model/power.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import { clusterSpec, FRESH, member, NOW, observedCluster, VERSION } from '../../plan/clusters/testing/fixture.ts'
import { coordinatePower } from '../../plan/power/coordinate.ts'
import {
  clusterWith,
  EMPTY,
  host,
  node,
  observedWith,
  NOW as POWER_NOW,
  specWith,
  workload,
} from '../../plan/power/testing/fixture.ts'
import { clusterMoment, type Moment, powerMoment } from './course-moment.ts'

const NEXT = 'v1.34.4+k3s1'
const work = { purpose: 'upgrade', target: NEXT, sinceMs: NOW - 60_000, cordoned: true } as const

function looked(names: string, observed: ObservedCluster, version = VERSION): Moment {
  const spec = clusterSpec(names, { version })
  const decision = coordinate(spec, observed, NOW)
  const look = { declaration: { key: 'Cluster/homelab', name: 'homelab', spec }, observed, decision }
  return clusterMoment(look as unknown as ClusterPlan, NOW)
}

const steps = ({ tracks }: Moment) => tracks.map(({ name, doing }) => `${name} ${doing?.step ?? '-'}`).join(', ')

const UPGRADES: readonly (readonly [says: string, turns: Parameters<typeof observedCluster>[1], steps: string])[] = [
  ['a node that was marked is drained', { s1: { kube: { work, unschedulable: true, podsToMove: 3 } } }, 's1 drain'],
  ['empty, it is changed', { s1: { kube: { work, unschedulable: true } } }, 's1 install'],
  [
    'changed, it restarts until K3s and etcd are back',
    {
      s1: {
        kube: { work: { ...work, changedMs: NOW - 9000 }, unschedulable: true, ready: 'no' },
        k3s: { service: 'starting', version: NEXT },
      },
    },
    's1 restart',
  ],
  [
    'up and not Ready, it is waited for',
    {
      s1: {
        kube: { work: { ...work, changedMs: NOW - 9000 }, unschedulable: true, ready: 'no' },
        k3s: { version: NEXT },
      },
    },
    's1 wait',
  ],
  [
    'well again, it is given back',
    { s1: { kube: { work: { ...work, changedMs: NOW - 9000 }, version: NEXT }, k3s: { version: NEXT } } },
    's1 uncordon',
  ],
  [
    'the next one waits until it has stayed well',
    { s1: { kube: { version: NEXT, changedMs: NOW - 60_000, readySinceMs: NOW - 50_000 }, k3s: { version: NEXT } } },
    's1 soak',
  ],
]

for (const [says, turns, expected] of UPGRADES)
  test(`an upgrade: ${says}`, () => {
    const moment = looked('s1 s2 s3', observedCluster('s1 s2 s3', turns), NEXT)
    assert.deepEqual(moment.about, { purpose: 'upgrade', title: `Upgrade to ${NEXT}` })
    assert.equal(steps(moment), `${expected}, s2 -, s3 -`)
    assert.deepEqual(moment.votes, { up: expected === 's1 restart' ? 2 : 3, voters: 3, needed: 2 })
  })

test('a cluster that is as declared has no course, and neither has one that only takes its snapshot', () => {
  assert.equal(looked('s1 s2 s3', observedCluster('s1 s2 s3')).about, undefined)
  const spec = clusterSpec('s1')
  const decision = coordinate(spec, observedCluster('s1'), NOW)
  const snapshot = { about: 'cluster', verb: 'snapshot', node: 's1', summary: 'take a snapshot', lane: 'local' }
  const look = {
    declaration: { key: 'Cluster/homelab', spec },
    observed: observedCluster('s1'),
    decision: { ...decision, phase: 'Changing', steps: [snapshot] },
  }
  assert.equal(clusterMoment(look as unknown as ClusterPlan, NOW).about, undefined)
})

test('a cluster that does not answer has nothing under way that is new', () => {
  const unseen = { machine: { exists: 'unknown', power: 'unknown' }, kube: 'unknown', k3s: 'unknown' } as const
  const silent = observedCluster(
    's1 s2 s3',
    { s1: { kube: 'unknown' }, s2: unseen, s3: unseen },
    { api: 'no', members: 'unknown' },
  )
  const moment = looked('s1 s2 s3', silent)
  assert.equal(moment.blind, true)
  assert.equal(steps(moment), 's1 no answer, s2 no answer, s3 no answer')
  assert.equal(looked('s1 s2 s3', observedCluster('s1 s2 s3')).blind, undefined)
})

test('a server that comes to a running cluster is a change', () => {
  const moment = looked(
    's1 s2 s3',
    observedCluster('s1 s2 s3', { s3: FRESH }, { members: [member('s1'), member('s2')] }),
  )
  assert.deepEqual(moment.about, { purpose: 'change', title: 'Node changes' })
  assert.equal(steps(moment), 's1 -, s2 -, s3 join')
  assert.deepEqual(moment.votes, { up: 2, voters: 2, needed: 2 })
})

const restoring: OperationAt = {
  name: 'restore of homelab from old',
  verb: 'restore-snapshot',
  node: 's1',
  summary: 'start s1 over from old',
  sinceMs: NOW - 5000,
}
const held = (operation: OperationAt): Partial<ObservedCluster> => ({
  api: 'no',
  members: 'unknown',
  requests: { ...NO_REQUESTS, hold: { reason: 'is being restored', allow: 'wait', operation } },
})
const stopped = { k3s: { service: 'stopped' }, kube: 'unknown' } as const

test('a restore: the server that starts over, the others stopped, and no vote', () => {
  const moment = looked(
    's1 s2 s3',
    observedCluster('s1 s2 s3', { s1: stopped, s2: stopped, s3: stopped }, held(restoring)),
  )
  assert.deepEqual(moment.about, { purpose: 'operation', title: 'Restore of homelab from old' })
  assert.equal(steps(moment), 's1 restore, s2 stopped, s3 stopped')
  assert.deepEqual(moment.votes, { up: 0, voters: 3, needed: 2 })
})

test('a restore: a server joins again, and while one runs that nobody can ask, its vote is not known', () => {
  const joins = { ...restoring, verb: 'start-k3s', node: 's2', until: 'node-well' } as const
  const moment = looked('s1 s2 s3', observedCluster('s1 s2 s3', { s3: stopped }, held(joins)))
  assert.equal(steps(moment), 's1 -, s2 rejoin, s3 stopped')
  assert.deepEqual(moment.votes, { up: 'unknown', voters: 3, needed: 2 })
})

test('a restore is told from its first step on, also of steps that nobody looked at', () => {
  const step = (verb: OperationStepAt['verb'], node: string, second: number): OperationStepAt => ({
    verb,
    node,
    summary: verb,
    sinceMs: NOW + second * 1000,
  })
  const before = [
    step('snapshot', 's1', 0),
    step('stop-k3s', 's1', 3),
    step('stop-k3s', 's2', 5),
    step('write-files', 's1', 6),
    step('restore-snapshot', 's1', 7),
    step('start-k3s', 's1', 12),
    step('forget-db', 's2', 15),
  ]
  const operation = { ...restoring, ...step('start-k3s', 's2', 16), until: 'node-well', before } as const
  const moment = looked('s1 s2 s3', observedCluster('s1 s2 s3', { s3: stopped }, held(operation)))
  assert.equal(moment.fromMs, NOW)
  const told = moment.tracks.map(({ name, bars }) =>
    [
      name,
      ...(bars ?? []).map(({ step: word, fromMs, toMs = Number.NaN }) =>
        [word, (fromMs - NOW) / 1000, (toMs - NOW) / 1000].join(' '),
      ),
    ].join(', '),
  )
  assert.deepEqual(told, [
    's1, snapshot 0 3, stop 3 5, stopped 5 6, configure 6 7, restore 7 12, start 12 15',
    's2, stop 5 6, stopped 6 15, delete data 15 16, rejoin 16 NaN',
    // Without a step, a node is shown as observed.
    's3',
  ])
  assert.equal(steps(moment), 's1 -, s2 rejoin, s3 stopped')
})

test('an operation that was interrupted, and a hold of somebody else, are not under way', () => {
  const old = { ...restoring, sinceMs: NOW - LIMITS.operationStepMs - 1 }
  assert.equal(looked('s1', observedCluster('s1', {}, held(old))).about, undefined)
  const power = { requests: { ...NO_REQUESTS, hold: { reason: 'off', allow: '', power: 'changing' as const } } }
  assert.equal(looked('s1', observedCluster('s1', {}, power)).about, undefined, 'the Power has its own')
})

function powered(observed: ObservedPower, state: 'on' | 'off', spec = specWith()): Moment {
  const wanted = { state, by: 'page:anna', why: 'over night', atMs: POWER_NOW - 1000 }
  const orders: PowerRequests = { holds: [], wanted }
  const decision = coordinatePower(spec, observed, orders, undefined, POWER_NOW)
  const look = { declaration: { key: 'Power/homelab', spec }, observed, orders, decision }
  return powerMoment(look as unknown as PowerPlan, undefined, POWER_NOW)
}

const mark = { sinceMs: POWER_NOW, cordoned: true, tainted: true }
const going = { mark, unschedulable: true, tainted: true }
const put = { replicas: 0, pods: 0, ready: 0, remembered: 2 }

const POWERS: readonly (readonly [says: string, observed: ObservedPower, state: 'on' | 'off', steps: string])[] = [
  [
    'first the workloads stop',
    observedWith({ cluster: clusterWith([node('s1'), node('a1')], [workload('apps', 'web')]) }),
    'off',
    'Workloads stop workloads, s1 -, a1 -',
  ],
  [
    'then nodes are cordoned',
    observedWith({ cluster: clusterWith([node('s1'), node('a1')], [workload('apps', 'web', put)]) }),
    'off',
    'Workloads -, s1 cordon, a1 cordon',
  ],
  [
    'workers are drained',
    observedWith({
      cluster: clusterWith([node('s1', going), node('a1', { ...going, podsToMove: 2 })], []),
    }),
    'off',
    'Workloads -, s1 -, a1 drain',
  ],
  [
    'K3s stops, workers before servers',
    observedWith({ cluster: clusterWith([node('s1', going), node('a1', going)], []) }),
    'off',
    'Workloads -, s1 -, a1 stop',
  ],
  [
    'what is off stays off in the picture while the server goes',
    observedWith({
      cluster: clusterWith([node('s1', going), node('a1', { ...going, power: 'off', k3s: 'unknown' })], []),
    }),
    'off',
    'Workloads -, s1 stop, a1 off',
  ],
]

for (const [says, observed, state, expected] of POWERS)
  test(`a power-off: ${says}`, () => {
    const moment = powered(observed, state)
    assert.deepEqual(moment.about, { purpose: 'power-off', title: 'Power off' })
    assert.equal(steps(moment), expected)
  })

test('a power-on: hosts wake first, machines boot, nodes are uncordoned and workloads come back', () => {
  const spec = specWith({ hosts: [host('pve1')] })
  const asleep = [node('s1', { ...going, power: 'off', k3s: 'unknown', kube: 'unknown' })]
  const cluster = clusterWith(asleep, [], { api: 'no', quorum: 'no', workloads: 'unknown' })
  const dark = observedWith({ cluster, hosts: [{ name: 'pve1', power: 'off', guests: EMPTY }] })
  const waking = powered(dark, 'on', spec)
  assert.deepEqual(waking.about, { purpose: 'power-on', title: 'Power on' })
  assert.equal(steps(waking), 'Workloads -, s1 off, pve1 wake')
  const lit = { ...dark, hosts: [{ name: 'pve1', power: 'on' as const, guests: EMPTY }] }
  const booting = {
    ...lit,
    machines: [{ key: 'Machine/s1', name: 's1', role: 'node' as const, power: 'off' as const, exists: 'yes' as const }],
  }
  assert.equal(steps(powered(booting, 'on', spec)), 'Workloads -, s1 boot, pve1 -')
  const up = observedWith({ cluster: clusterWith([node('s1', going)], [workload('apps', 'web', put)]) })
  assert.equal(steps(powered(up, 'on')), 'Workloads -, s1 uncordon')
  const free = observedWith({ cluster: clusterWith([node('s1')], [workload('apps', 'web', put)]) })
  assert.equal(steps(powered(free, 'on')), 'Workloads start workloads, s1 -')
})
