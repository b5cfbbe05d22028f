import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { configHash } from '../../k3s/config.ts'
import type { NodeSpec } from '../../model/cluster.ts'
import type { EtcdMember } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { stepOn } from './finding.ts'
import { clusterSpec, HOUR, MINUTE, member, NOW, type NodeTurn, nodeSpec, observedCluster } from './testing/fixture.ts'
import { nextSteps, plannedGuards } from './testing/planned.ts'
import { viewOf } from './view.ts'

const spec = clusterSpec('s1 s2 s3 a1')
const NAMES = 's1 s2 s3 a1'
const left = { members: [member('s1'), member('s2')] }

describe('a node with data of the cluster that is not in it gets the gentlest cure that was not tried', () => {
  const rows: readonly (readonly [string, NodeTurn['tried'], NonNullable<NodeTurn['k3s']>, readonly string[]])[] = [
    ['a1', undefined, { sinceMs: NOW - MINUTE }, []],
    ['a1', undefined, {}, ['restart-k3s a1']],
    ['a1', ['restart-k3s'], {}, ['rewrite-k3s a1']],
    ['a1', ['restart-k3s', 'rewrite-k3s'], {}, ['stop-k3s a1']],
    ['a1', ['restart-k3s', 'rewrite-k3s'], { service: 'stopped' }, ['wipe-k3s a1']],
    ['a1', undefined, { service: 'failed' }, ['restart-k3s a1']],
    ['a1', ['restart-k3s'], { service: 'failed', configured: false }, ['wipe-k3s a1']],
    // With the configuration from the cluster's formation, a removed server would form a second cluster.
    ['s3', undefined, {}, ['rewrite-k3s s3']],
    ['s3', ['rewrite-k3s'], {}, ['stop-k3s s3']],
    ['s3', ['rewrite-k3s'], { service: 'failed' }, ['wipe-k3s s3']],
  ]
  for (const [name, tried = [], k3s, steps] of rows) {
    test(`${name} after ${tried.join(', ') || 'nothing'}, ${JSON.stringify(k3s)}: ${steps.join() || 'a wait'}`, () => {
      const turn: NodeTurn = { kube: 'absent', k3s, tried }
      const observed = observedCluster(NAMES, { [name]: turn }, name === 's3' ? left : {})
      assert.deepEqual(nextSteps(spec, observed), steps)
    })
  }

  test('each step says why the one before did not do', () => {
    const turn: NodeTurn = { kube: 'absent', k3s: { service: 'stopped' }, tried: ['restart-k3s', 'rewrite-k3s'] }
    const [step] = coordinate(spec, observedCluster(NAMES, { a1: turn }), NOW).steps
    assert.equal(
      step?.reason,
      'it holds data of this cluster and is not in it, a restart did not help and its declared configuration did not help',
    )
  })

  test('a box that left for a new release is wiped at once', () => {
    const base = clusterSpec('s1 s2 s3', { version: 'v1.34.4+k3s1' })
    const anew = {
      ...base,
      agents: [nodeSpec('a1', { machine: { host: 'a1' } })],
      upgrade: { ...base.upgrade, method: 'replace' as const },
    }
    const turn: NodeTurn = { kube: 'absent', k3s: { service: 'stopped' }, machine: { ours: false } }
    assert.deepEqual(
      nextSteps(anew, observedCluster(NAMES, { a1: turn })).filter((step) => step.endsWith('a1')),
      ['wipe-k3s a1'],
    )
  })
})

describe('a machine that is off and whose Node is gone', () => {
  const off: NodeTurn = { kube: 'absent', k3s: 'unknown', machine: { power: 'off' } }

  test('is started, and what is on its disk stays', () => {
    assert.deepEqual(nextSteps(spec, observedCluster(NAMES, { a1: off })), ['start-machine a1'])
  })

  test('also after its vote was taken, with replacing off', () => {
    const base = clusterSpec('s1 s2 s3')
    const evicting = {
      ...base,
      remediation: { ...base.remediation, enabled: false, evictAfterMs: 24 * HOUR },
    }
    assert.deepEqual(nextSteps(evicting, observedCluster('s1 s2 s3', { s3: off }, left)), ['start-machine s3'])
  })

  test('is made anew where croft itself put it out because it was dead', () => {
    const dead: NodeTurn = { ...off, remediation: { atMs: NOW - MINUTE } }
    assert.deepEqual(nextSteps(spec, observedCluster(NAMES, { a1: dead })), ['destroy-machine a1'])
  })
})

