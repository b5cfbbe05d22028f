import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configHash } from '../../k3s/config.ts'
import { snapshotName } from '../../k3s/snapshot-name.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import {
  type KubeNode,
  NO_REQUESTS,
  type NodeWork,
  type ObservedCluster,
  type SnapshotTry,
} from '../../model/observed-cluster.ts'
import { planBackup } from './backup.ts'
import { coordinate } from './coordinate.ts'
import { rolloutId } from './rollout.ts'
import {
  clusterSpec,
  HOUR,
  MINUTE,
  member,
  NEXT_VERSION,
  NOW,
  type NodeTurn,
  observedCluster,
  VERSION,
} from './testing/fixture.ts'
import { nextSteps, phaseOf, plannedGuards, plannedSteps } from './testing/planned.ts'
import { nextOpening, windowOpen } from './windows.ts'

const NEXT = NEXT_VERSION
const spec = clusterSpec('s1 s2 s3 a1 a2', { version: NEXT })
const names = 's1 s2 s3 a1 a2'
/** A snapshot of s2 that croft requested this long ago. The clock of s2 is an hour ahead. */
const snapshotOf = (agoMs: number, nowMs = NOW) =>
  ({ name: `${snapshotName(nowMs - agoMs)}-s2-1`, node: 's2', atMs: nowMs + HOUR, tokenKept: 'yes' }) as const
const snapshot = snapshotOf(MINUTE - 1000)
const ready: Partial<ObservedCluster> = { snapshots: [snapshot] }
const work: NodeWork = { purpose: 'upgrade', target: NEXT, sinceMs: NOW - MINUTE, cordoned: true }
const marked: Partial<KubeNode> = { unschedulable: true, work }
const changed: Partial<KubeNode> = {
  unschedulable: true,
  work: { ...work, changedMs: NOW - MINUTE },
  changedMs: NOW - MINUTE,
}
const done = (agoMs: number): NodeTurn => ({ kube: { version: NEXT, changedMs: NOW - agoMs }, k3s: { version: NEXT } })
const policy = (more: Partial<ClusterSpec['upgrade']>) => ({ ...spec, upgrade: { ...spec.upgrade, ...more } })

