import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { snapshotName } from '../../k3s/snapshot-name.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import { type ClusterPlan, NO_REQUESTS, type ObservedCluster } from '../../model/observed-cluster.ts'
import { plan, withRefusedNodes } from '../plan.ts'
import type { PlanInput } from '../planner.ts'
import {
  estateOf,
  FAKE_RULES,
  guest,
  ledgerWith,
  machine,
  NOW,
  ORIGIN,
  recordOf,
  step,
  worldWith,
} from '../testing/fixture.ts'
import { coordinate } from './coordinate.ts'
import { clusterDiffers, forecast } from './forecast.ts'
import { NOW as CLUSTER_NOW, clusterSpec, observedCluster } from './testing/fixture.ts'
import { plannedGuards } from './testing/planned.ts'

function lookAt(spec: ClusterSpec, observed: ObservedCluster): ClusterPlan {
  return {
    declaration: {
      key: 'Cluster/homelab',
      name: 'homelab',
      estate: 'default',
      spec,
      artifacts: [{ release: true }],
      hosts: new Map(),
      policy: DEFAULT_POLICY,
      origin: ORIGIN,
      generation: 'g1',
    },
    observed,
    decision: coordinate(spec, observed, CLUSTER_NOW),
  }
}

const SNAPSHOT = {
  snapshots: [
    { name: snapshotName(CLUSTER_NOW - 1000), node: 's1', atMs: CLUSTER_NOW - 1000, tokenKept: 'yes' as const },
  ],
}

function verbs({ decision }: ClusterPlan): readonly string[] {
  return decision.steps.map((one) => `${one.verb} ${one.node}`)
}

const NAMES = ['s1', 's2', 's3']
const THREE = clusterSpec('s1 s2 s3')
const memory = { ...FAKE_RULES, updateSteps: restartsFor('memory') }

/** A change of memory restarts the guest; a change of power starts or stops it. */
function restartsFor(path: string): typeof FAKE_RULES.updateSteps {
  return (resource, observed, changes) =>
    changes.map((change) => {
      if (change.path === path) return step('reboot', observed.externalId, { disruption: 'restart' })
      const off = resource.desired.type === 'vm' && resource.desired.vm.power === 'stopped'
      return step(off ? 'shutdown' : 'start', observed.externalId, { disruption: off ? 'restart' : 'none' })
    })
}

function planned(
  look: ClusterPlan,
  declared: readonly string[] = NAMES,
  turns: Readonly<Record<string, { memory?: number; power?: 'running' | 'stopped' }>> = {},
) {
  const { entries } = plan(planning(look, declared, turns))
  return new Map(
    entries.map(({ key, action }) => [
      key,
      action.do === 'hold' ? `hold ${action.guard}: ${action.reason}` : action.do,
    ]),
  )
}

function planning(
  look: ClusterPlan,
  declared: readonly string[],
  turns: Readonly<Record<string, { memory?: number; power?: 'running' | 'stopped' }>> = {},
): PlanInput {
  const guests = NAMES.map((name, index) => guest(101 + index, { of: `Machine/${name}`, ...turns[name] }))
  const resources = declared.map((name) => machine(name))
  return {
    estate: estateOf(resources),
    worlds: new Map([['default', worldWith(guests.map((one, index) => ({ ...one, name: NAMES[index] ?? '' })))]]),
    ledger: ledgerWith({ known: NAMES.map((name) => recordOf(machine(name), { seenMs: NOW, externalId: '1' })) }),
    rules: new Map([['fake', memory]]),
    clusters: [look],
    nowMs: NOW,
  }
}

