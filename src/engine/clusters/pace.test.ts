import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterPlan, ClusterWait } from '../../model/observed-cluster.ts'
import type { StepFailures } from '../steps.ts'
import { type ClusterPass, type KnownWaits, nextClusterLookMs } from './pace.ts'

function waiting(...waits: readonly ClusterWait[]): ClusterPass {
  const look = {
    declaration: { key: 'Cluster/a' },
    decision: { steps: [], waits, nodes: [] },
  } as unknown as ClusterPlan
  return { look, attempts: [] }
}

const NO_FAILURES: StepFailures = new Map()

/** A controller with equal clocks. */
const at = (ms: number) => ({ nowMs: ms, steadyMs: ms })

const forBoot: ClusterWait = { node: 's1', awaits: 's1 to boot', sinceMs: 0 }

test('a wait is looked at in steps of an eightieth of its age, never faster or slower than the limits', () => {
  const known: KnownWaits = new Map()
  const { shortestMs, longestMs } = LIMITS.clusterLook
  const paces = [0, 40_000, 80_000, 10_000_000].map((nowMs) =>
    nextClusterLookMs([waiting(forBoot)], known, NO_FAILURES, at(nowMs)),
  )
  assert.deepEqual(paces, [shortestMs, 500, 1000, longestMs])
})

test('another wait begins its own time, and one that is over is forgotten', () => {
  const known: KnownWaits = new Map()
  nextClusterLookMs([waiting(forBoot)], known, NO_FAILURES, at(0))
  const join: ClusterWait = { node: 's1', awaits: 's1 to join', sinceMs: 0 }
  assert.equal(nextClusterLookMs([waiting(join)], known, NO_FAILURES, at(60_000)), LIMITS.clusterLook.shortestMs)
  assert.deepEqual([...known.keys()], ['Cluster/a s1 s1 to join'])
})

test('a settled cluster is looked at with the sweep', () => {
  assert.equal(nextClusterLookMs([waiting()], new Map(), NO_FAILURES, at(0)), LIMITS.sweepIntervalMs)
})

const STEP = {
  about: 'cluster',
  verb: 'init-cluster',
  node: 's1',
  lane: 'agent',
  summary: '',
  reason: '',
  awaits: '',
  sinceMs: 0,
} as const

function doing(result: 'done' | 'started'): ClusterPass {
  const outcome = result === 'done' ? ({ result } as const) : ({ result, taskId: 'install@s1' } as const)
  const look = {
    declaration: { key: 'Cluster/a' },
    decision: { steps: [STEP], waits: [], nodes: [] },
  } as unknown as ClusterPlan
  return { look, attempts: [{ step: STEP, outcome }] }
}

test('after something new was done the next look is at once; a step that only goes on is paced like a wait', () => {
  const known: KnownWaits = new Map()
  assert.equal(nextClusterLookMs([doing('done')], known, NO_FAILURES, at(0)), 0)
  assert.equal(nextClusterLookMs([doing('done')], known, NO_FAILURES, at(40_000)), 500)
  assert.equal(nextClusterLookMs([doing('started')], new Map(), NO_FAILURES, at(0)), LIMITS.clusterLook.shortestMs)
})

test('a step that failed is looked at when it may be tried again', () => {
  const run = {
    kind: 'failing',
    reason: 'X',
    message: 'x',
    count: 3,
    firstMs: 0,
    lastMs: 0,
    nextAttemptMs: 7_000,
  } as const
  const failures: StepFailures = new Map([['Cluster/a init-cluster s1', run]])
  const idle = { ...doing('started'), attempts: [] }
  assert.equal(nextClusterLookMs([idle], new Map(), failures, at(1_000)), 6_000)
  // [F-22] Setting the wall clock back does not delay it.
  assert.equal(nextClusterLookMs([idle], new Map(), failures, { nowMs: -3_600_000, steadyMs: 1_000 }), 6_000)
})