describe('a rollout', () => {
  test('takes a snapshot first, one whose token is kept', () => {
    assert.deepEqual(nextSteps(spec, observedCluster(names)), ['snapshot s1'])
    const others = { snapshots: [{ ...snapshot, name: 'etcd-snapshot-s2-1760000001' }] }
    assert.deepEqual(nextSteps(spec, observedCluster(names, {}, others)), ['snapshot s1'], 'another clock than ours')
    const vain = { snapshots: [{ ...snapshot, tokenKept: 'no' as const }] }
    assert.deepEqual(nextSteps(spec, observedCluster(names, {}, vain)), [], 'not one after the other for nothing')
    assert.deepEqual(plannedGuards(coordinate(spec, observedCluster(names, {}, vain), NOW)), ['snapshot'])
    const old = { snapshots: [snapshotOf(2 * HOUR)] }
    assert.deepEqual(nextSteps(spec, observedCluster(names, {}, old)), ['snapshot s1'])
    const ahead = { snapshots: [snapshotOf(-HOUR)] }
    assert.deepEqual(
      nextSteps(spec, observedCluster(names, {}, ahead)),
      ['snapshot s1'],
      "croft's clock was ahead then",
    )
    assert.deepEqual(nextSteps(spec, observedCluster(names, {}, ready)), ['cordon s1'])
    const before = observedCluster(names, { s1: done(30 * MINUTE) }, { snapshots: [snapshotOf(40 * MINUTE)] })
    assert.deepEqual(nextSteps(spec, before), ['snapshot s1'], 'another before each server')
  })

  test('fetches the release on every node before the first is cordoned, and says where it cannot be had', () => {
    const bare: NodeTurn = { k3s: { fetched: '' } }
    const failed = (ageMs: number, version = NEXT): NodeTurn => ({
      k3s: { fetched: '', notFetched: { version, why: 'https://mirror/k3s: 404', ageMs } },
    })
    const on = (turns: Readonly<Record<string, NodeTurn>>) =>
      coordinate(spec, observedCluster(names, turns, ready), NOW)
    const rows: readonly [string, Readonly<Record<string, NodeTurn>>, readonly string[], readonly string[]][] = [
      ['nowhere yet', { s2: bare, a2: bare }, [`prepare-k3s s2 ${NEXT}`, `prepare-k3s a2 ${NEXT}`], []],
      ['it could not be had on an agent', { a2: failed(MINUTE) }, [], ['program']],
      ['the same, some time ago', { a2: failed(10 * MINUTE) }, [`prepare-k3s a2 ${NEXT}`], ['program']],
      ['another release could not be had', { a2: failed(MINUTE, 'v1.34.9+k3s1') }, [`prepare-k3s a2 ${NEXT}`], []],
      ['a server is silent', { s3: { k3s: 'unknown' } }, [], []],
      ['an agent is silent', { a2: { k3s: 'unknown' } }, ['cordon s1'], []],
      ['it lies in place already', { s3: { k3s: { fetched: '', version: NEXT } } }, ['cordon s1'], []],
    ]
    for (const [what, turns, steps, guards] of rows)
      assert.deepEqual([plannedSteps(on(turns)), plannedGuards(on(turns))], [steps, guards], what)
    const held = on({ a2: failed(MINUTE) }).holds[0]
    assert.match(held?.reason ?? '', /cannot be had on a2: https:\/\/mirror\/k3s: 404; no node was cordoned/)
    const servers = { s1: done(30 * MINUTE), s2: done(30 * MINUTE), s3: done(30 * MINUTE) }
    assert.deepEqual(
      plannedSteps(on({ ...servers, a1: failed(MINUTE) })),
      ['cordon a2'],
      'one agent keeps no other back',
    )
  })

  test('waits for the snapshot by its name, and says what K3s answers when two tries were in vain', () => {
    const tried = (...snapshotTries: SnapshotTry[]) =>
      coordinate(spec, observedCluster(names, {}, { snapshotTries }), NOW)
    const pending = { name: 'croft-1799999940', node: 's1', ageMs: MINUTE }
    const waits = tried(pending)
    assert.deepEqual(
      [waits.steps, waits.waits.map(({ awaits }) => awaits)],
      [[], ['the snapshot croft-1799999940 on s1']],
    )
    const failed = { ...pending, failed: 'No space left on device' }
    assert.deepEqual(plannedSteps(tried(failed)), ['snapshot s2'], 'another server')
    const held = tried(failed, { ...failed, node: 's2' })
    assert.deepEqual(held.steps, [])
    assert.match(held.holds[0]?.reason ?? '', /2 tries, the last on s2: No space left on device/)
    const later = tried(failed, { ...failed, ageMs: 10 * MINUTE })
    assert.deepEqual([plannedSteps(later), plannedGuards(later)], [['snapshot s2'], ['snapshot']])
  })

  test('of a server with SQLite there is no snapshot: the way to etcd is said, and nothing is done', () => {
    const one = clusterSpec('s1', { version: NEXT, allow: { degraded: false, interruption: true } })
    const file = observedCluster('s1', { s1: { k3s: { datastore: 'sqlite' } } }, { members: [] })
    const decision = coordinate(one, file, NOW)
    assert.deepEqual(decision.steps, [])
    assert.match(decision.holds[0]?.reason ?? '', /SQLite.*etcd datastore disabled/)
    assert.match(decision.holds[0]?.allow ?? '', /cluster-init: true/)
    assert.equal(planBackup(one, file).refusals[0]?.reason, decision.holds[0]?.reason)
  })

  const moments: readonly [string, NodeTurn, readonly string[]][] = [
    ['marked, with pods', { kube: { ...marked, podsToMove: 3 } }, ['drain s1']],
    ['uncordoned by somebody', { kube: { ...marked, unschedulable: false } }, ['cordon s1']],
    ['drained', { kube: marked }, [`upgrade-k3s s1 ${NEXT}`]],
    ['noted, and never made', { kube: changed }, [`upgrade-k3s s1 ${NEXT}`]],
    ['being made', { kube: changed, k3s: 'unknown' }, []],
    ['starting', { kube: changed, k3s: { service: 'starting', version: NEXT } }, []],
    ['back, not yet Ready', { kube: { ...changed, version: NEXT, ready: 'no' }, k3s: { version: NEXT } }, []],
    ['back', { kube: { ...changed, version: NEXT }, k3s: { version: NEXT } }, ['uncordon s1']],
  ]
  for (const [what, turn, expected] of moments) {
    test(`${what}: ${expected.join() || 'wait'}`, () => {
      const decision = coordinate(spec, observedCluster(names, { s1: turn }, ready), NOW)
      assert.deepEqual(plannedSteps(decision), expected)
      assert.equal(phaseOf(decision, 's1'), 'Working')
      assert.equal(decision.phase, 'Upgrading')
      if (expected.length === 0) assert.equal(decision.waits[0]?.untilMs, NOW - MINUTE + 10 * MINUTE)
    })
  }

  test('servers one by one, then agents by surge, then the next hop', () => {
    const far = { ...spec, version: 'v1.35.1+k3s1' }
    const at = (version: string, fetched = 'v1.33.8+k3s1'): NodeTurn => ({
      kube: { version, changedMs: NOW - HOUR / 2 },
      k3s: { version, fetched },
    })
    const first = coordinate(far, observedCluster(names, {}, ready), NOW)
    assert.deepEqual(first.hops, ['v1.35.1+k3s1'])
    const old = Object.fromEntries(names.split(' ').map((name) => [name, at('v1.33.6+k3s1')]))
    const decision = coordinate(far, observedCluster(names, old, ready), NOW)
    assert.deepEqual(decision.hops, ['v1.33.8+k3s1', 'v1.34.4+k3s1', 'v1.35.1+k3s1'])
    assert.deepEqual(
      decision.steps.map((step) => [step.verb, step.node, step.target]),
      [['cordon', 's1', 'v1.33.8+k3s1']],
    )
    const half = { ...old, s1: at('v1.33.8+k3s1') }
    assert.deepEqual(
      coordinate(far, observedCluster(names, half, ready), NOW).steps.map((step) => [step.node, step.target]),
      [['s2', 'v1.33.8+k3s1']],
    )
    const servers = { ...half, s2: at('v1.33.8+k3s1'), s3: at('v1.33.8+k3s1') }
    assert.deepEqual(nextSteps(far, observedCluster(names, servers, ready)), ['cordon a1'])
    const surge = { ...far, upgrade: { ...far.upgrade, agentsSurge: 2 } }
    assert.deepEqual(nextSteps(surge, observedCluster(names, servers, ready)), ['cordon a1', 'cordon a2'])
    const all = Object.fromEntries(names.split(' ').map((name) => [name, at('v1.33.8+k3s1', 'v1.34.4+k3s1')]))
    assert.deepEqual(
      coordinate(far, observedCluster(names, all, ready), NOW).steps.map((step) => step.target),
      ['v1.34.4+k3s1'],
    )
  })

  test('the leader last', () => {
    const members = [member('s1', { leader: true }), member('s2'), member('s3')]
    assert.deepEqual(nextSteps(spec, observedCluster(names, {}, { ...ready, members })), ['cordon s2'])
  })

  test('[R14] a downgrade is refused, also in the middle', () => {
    const mixed = { s1: done(HOUR) }
    const decision = coordinate({ ...spec, version: VERSION }, observedCluster(names, mixed, ready), NOW)
    assert.deepEqual(decision.steps, [])
    assert.deepEqual(plannedGuards(decision), ['upgrade'])
  })

  test('one or two servers are upgraded only where the interruption is allowed', () => {
    const one = clusterSpec('s1', { version: NEXT })
    const observed = observedCluster('s1', { s1: { kube: marked } }, ready)
    assert.deepEqual(plannedGuards(coordinate(one, observed, NOW)), ['quorum'])
    assert.deepEqual(nextSteps({ ...one, allow: { degraded: false, interruption: true } }, observed), [
      `upgrade-k3s s1 ${NEXT}`,
    ])
  })

  test('by replacement: a new machine for each, which joins with the next release', () => {
    const anew = policy({ method: 'replace' })
    assert.deepEqual(
      coordinate(anew, observedCluster(names, {}, ready), NOW).steps.map((step) => [
        step.verb,
        step.node,
        step.purpose,
      ]),
      [['cordon', 's1', 'replace']],
    )
    const onTheDiskOf = (node: string, location = 'file:///x') => ({ snapshots: [{ ...snapshot, node, location }] })
    assert.deepEqual(nextSteps(anew, observedCluster(names)), ['snapshot s2'], 's1 goes, and its disk with it')
    assert.deepEqual(nextSteps(anew, observedCluster(names, {}, onTheDiskOf('s1'))), ['snapshot s2'])
    assert.deepEqual(nextSteps(anew, observedCluster(names, {}, onTheDiskOf('s2'))), ['cordon s1'])
    assert.deepEqual(nextSteps(anew, observedCluster(names, {}, onTheDiskOf('s1', 's3://b/x'))), ['cordon s1'])
    const gone: NodeTurn = { kube: 'absent', k3s: { service: 'absent', data: 'none' } }
    const members = [member('s2'), member('s3')]
    assert.deepEqual(nextSteps(anew, observedCluster(names, { s1: gone }, { ...ready, members })), [
      `join-server s1 ${NEXT}`,
    ])
  })
})