describe('the machine of a node', () => {
  test('[A24] is restarted only when the coordinator has cordoned and drained it, one at a time', () => {
    const wants = { machine: { wantsRestart: 'memory' } }
    const turns = { s2: { memory: 2048 }, s3: { memory: 2048 } }
    const whole = observedCluster('s1 s2 s3', { s2: wants, s3: wants }, SNAPSHOT)
    const begun = lookAt(THREE, whole)
    assert.deepEqual(verbs(begun), ['cordon s2'])
    assert.match(planned(begun, NAMES, turns).get('Machine/s2') ?? '', /^hold cluster-member: s2 is a node of/)

    const work = { purpose: 'restart', target: 'memory', sinceMs: CLUSTER_NOW, cordoned: true } as const
    const marked = { ...wants, kube: { work, unschedulable: true } }
    const full = lookAt(
      THREE,
      observedCluster('s1 s2 s3', { s2: { ...marked, kube: { ...marked.kube, podsToMove: 2 } }, s3: wants }, SNAPSHOT),
    )
    assert.deepEqual(verbs(full), ['drain s2'])
    const empty = lookAt(THREE, observedCluster('s1 s2 s3', { s2: marked, s3: wants }, SNAPSHOT))
    assert.deepEqual(verbs(empty), ['restart-machine s2'])
    const plan = planned(empty, NAMES, turns)
    assert.equal(plan.get('Machine/s2'), 'update')
    assert.match(plan.get('Machine/s3') ?? '', /^hold cluster-member/)

    const back = observedCluster('s1 s2 s3', { s2: { kube: { work, unschedulable: true } }, s3: wants }, SNAPSHOT)
    assert.deepEqual(verbs(lookAt(THREE, back)), ['uncordon s2'])
    const down = observedCluster('s1 s2 s3', { s2: { kube: { work, unschedulable: true, ready: 'no' } } }, SNAPSHOT)
    assert.deepEqual(verbs(lookAt(THREE, down)), [])
  })

  test('is not even begun to be restarted while another server is away', () => {
    const wants = { machine: { wantsRestart: 'memory' } }
    const observed = observedCluster('s1 s2 s3', { s2: wants, s3: { kube: { ready: 'no' } } }, SNAPSHOT)
    const members = observed.members === 'unknown' ? [] : observed.members
    const away = members.map((one) => (one.node === 's3' ? { ...one, up: 'no' as const } : one))
    const look = lookAt(THREE, { ...observed, members: away })
    assert.ok(!verbs(look).some((verb) => verb.endsWith('s2')))
    assert.match(planned(look, NAMES, { s2: { memory: 2048 } }).get('Machine/s2') ?? '', /^hold cluster-member: s2 is/)
  })

  test('is left running when nobody can say how etcd is', () => {
    const look = lookAt(THREE, observedCluster('s1 s2 s3', {}, { members: 'unknown' }))
    assert.match(planned(look, NAMES, { s1: { memory: 2048 } }).get('Machine/s1') ?? '', /^hold cluster-member/)
  })

  for (const [what, k3s, power, restarted] of [
    ['that nobody could look into', 'unknown', 'on', false],
    ['that holds data', { service: 'running', sinceMs: 0, data: 'ca-of-another' }, 'on', false],
    ['that stands still with data', { service: 'stopped', sinceMs: 0, data: 'ca-of-another' }, 'on', false],
    ['that is empty', { service: 'absent', sinceMs: 0, data: 'none' }, 'on', true],
    ['that is off', 'unknown', 'off', true],
  ] as const)
    test(`[D-01] [D-04] without a record of the cluster, a machine ${what} is ${restarted ? 'restarted' : 'not restarted: it may be a node that runs'}`, () => {
      const { identity: _, ...rest } = observedCluster('s1 s2 s3', {}, { api: 'no', members: 'unknown' })
      const nodes = rest.nodes.map((node) => ({
        ...node,
        kube: 'unknown' as const,
        k3s,
        machine: { ...node.machine, power },
      }))
      const action = planned(lookAt(THREE, { ...rest, nodes }), NAMES, { s1: { memory: 2048 } }).get('Machine/s1')
      assert.match(action ?? '', restarted ? /^update$/ : /^hold cluster-member: croft has no record of homelab/)
    })

  test('that Git no longer names is not deleted before the node has left', () => {
    const spec = { ...clusterSpec('s1 s2'), allow: { degraded: true, interruption: false } }
    const there = lookAt(spec, observedCluster('s1 s2 s3'))
    assert.equal(planned(there, ['s1', 's2']).get('Machine/s3'), 'wait')
    const paused = lookAt(spec, observedCluster('s1 s2 s3', {}, { api: 'no' }))
    assert.match(planned(paused, ['s1', 's2']).get('Machine/s3') ?? '', /^hold cluster-member: s3 is still a node/)
    const gone = observedCluster('s1 s2 s3', { s3: { kube: 'absent', k3s: 'unknown' } })
    const members = gone.members === 'unknown' ? [] : gone.members.filter(({ node }) => node !== 's3')
    const left = lookAt(spec, { ...gone, members })
    assert.deepEqual(
      left.decision.steps.map((one) => one.verb),
      ['destroy-machine'],
    )
    assert.equal(planned(left, ['s1', 's2']).get('Machine/s3'), 'delete')
  })

  test('that a guard keeps is held by that guard, with the list that a person agrees to', () => {
    const hold = { guard: 'blast-radius', reason: 'too many', allow: 'approve it', shows: ['delete vm 103'] }
    const kept = observedCluster('s1 s2 s3', { s3: { machine: { mayNotGo: { key: 'Machine/s3', ...hold } } } })
    const look = lookAt(clusterSpec('s1 s2'), kept)
    const { entries } = plan(planning(look, ['s1', 's2']))
    const action = entries.find(({ key }) => key === 'Machine/s3')?.action
    assert.ok(action?.do === 'hold')
    const { guard, reason, allow, shows } = action
    assert.deepEqual({ guard, reason, allow, shows }, hold)
  })

  test('that is ordered to be replaced is destroyed when its node has left, whatever its own policy', () => {
    const requests = {
      rolloutPaused: false,
      removeMembers: [],
      replace: [{ node: 's3', atMs: CLUSTER_NOW, goes: 'unseen' as const }],
    }
    const gone = observedCluster('s1 s2 s3', { s3: { kube: 'absent', k3s: 'unknown' } }, { requests })
    const members = gone.members === 'unknown' ? [] : gone.members.filter(({ node }) => node !== 's3')
    const look = lookAt(THREE, { ...gone, members })
    assert.equal(planned(look).get('Machine/s3'), 'replace')
    assert.equal(planned(look).get('Machine/s1'), 'nothing')
  })

  test('an ordinary machine is no business of the cluster', () => {
    const look = lookAt(clusterSpec('s1'), observedCluster('s1'))
    assert.equal(planned(look, ['s1', 's2'], { s2: { memory: 2048 } }).get('Machine/s2'), 'update')
  })
})

