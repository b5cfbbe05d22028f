// Taints that evict pods are set on one node at a time; all other labels and taints at once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { clusterSpec, MINUTE, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'

const NAMES = 's1 s2 s3 a1 a2'
const NIGHT = { days: [6], fromMinute: 60, toMinute: 120, timeZone: 'UTC' }
const EVICTING = ['gpu=db:NoExecute']
const bare = { labels: {}, taints: [], started: { labels: {}, taints: [] } }

function tainted(taints: readonly string[], more: Partial<ClusterSpec> = {}): ClusterSpec {
  const spec = clusterSpec(NAMES, more)
  return { ...spec, agents: spec.agents.map((agent) => ({ ...agent, taints })) }
}

function seen(turns: Readonly<Record<string, NodeTurn>> = {}, more: Partial<ObservedCluster> = {}): ObservedCluster {
  const agent = (name: string): NodeTurn => {
    const turn = turns[name] ?? {}
    const kube = typeof turn.kube === 'object' ? turn.kube : {}
    return { ...turn, kube: { labels: bare, ...kube } }
  }
  return observedCluster(NAMES, { ...turns, a1: agent('a1'), a2: agent('a2') }, more)
}

const labelling = (spec: ClusterSpec, observed: ObservedCluster) =>
  coordinate(spec, observed, NOW).steps.flatMap(({ verb, node }) => (verb === 'label-node' ? [node] : []))

describe('taints of nodes', () => {
  const rows: readonly [string, ClusterSpec, ObservedCluster, readonly string[]][] = [
    ['one that keeps new pods away comes to all at once', tainted(['gpu=db:NoSchedule']), seen(), ['a1', 'a2']],
    ['one that evicts pods comes to one node', tainted(EVICTING), seen(), ['a1']],
    [
      'another value of one evicts as well',
      tainted(EVICTING),
      seen({ a1: { kube: { labels: { ...bare, taints: ['gpu=ml:NoExecute'] } } } }),
      ['a1'],
    ],
    [
      'one that leaves evicts nobody',
      tainted([]),
      seen(
        Object.fromEntries(
          ['a1', 'a2'].map((name) => [
            name,
            { kube: { labels: { labels: {}, taints: EVICTING, started: { labels: {}, taints: EVICTING } } } },
          ]),
        ),
      ),
      ['a1', 'a2'],
    ],
    [
      'the next waits for the soak',
      tainted(EVICTING),
      seen({
        a1: {
          kube: {
            labels: { ...bare, taints: EVICTING, noted: { labels: {}, taints: EVICTING } },
            changedMs: NOW - 9 * MINUTE,
          },
        },
      }),
      [],
    ],
    [
      'and comes after it',
      tainted(EVICTING),
      seen({
        a1: {
          kube: {
            labels: { ...bare, taints: EVICTING, noted: { labels: {}, taints: EVICTING } },
            changedMs: NOW - 11 * MINUTE,
          },
        },
      }),
      ['a2'],
    ],
    ['not while a server is away', tainted(EVICTING), seen({ s2: { kube: { ready: 'no' } } }), []],
    [
      'not while another node is under work',
      tainted(EVICTING, { version: 'v1.34.4+k3s1' }),
      seen({
        a2: {
          kube: {
            labels: bare,
            unschedulable: true,
            work: { purpose: 'upgrade', target: 'v1.34.4+k3s1', sinceMs: NOW, cordoned: true },
          },
        },
      }),
      [],
    ],
    [
      'not while no maintenance window is open',
      tainted(EVICTING, { upgrade: { ...clusterSpec(NAMES).upgrade, windows: [NIGHT] } }),
      seen(),
      [],
    ],
    [
      'not while the rollout is paused',
      tainted(EVICTING),
      seen({}, { requests: { rolloutPaused: true, replace: [], removeMembers: [] } }),
      [],
    ],
  ]
  for (const [what, spec, observed, nodes] of rows) test(what, () => assert.deepEqual(labelling(spec, observed), nodes))

  test('the step says that it evicts pods, and one that has to wait says so as well', () => {
    const { steps } = coordinate(tainted(EVICTING), seen(), NOW)
    assert.match(steps[0]?.summary ?? '', /taint gpu=db:NoExecute, which evicts the pods that do not tolerate it/)
    const later = coordinate(tainted(EVICTING), seen({ s2: { kube: { ready: 'no' } } }), NOW)
    assert.match(JSON.stringify(later.waits), /its turn for taint gpu=db:NoExecute, which evicts pods/)
  })
})