describe('between nodes', () => {
  test('[A34] [R40] a node that turns NotReady within the soak time stops the rollout', () => {
    const soaking = coordinate(spec, observedCluster(names, { s1: done(6 * MINUTE) }, ready), NOW)
    assert.deepEqual(soaking.steps, [])
    assert.equal(soaking.waits[0]?.untilMs, NOW + 4 * MINUTE)
    assert.equal(phaseOf(soaking, 's1'), 'Soaking')
    const fallen: NodeTurn = {
      kube: {
        version: NEXT,
        changedMs: NOW - 7 * MINUTE,
        ready: 'no',
        readySinceMs: NOW - MINUTE,
        readyReason: 'KubeletNotReady',
      },
    }
    const decision = coordinate(spec, observedCluster(names, { s1: fallen }, ready), NOW)
    assert.deepEqual(decision.steps, [])
    assert.match(
      decision.holds.find(({ guard }) => guard === 'soak')?.reason ?? '',
      /s1 turned NotReady 6 min after it was changed \(KubeletNotReady\); the rollout pauses/,
    )
  })

  test('[A34] also long after: and when it is Ready again its soak starts anew', () => {
    const late: NodeTurn = { kube: { version: NEXT, changedMs: NOW - HOUR, ready: 'no', readySinceMs: NOW - MINUTE } }
    assert.ok(plannedGuards(coordinate(spec, observedCluster(names, { s1: late }, ready), NOW)).includes('soak'))
    const back: NodeTurn = { kube: { version: NEXT, changedMs: NOW - 30 * MINUTE, readySinceMs: NOW - MINUTE } }
    const decision = coordinate(spec, observedCluster(names, { s1: back }, ready), NOW)
    assert.deepEqual(decision.steps, [])
    assert.equal(decision.waits[0]?.untilMs, NOW + 9 * MINUTE)
  })

  const asked = policy({ healthChecks: ['ceph'] })
  const result = (passed: 'yes' | 'no', agoMs: number) => ({
    ...ready,
    checks: [{ name: 'ceph', passed, output: 'HEALTH_WARN 1 osds down', atMs: NOW - agoMs }],
  })

  test("[A35] a user's check that fails: no node is touched, and its output is shown", () => {
    const decision = coordinate(asked, observedCluster(names, {}, result('no', 1000)), NOW)
    assert.deepEqual(decision.steps, [])
    assert.equal(decision.holds[0]?.reason, 'the check ceph fails: HEALTH_WARN 1 osds down')
    const again = coordinate(asked, observedCluster(names, {}, result('no', 2 * MINUTE)), NOW)
    assert.deepEqual(plannedSteps(again), ['run-health-checks'])
  })

  test('[A35] a result from before the last change, or none, is asked for anew', () => {
    assert.deepEqual(nextSteps(asked, observedCluster(names, {}, ready)), ['run-health-checks'])
    assert.deepEqual(nextSteps(asked, observedCluster(names, {}, result('yes', 1000))), ['cordon s1'])
    const soaked = policy({ healthChecks: ['ceph'], soakMs: 0 })
    assert.deepEqual(nextSteps(soaked, observedCluster(names, { s1: done(MINUTE) }, result('yes', 2 * MINUTE))), [
      'run-health-checks',
    ])
  })

  test('any declared server that is not whole stops it', () => {
    const ill: readonly [string, NodeTurn, Partial<ObservedCluster>][] = [
      ['unready', { kube: { ready: 'no', readySinceMs: NOW } }, {}],
      ['unknown', { kube: 'unknown' }, {}],
      ['learner', {}, { members: [member('s1'), member('s2'), member('s3', { learner: true })] }],
      ['member not seen', {}, { members: [member('s1'), member('s2'), member('s3', { up: 'unknown' })] }],
      ['the API is away', {}, { api: 'unknown' }],
    ]
    for (const [what, turn, more] of ill) {
      const decision = coordinate(spec, observedCluster(names, { s3: turn }, { ...ready, ...more }), NOW)
      assert.deepEqual(decision.steps, [], what)
    }
  })

  test('a node may only be begun within a window, and what has begun is finished', () => {
    const nights = policy({ windows: [{ days: [], fromMinute: 60, toMinute: 120 }] })
    const noon = Date.UTC(2027, 0, 15, 12)
    const shifted = (observed: ObservedCluster) => ({ ...observed, snapshots: [snapshotOf(1000, noon)] })
    const decision = coordinate(nights, shifted(observedCluster(names)), noon)
    assert.deepEqual(decision.steps, [])
    assert.equal(decision.holds[0]?.allow, 'wait until 2027-01-16T01:00:00.000Z')
    assert.deepEqual(nextSteps(nights, shifted(observedCluster(names, { s1: { kube: marked } })), noon), [
      `upgrade-k3s s1 ${NEXT}`,
    ])
  })
})

