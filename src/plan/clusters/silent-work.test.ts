import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type KubeNode, NO_REQUESTS, type NodeWork, type ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { clusterSpec, HOUR, MINUTE, member, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'
import { plannedGuards, plannedSteps } from './testing/planned.ts'

// Found by the explorer (test/explorer): one power cut or one lost network while croft works on a node.
const NEXT = 'v1.34.4+k3s1'
const spec = clusterSpec('s1 s2 s3 a1', { version: NEXT })
const kept = { ...spec, remediation: { ...spec.remediation, dataMayGo: false } }
const mark = (changedMs?: number): Partial<KubeNode> => ({
  unschedulable: true,
  work: {
    purpose: 'upgrade',
    target: NEXT,
    sinceMs: NOW - HOUR,
    cordoned: true,
    ...(changedMs === undefined ? {} : { changedMs }),
  } as NodeWork,
})
const silent = { ready: 'no', readySinceMs: NOW - HOUR } as const
const OFF = { machine: { power: 'off' }, k3s: 'unknown' } as const
const doubtful = (node: string) => ({
  members: ['s1', 's2', 's3'].map((name) => member(name, name === node ? { up: 'unknown' } : {})),
})
const s2Replaced = { ...NO_REQUESTS, replace: [{ node: 's2', atMs: NOW, goes: 'unseen' as const }] }

const upgraded = { kube: { version: NEXT }, k3s: { version: NEXT } } as const
const servers = { s1: upgraded, s2: upgraded, s3: upgraded }

describe('a node that falls silent under our work', () => {
  const cases: readonly [
    string,
    Readonly<Record<string, NodeTurn>>,
    Partial<ObservedCluster>,
    readonly string[],
    readonly string[],
  ][] = [
    [
      'a server that is off before its change is started',
      { s2: { kube: { ...silent, ...mark() }, ...OFF } },
      doubtful('s2'),
      ['start-machine s2'],
      [],
    ],
    [
      'after its change as well',
      { s2: { kube: { ...silent, ...mark(NOW - HOUR) }, ...OFF } },
      doubtful('s2'),
      ['start-machine s2'],
      [],
    ],
    ['and an agent', { ...servers, a1: { kube: { ...silent, ...mark() }, ...OFF } }, {}, ['start-machine a1'], []],
    [
      'an agent that answers nobody is held, with a way out',
      { ...servers, a1: { kube: { ...silent, ...mark() }, k3s: 'unknown' } },
      {},
      [],
      ['unreachable'],
    ],
    [
      'also when a person lets the rollout go on',
      { ...servers, a1: { kube: { ...silent, ...mark(NOW - HOUR) }, k3s: 'unknown' } },
      { requests: { ...NO_REQUESTS, resumedMs: NOW - MINUTE } },
      [],
      ['unreachable'],
    ],
    [
      'another server that answers nobody takes the turn',
      { s1: { kube: mark() }, s2: { kube: silent, k3s: 'unknown' } },
      doubtful('s2'),
      ['uncordon s1'],
      [],
    ],
    [
      'one that was not heard of once does not',
      { s1: { kube: mark() }, s2: { k3s: 'unknown' } },
      doubtful('s2'),
      [],
      ['quorum'],
    ],
    [
      'a server that answers nobody is replaced on a word',
      { s2: { kube: silent, k3s: 'unknown' } },
      { ...doubtful('s2'), requests: s2Replaced },
      ['cordon s2'],
      [],
    ],
  ]
  for (const [name, turns, more, steps, guards] of cases) {
    test(name, () => {
      const decision = coordinate(kept, observedCluster('s1 s2 s3 a1', turns, more), NOW)
      assert.deepEqual(plannedSteps(decision), steps)
      for (const guard of guards) assert.ok(plannedGuards(decision).includes(guard), plannedGuards(decision).join(', '))
    })
  }

  test('the time of a drain counts from the return of a node that was away', () => {
    const force = {
      ...kept,
      upgrade: { ...kept.upgrade, drain: { timeoutMs: 10 * MINUTE, onTimeout: 'force' as const } },
    }
    const back = { ...mark(), podsToMove: 1, readySinceMs: NOW - MINUTE }
    const decision = coordinate(force, observedCluster('s1 s2 s3 a1', { ...servers, a1: { kube: back } }), NOW)
    assert.deepEqual(plannedSteps(decision), ['drain a1'])
    const there = { ...back, readySinceMs: NOW - 2 * HOUR }
    const late = coordinate(force, observedCluster('s1 s2 s3 a1', { ...servers, a1: { kube: there } }), NOW)
    assert.deepEqual([plannedSteps(late), plannedGuards(late)], [[], ['drain']])
  })

  test('the way out of a change of flags that does not come back is a replacement too', () => {
    const work: NodeWork = {
      purpose: 'configure',
      target: 'x',
      sinceMs: NOW - HOUR,
      cordoned: true,
      changedMs: NOW - HOUR,
    }
    const turn = { kube: { ...silent, unschedulable: true, work }, k3s: 'unknown' } as const
    const { holds } = coordinate(kept, observedCluster('s1 s2 s3 a1', { a1: turn }), NOW)
    assert.match(holds.find(({ guard }) => guard === 'halted')?.allow ?? '', /croft cluster replace homelab a1$/)
  })
})