describe('a node that has been dead for long', () => {
  const dead = { ready: 'no', readySinceMs: NOW - HOUR } as const
  const members = [member('s1'), member('s2'), member('s3', { up: 'no' })]
  const steps = (turn: NodeTurn) => nextSteps(spec, observedCluster(NAMES, { s3: turn }, { members }))

  test('is started and configured before it is replaced', () => {
    const failed: NodeTurn = { kube: dead, k3s: { service: 'failed' } }
    assert.deepEqual(steps(failed), ['restart-k3s s3'])
    assert.deepEqual(steps({ ...failed, tried: ['restart-k3s'] }), ['rewrite-k3s s3'])
    assert.deepEqual(steps({ ...failed, tried: ['restart-k3s', 'rewrite-k3s'] }), ['cordon s3'])
  })

  test('is given the time of a join after each start', () => {
    assert.deepEqual(steps({ kube: dead, k3s: { service: 'starting', sinceMs: NOW - MINUTE } }), [])
    assert.deepEqual(steps({ kube: dead, k3s: { service: 'running', sinceMs: NOW - HOUR } }), ['cordon s3'])
  })
})

test('a server that no known member stands for is never stopped without a majority of the known ones', () => {
  const stuck: NodeTurn = { kube: 'absent', k3s: {}, tried: ['rewrite-k3s'] }
  const steps = (members: readonly EtcdMember[]) =>
    nextSteps(clusterSpec('s1 s2 s3'), observedCluster('s1 s2 s3', { s3: stuck }, { members }))
  assert.deepEqual(steps([member('s1'), member('s2')]), ['stop-k3s s3'])
  assert.deepEqual(steps([member('s1'), member('s2', { up: 'unknown' })]), [])
  assert.deepEqual(steps([]), [], 'an external datastore has no members')
})

test('a cluster with an external datastore is refused by name, with a record and without', () => {
  const outside: NodeTurn = { k3s: { datastore: 'external', configured: false } }
  const observed = observedCluster('s1 a1', { s1: outside }, { members: [] })
  const { identity: _identity, ...unrecorded } = observed
  for (const seen of [observed, { ...unrecorded, api: 'unknown' as const }]) {
    const decision = coordinate(clusterSpec('s1 a1'), seen, NOW)
    assert.deepEqual([decision.steps, plannedGuards(decision)], [[], ['datastore']])
  }
})

test('no step that lowers a cluster can be built without the permission of the judgement', () => {
  const view = viewOf(spec, observedCluster(NAMES), NOW)
  const [node] = view.servers
  const fields = { summary: '', reason: '', awaits: '' }
  assert.ok(node)
  // @ts-expect-error: it needs a MayLower
  stepOn(view, node, 'stop-k3s', fields)
  // @ts-expect-error: made by the judgement alone
  stepOn(view, node, 'stop-k3s', fields, {})
  // @ts-expect-error: a start needs a MayStart
  stepOn(view, node, 'restart-k3s', fields)
  const folder = import.meta.dirname
  const builders = readdirSync(folder).filter(
    (file) =>
      file.endsWith('.ts') &&
      !file.endsWith('.test.ts') &&
      /about: 'cluster',\s+verb: '(?!run-health-checks)/.test(readFileSync(join(folder, file), 'utf8')),
  )
  assert.deepEqual(
    builders,
    ['finding.ts', 'plan.ts'],
    'plan.ts: machines that a Power switches off, under its own guards',
  )
})

test('what does not run gets the declared configuration, whether the API answers or not', () => {
  const one = clusterSpec('s1', { nodeFlags: { 'kubelet-arg': ['fail-cgroupv1=false'] } })
  const dead: NodeTurn = {
    kube: 'unknown',
    passwordSecret: 'unknown',
    k3s: { service: 'failed', failure: 'kubelet exited', configured: true, configHash: 'old' },
  }
  const observed = observedCluster('s1', { s1: dead }, { api: 'no', members: 'unknown' })
  assert.deepEqual(nextSteps(one, observed), ['rewrite-k3s s1'])
  const written: NodeTurn = {
    ...dead,
    k3s: { ...(dead.k3s as object), configHash: configHash(one, one.servers[0] as NodeSpec) },
  }
  assert.deepEqual(nextSteps(one, observedCluster('s1', { s1: written }, { api: 'no', members: 'unknown' })), [
    'restart-k3s s1',
  ])
})

test('a K3s that runs beside the cluster under the name of a server is named, and left as it is', () => {
  const members = [member('s1', { up: 'no' }), member('s2'), member('s3')]
  const turn: NodeTurn = { kube: { ready: 'no', readySinceMs: NOW - HOUR }, k3s: { data: 'd'.repeat(64) } }
  const strangers = [{ node: 's1', why: 'its CA is dddddddddddd, and the recorded one is cccccccccccc' }]
  for (const staleState of ['refuse', 'wipe', 'recreate'] as const) {
    const observed = observedCluster(NAMES, { s1: turn }, { members, strangers })
    const decision = coordinate(clusterSpec(NAMES, { staleState }), observed, NOW)
    assert.deepEqual(decision.steps, [])
    assert.deepEqual(plannedGuards(decision), ['stranger'])
  }
})