describe('[F-29] a node that never comes back', () => {
  const lost = { ...changed, ready: 'no', work: { ...work, changedMs: NOW - 11 * MINUTE } } as const
  const turn: NodeTurn = { kube: lost, k3s: 'unknown' }
  const members = [member('s1', { up: 'no' }), member('s2'), member('s3')]

  test('halts everything, shows the way back, and is not replaced', () => {
    const decision = coordinate(spec, observedCluster(names, { s1: turn }, { ...ready, members }), NOW)
    assert.deepEqual(decision.steps, [])
    const hold = decision.holds.find(({ guard }) => guard === 'halted')
    assert.match(
      hold?.reason ?? '',
      /s1 did not come back within 10 min after its upgrade to v1\.34\.4\+k3s1; no other node is touched/,
    )
    assert.match(hold?.allow ?? '', /--resume.*croft cluster replace homelab s1.*croft cluster restore homelab/)
    const much = coordinate(
      spec,
      observedCluster(names, { s1: { ...turn, kube: { ...lost, readySinceMs: NOW - HOUR } } }, { ...ready, members }),
      NOW,
    )
    assert.deepEqual(much.steps, [])
  })

  test('goes on when a person says so', () => {
    const requests = { ...NO_REQUESTS, resumedMs: NOW - 1000 }
    const failed = { ...turn, k3s: { service: 'failed', version: NEXT } } as const
    assert.deepEqual(nextSteps(spec, observedCluster(names, { s1: failed }, { ...ready, members, requests })), [
      `upgrade-k3s s1 ${NEXT}`,
    ])
    const decision = coordinate(spec, observedCluster(names, { s1: turn }, { ...ready, members, requests }), NOW)
    assert.deepEqual([decision.steps, plannedGuards(decision)], [[], ['unreachable']], 'it answers nobody')
  })

  test('or when another pin is chosen that mends it', () => {
    const mended = { ...spec, version: 'v1.34.5+k3s1' }
    const decision = coordinate(mended, observedCluster(names, { s1: turn }, { ...ready, members }), NOW)
    assert.deepEqual(
      decision.steps.map((step) => [step.verb, step.node, step.target]),
      [['cordon', 's1', 'v1.34.5+k3s1']],
    )
  })
})