describe('a forecast', () => {
  test('[D-02] of nodes whose machines are refused says that they do not join, and counts none', () => {
    const nobody = { kube: 'absent', k3s: 'unknown', machine: { exists: 'unknown', power: 'unknown' } } as const
    const observed = observedCluster('s1 s2 s3', { s1: nobody, s2: nobody, s3: nobody }, { members: [] })
    const { identity: _, ...fresh } = observed
    const look = lookAt(THREE, { ...fresh, api: 'no' })
    const input = {
      estate: estateOf(NAMES.map((name, index) => machine(name, { vmid: 101 + index }))),
      worlds: new Map([
        ['default', worldWith(NAMES.map((name, at) => guest(101 + at, { of: `Machine/${name}`, estate: 'other' })))],
      ]),
      ledger: ledgerWith(),
      rules: new Map([['fake', memory]]),
      clusters: [look],
      nowMs: NOW,
    }
    const { entries, clusters = [] } = plan(input)
    assert.deepEqual(
      entries.map(({ action }) => action.do),
      ['refuse', 'refuse', 'refuse'],
    )
    const [only] = clusters
    assert.ok(only)
    for (const { becomes, text } of forecast(look))
      assert.match(`${becomes}: ${text}`, /^nothing: not known until croft has looked into its machine/)
    assert.deepEqual(
      forecast(only).map(({ becomes, text }) => [becomes, text]),
      NAMES.map(() => ['nothing', 'does not join: its machine is refused']),
    )
    assert.equal(clusterDiffers(only), true)
    assert.deepEqual(
      look.decision.waits.map(({ node }) => node),
      ['s1'],
      'otherwise there is nothing that could be dropped',
    )
    // A later refusal, such as an address in use, counts in the same way, and only once.
    const free = { ...plan({ ...input, worlds: new Map([['default', worldWith([])]]) }) }
    const later = withRefusedNodes(withRefusedNodes({ ...free, entries }))
    assert.deepEqual(
      later.clusters?.flatMap(({ decision }) => [decision.steps, plannedGuards(decision)]),
      [[], ['machine']],
    )
    assert.deepEqual(
      later.clusters?.flatMap((one) => forecast(one).map(({ text }) => text)),
      NAMES.map(() => 'does not join: its machine is refused'),
    )
    assert.deepEqual([only.decision.waits, plannedGuards(only.decision)], [[], ['machine']])
  })

  test('of a server whose machine is gone says that it comes again, though its Node is still there', () => {
    const gone = { machine: { exists: 'no' }, k3s: 'unknown', kube: { ready: 'no' } } as const
    const look = lookAt(THREE, observedCluster('s1 s2 s3', { s3: gone }))
    assert.deepEqual(
      forecast(look).map(({ name, becomes, text }) => [name, becomes, text.replace(/ on v.*/, '')]),
      [
        ['s1', 'nothing', ''],
        ['s2', 'nothing', ''],
        ['s3', 'joins', 'its machine is gone: leaves homelab, then joins as a server'],
      ],
    )
    assert.equal(clusterDiffers(look), true)
  })

  test('[D-01] of a cluster that cannot be looked at says that, and nothing of its API', () => {
    const unasked = { kube: 'unknown', k3s: 'unknown' } as const
    const observed = observedCluster('s1', { s1: unasked }, { members: 'unknown' })
    const hold = { guard: 'not-seen', reason: 'its key is missing', allow: 'the key' } as const
    const look = lookAt(clusterSpec('s1'), { ...observed, api: 'no', requests: { ...NO_REQUESTS, hold } })
    assert.deepEqual(
      forecast(look).map(({ text }) => text),
      ['not known: the cluster cannot be looked at'],
    )
  })

  test('says what becomes of every node', () => {
    const spec = { ...clusterSpec('s1 s2 s4 a1'), version: 'v1.34.4+k3s1' }
    const observed = observedCluster('s1 s2 s3 a1', { s2: { kube: { version: 'v1.34.4+k3s1' } } })
    const rows = forecast(lookAt(spec, observed)).map(({ name, becomes }) => `${name} ${becomes}`)
    assert.deepEqual(rows.sort(), ['a1 changes', 's1 changes', 's2 nothing', 's3 leaves', 's4 joins'])
  })

  test('of a cluster that is as declared says nothing', () => {
    const observed = observedCluster('s1 s2 s3')
    assert.equal(clusterDiffers(lookAt(THREE, observed)), false)
  })
})

test('of a cluster whose API does not answer nobody says that its nodes are to join', () => {
  const seen = observedCluster('s1 s2 s3 a1', {}, { api: 'no', members: 'unknown' })
  const unseen = { ...seen, nodes: seen.nodes.map((node) => ({ ...node, kube: 'unknown' as const })) }
  const rows = forecast(lookAt(clusterSpec('s1 s2 s3 a1'), unseen)).map(({ becomes }) => becomes)
  assert.deepEqual(rows, ['nothing', 'nothing', 'nothing', 'nothing'])
})