describe('pause, abort, and whose cordon it is', () => {
  test('paused: what has begun is finished, nothing new begins', () => {
    const requests = { ...NO_REQUESTS, rolloutPaused: true }
    assert.deepEqual(nextSteps(spec, observedCluster(names, { s1: { kube: marked } }, { ...ready, requests })), [
      `upgrade-k3s s1 ${NEXT}`,
    ])
    assert.deepEqual(plannedGuards(coordinate(spec, observedCluster(names, {}, { ...ready, requests }), NOW)), [
      'paused',
    ])
  })

  test('[A37] aborted: every node that carries our mark is given back, and no other', () => {
    const requests = { ...NO_REQUESTS, rolloutAborted: rolloutId(spec) }
    const turns = { s1: { kube: marked }, s2: { kube: { unschedulable: true } }, a1: { kube: changed }, a2: {} }
    const decision = coordinate(spec, observedCluster(names, turns, { ...ready, requests }), NOW)
    assert.deepEqual(plannedSteps(decision), ['uncordon s1', 'uncordon a1'])
    const after = coordinate(spec, observedCluster(names, { s2: turns.s2 }, { ...ready, requests }), NOW)
    assert.deepEqual(after.steps, [])
    assert.deepEqual(plannedGuards(after), ['aborted'])
    const other = { ...spec, serverFlags: { 'kube-apiserver-arg': 'v=2' } }
    assert.deepEqual(
      nextSteps(other, observedCluster(names, {}, { ...ready, requests })),
      ['cordon s1'],
      'another pin lifts it',
    )
  })

  test('[A36] a node that a person cordoned is upgraded, and the mark remembers whose cordon it was', () => {
    const byPerson = { s1: { kube: { unschedulable: true } } }
    assert.deepEqual(nextSteps(spec, observedCluster(names, byPerson, ready)), ['cordon s1'])
    const mine = { ...changed, version: NEXT, work: { ...work, changedMs: NOW - MINUTE, cordoned: false } }
    // The step removes our mark; its `cordoned: false` keeps the node unschedulable.
    assert.deepEqual(nextSteps(spec, observedCluster(names, { s1: { kube: mine, k3s: { version: NEXT } } }, ready)), [
      'uncordon s1',
    ])
  })

  test('a drain that was given up is not begun again until a person resumes', () => {
    const kube = { drainGivenUp: { target: NEXT, atMs: NOW - MINUTE } }
    const observed = observedCluster(names, { s1: { kube } }, ready)
    assert.deepEqual(plannedGuards(coordinate(spec, observed, NOW)), ['drain'])
    assert.deepEqual(nextSteps(spec, { ...observed, requests: { ...NO_REQUESTS, resumedMs: NOW } }), ['cordon s1'])
  })

  test('a mark for what is no longer wanted is taken off again', () => {
    const back = { ...spec, version: VERSION }
    assert.deepEqual(nextSteps(back, observedCluster(names, { s1: { kube: marked } }, ready)), ['uncordon s1'])
  })
})

describe('flags', () => {
  const declared = clusterSpec('s1 s2 s3', { tlsSans: ['k3s.home'] })
  const hash = (name: string) =>
    configHash(declared, declared.servers.find((node) => node.name === name) ?? (declared.servers[0] as never))
  const started = (name: string, configHash: string = hash(name)): NodeTurn => ({ kube: { configHash } })

  test('[R44] a new SAN goes round one server at a time', () => {
    const turns = { s1: started('s1'), s2: started('s2', 'old'), s3: started('s3', 'old') }
    const decision = coordinate(declared, observedCluster('s1 s2 s3', turns, ready), NOW)
    assert.deepEqual(
      decision.steps.map((step) => [step.verb, step.node, step.purpose]),
      [['cordon', 's2', 'configure']],
    )
    const configure = {
      unschedulable: true,
      configHash: 'old',
      work: { ...work, purpose: 'configure', target: hash('s2') },
    } as const
    assert.deepEqual(nextSteps(declared, observedCluster('s1 s2 s3', { ...turns, s2: { kube: configure } }, ready)), [
      'configure-k3s s2',
    ])
    const back = { ...configure, configHash: hash('s2'), work: { ...configure.work, changedMs: NOW - MINUTE } }
    const since = (sinceMs: number) => ({ ...turns, s2: { kube: back, k3s: { sinceMs } } })
    assert.deepEqual(nextSteps(declared, observedCluster('s1 s2 s3', since(NOW - MINUTE / 2), ready)), ['uncordon s2'])
    // systemd reports "active" until it has stopped, and the Node gets the hash at once: it has not started since.
    const stopping = nextSteps(declared, observedCluster('s1 s2 s3', since(NOW - 2 * MINUTE), ready))
    assert.ok(
      !stopping.some((step) => step !== 'configure-k3s s2'),
      `another step than its own: ${stopping.join(', ')}`,
    )
  })

  test('a server that K3s does not start on with its new flags is configured once, and halts the rollout in time', () => {
    const kube = (agoMs: number) => ({
      ready: 'no' as const,
      unschedulable: true,
      work: { ...work, purpose: 'configure' as const, target: hash('s2'), changedMs: NOW - agoMs },
    })
    const members = [member('s1'), member('s2', { up: 'no' }), member('s3')]
    const died = (agoMs: number, file: string, sinceMs: number) => {
      const k3s = { service: 'failed', configHash: file, sinceMs } as const
      const turns = { s1: started('s1'), s2: { kube: kube(agoMs), k3s }, s3: started('s3', 'old') }
      return coordinate(declared, observedCluster('s1 s2 s3', turns, { ...ready, members }), NOW)
    }
    // systemd gives no start time for a service that it is about to restart.
    for (const sinceMs of [0, NOW - 30_000]) {
      assert.deepEqual(died(MINUTE, hash('s2'), sinceMs).steps, [])
      assert.deepEqual(plannedGuards(died(11 * MINUTE, hash('s2'), sinceMs)), ['halted'])
    }
    const unwritten = died(MINUTE, 'old', NOW - 30_000).steps
    assert.deepEqual(
      unwritten.map(({ verb, node }) => `${verb} ${node}`),
      ['configure-k3s s2'],
      'noted, and not done',
    )
  })

  test('[R41] a server with other flags is told, and configured where it was not started by us', () => {
    const args = { 'secrets-encryption': ['true'], disable: ['traefik'] }
    const decision = coordinate(declared, observedCluster('s1 s2 s3', { s2: { kube: { args } } }, ready), NOW)
    assert.match(decision.warnings.join(), /s2 runs with disable traefik, declared is nothing/)
    assert.deepEqual(
      decision.steps.map((step) => [step.verb, step.node, step.purpose]),
      [['cordon', 's2', 'configure']],
    )
    const ours = observedCluster('s1 s2 s3', { s2: { kube: { args, configHash: hash('s2') } } }, ready)
    assert.deepEqual(nextSteps(declared, ours), [], 'never restarted again and again for it')
  })
})

describe('windows', () => {
  const saturday = { days: [6], fromMinute: 22 * 60, toMinute: 4 * 60 }
  const cases: readonly [string, boolean][] = [
    ['2027-01-16T21:59:00Z', false],
    ['2027-01-16T22:00:00Z', true],
    ['2027-01-17T03:59:00Z', true],
    ['2027-01-17T04:00:00Z', false],
    ['2027-01-16T03:00:00Z', false],
  ]
  for (const [at, open] of cases) {
    test(`Saturday night at ${at}: ${open}`, () => assert.equal(windowOpen([saturday], Date.parse(at)), open))
  }
  test('in the time zone that is declared, also over its change of time', () => {
    const berlin = { days: [], fromMinute: 120, toMinute: 180, timeZone: 'Europe/Berlin' }
    assert.equal(windowOpen([berlin], Date.parse('2027-01-10T01:30:00Z')), true)
    assert.equal(windowOpen([berlin], Date.parse('2027-07-10T00:30:00Z')), true)
    assert.equal(windowOpen([berlin], Date.parse('2027-07-10T01:30:00Z')), false)
  })
  test('no windows: always; one that never opens: said', () => {
    assert.equal(windowOpen([], NOW), true)
    assert.equal(nextOpening([{ days: [9], fromMinute: 0, toMinute: 60 }], NOW), undefined)
  })
})

describe('[D-10] a node whose declared address is no longer that of its machine', () => {
  const addressed = (ips: Readonly<Record<string, string>>, more: Partial<ClusterSpec> = {}): ClusterSpec => {
    const base = clusterSpec(Object.keys(ips).join(' '), { version: VERSION, ...more })
    const given = (nodes: ClusterSpec['servers']) =>
      nodes.map((node) => ({ ...node, nodeIps: [ips[node.name] ?? ''].filter((ip) => ip !== '') }))
    return { ...base, servers: given(base.servers), agents: given(base.agents) }
  }
  const before = addressed({ s1: '10.0.0.1', s2: '10.0.0.2', s3: '10.0.0.3', a1: '10.0.0.4' })
  const observed = (spec: ClusterSpec = before) =>
    observedCluster(
      [...spec.servers, ...spec.agents].map(({ name }) => name).join(' '),
      Object.fromEntries(
        [...spec.servers, ...spec.agents].map((node) => [
          node.name,
          { kube: { internalIps: node.nodeIps, configHash: configHash(spec, node) } },
        ]),
      ),
      ready,
    )
  const moved = addressed({ s1: '10.0.0.1', s2: '10.0.0.9', s3: '10.0.0.3', a1: '10.0.0.4' })

  test('keeps what it runs with, and the plan says both ways on', () => {
    const decision = coordinate(moved, observed(), NOW)
    assert.deepEqual(plannedSteps(decision), [])
    const [refusal] = decision.refusals
    assert.deepEqual([refusal?.node, refusal?.guard], ['s2', 'address-moved'])
    assert.match(refusal?.reason ?? '', /^s2 is in the cluster as 10\.0\.0\.2 and is now declared with 10\.0\.0\.9/)
    assert.match(refusal?.allow ?? '', /write address: 10\.0\.0\.2 for s2 .* croft cluster replace \S+ s2$/)
  })

  test('holds an upgrade back as well, unless that brings new machines', () => {
    assert.deepEqual(plannedSteps(coordinate({ ...moved, version: NEXT }, observed(), NOW)), [])
    const anew = { ...moved, version: NEXT, upgrade: { ...moved.upgrade, method: 'replace' as const } }
    assert.deepEqual(coordinate(anew, observed(), NOW).refusals, [])
  })

  test('an agent keeps it as well, and the others go on without it', () => {
    const ips = { s1: '10.0.0.1', s2: '10.0.0.2', s3: '10.0.0.3', a1: '10.0.0.4', a2: '10.0.0.6' }
    const wanted = addressed({ ...ips, a1: '10.0.0.5' })
    const decision = coordinate(wanted, observed(addressed(ips)), NOW)
    assert.deepEqual(plannedSteps(decision), [])
    const [refusal] = decision.refusals
    assert.deepEqual([refusal?.node, refusal?.guard], ['a1', 'address-moved'])
    assert.match(refusal?.reason ?? '', /^a1 is in the cluster as 10\.0\.0\.4 and is now declared with 10\.0\.0\.5/)
    assert.match(refusal?.allow ?? '', /write address: 10\.0\.0\.4 for a1 .* croft cluster replace \S+ a1$/)
    const labelled = wanted.agents.map((node) => ({ ...node, flags: { 'kubelet-arg': ['v=2'] } }))
    const others = coordinate({ ...wanted, agents: labelled }, observed(addressed(ips)), NOW)
    assert.deepEqual(plannedSteps(others), ['cordon a2'])
    assert.deepEqual(plannedGuards(others), ['address-moved'])
  })

  test('the same address in other letters is the same', () => {
    const long = addressed({ s1: 'fd00:0:0::1', s2: 'fd00::2', s3: 'fd00::3' })
    const short = addressed({ s1: 'fd00::1', s2: 'fd00::2', s3: 'fd00::3' })
    assert.deepEqual(coordinate(long, observed(short), NOW).refusals, [])
  })
})
