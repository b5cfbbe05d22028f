import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { LocalK3s, ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { clusterSpec, FRESH, HOUR, MINUTE, member, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'
import { nextSteps, phaseOf } from './testing/planned.ts'

const OTHER = 'd'.repeat(64)
const POLICIES = ['refuse', 'wipe', 'recreate'] as const
const NAMES = 's1 s2 s3 a1 a2'

/** The nodes of a running cluster as they look after its record was lost. */
function unrecorded(
  turns: Readonly<Record<string, NodeTurn>> = {},
  voters: readonly string[] = ['s1', 's2', 's3'],
): ObservedCluster {
  const etcd = (name: string): NonNullable<LocalK3s['etcd']> => ({
    self: `m-${name}`,
    voters: voters.map((node) => ({ id: `m-${node}`, node })),
  })
  const living = (name: string): NodeTurn => ({
    kube: 'unknown',
    passwordSecret: 'unknown',
    k3s: { data: OTHER, ...(name.startsWith('s') ? { role: 'server', etcd: etcd(name) } : { role: 'agent' }) },
  })
  const all = Object.fromEntries(NAMES.split(' ').map((name) => [name, turns[name] ?? living(name)]))
  const { identity, ...observed } = observedCluster(NAMES, all, { api: 'unknown', members: 'unknown' })
  return { ...observed, nodes: observed.nodes.map((node) => ({ ...node, passwordSecret: 'unknown' as const })) }
}

const recorded = (observed: ObservedCluster, formed: boolean): ObservedCluster => ({
  ...observed,
  identity: { caHash: 'c'.repeat(64), firstServer: 's1', formed, recordedMs: NOW },
})

const down: NodeTurn = { kube: 'unknown', k3s: { service: 'stopped', data: OTHER } }
const spec = (more: Partial<ClusterSpec> = {}, names = NAMES) => clusterSpec(names, more)

test('an empty directory below a disk that is not there is no empty disk: vote and Node stay, and no cure begins', () => {
  const why = '/var/lib/rancher stands in /etc/fstab and is not mounted'
  for (const name of ['s3', 'a1']) {
    const turn: NodeTurn = {
      kube: { ready: 'no', readySinceMs: NOW - HOUR },
      k3s: { service: 'failed', data: 'other', away: why },
    }
    const members = ['s1', 's2', 's3'].map((node) => member(node, node === name ? { up: 'no' } : {}))
    const seen = observedCluster('s1 s2 s3 a1', { [name]: turn }, { members })
    for (const staleState of POLICIES) {
      const decision = coordinate(spec({ staleState }, 's1 s2 s3 a1'), seen, NOW)
      assert.deepEqual(decision.steps, [])
      assert.deepEqual(
        decision.refusals.map(({ guard, reason }) => `${guard} ${reason}`),
        [`disk-away ${name}: ${why}`],
      )
    }
  }
})

describe('[D-01] a dark house of which the record is lost', () => {
  const off: NodeTurn = { kube: 'unknown', k3s: 'unknown', machine: { power: 'off' } }
  const silent: NodeTurn = { kube: 'unknown', k3s: 'unknown', machine: { power: 'unknown', ours: false } }
  const clean: NodeTurn = { kube: 'unknown', k3s: { service: 'absent', data: 'none' } }
  for (const staleState of POLICIES)
    test(`staleState: ${staleState} takes nothing from an agent while its servers are off, and no CA is made`, () => {
      const servers = (turns: readonly NodeTurn[]) => ({
        s1: turns[0],
        s2: turns[1],
        s3: turns[2],
        a1: down,
        a2: silent,
      })
      const decided = (...turns: readonly NodeTurn[]) => {
        const rows = servers(turns) as Readonly<Record<string, NodeTurn>>
        const { steps, refusals } = coordinate(spec({ staleState }), unrecorded(rows), NOW)
        const guards = new Set(refusals.filter(({ node }) => node === 'a1').map(({ guard }) => guard))
        assert.deepEqual([...guards], ['record-missing'])
        return steps.map(({ verb, node }) => `${verb} ${node}`)
      }
      assert.deepEqual(decided(off, off, off), ['start-machine s1', 'start-machine s2', 'start-machine s3'])
      assert.deepEqual(decided(off, clean, clean), ['start-machine s1'])
      assert.deepEqual(decided(silent, clean, clean), [])
    })
})

describe('[D-01] a living cluster of which the record is lost', () => {
  for (const staleState of POLICIES) {
    test(`staleState: ${staleState} wipes none of its nodes; CA and token are read back instead`, () => {
      const decision = coordinate(spec({ staleState }), unrecorded(), NOW)
      assert.deepEqual(
        decision.steps.map((step) => [step.verb, step.node, step.target]),
        [['read-back-secrets', 's1', OTHER]],
      )
      assert.match(decision.steps[0]?.reason ?? '', /record of homelab .* is missing.*3 of 3 voters up/)
      assert.doesNotMatch(JSON.stringify(decision), /stale K3s|staleState|wipe it/)
      assert.equal(phaseOf(decision, 's2'), 'Unrecorded')
    })

    test(`staleState: ${staleState} and a record of another CA: refused, and recover is named`, () => {
      for (const formed of [true, false]) {
        const decision = coordinate(spec({ staleState }), recorded(unrecorded(), formed), NOW)
        assert.deepEqual(decision.steps, [], String(formed))
        const told = decision.refusals.map(({ node, guard, allow }) => `${node} ${guard} ${allow}`)
        for (const name of ['s1', 's2', 's3', 'a1', 'a2'])
          assert.ok(
            told.some((line) => line.startsWith(`${name} live-cluster`)),
            `${name}: ${told.join('\n')}`,
          )
        assert.match(told.join(), /croft cluster recover homelab --from s1/)
      }
    })

    test(`staleState: ${staleState} and every server stopped: a majority of one cluster is no stale state`, () => {
      const off = unrecorded({ s1: down, s2: down, s3: down, a1: down, a2: down })
      for (const observed of [off, recorded(off, false), recorded(off, true)]) {
        const decision = coordinate(spec({ staleState }), observed, NOW)
        assert.deepEqual(
          decision.steps.filter((step) => step.destroys !== undefined),
          [],
        )
        assert.ok(decision.refusals.length > 0)
      }
    })
  }

  test('without a majority nothing is read back, and nothing is wiped', () => {
    const decision = coordinate(spec({ staleState: 'wipe' }), unrecorded({ s2: down, s3: down }), NOW)
    assert.deepEqual(decision.steps, [])
    assert.match(decision.refusals[0]?.reason ?? '', /no majority at the moment/)
  })

  test('a cluster that has servers of which Git knows nothing is not the declared one', () => {
    const decision = coordinate(spec({ staleState: 'wipe' }), unrecorded({}, ['s1', 's2', 's3', 'x1']), NOW)
    assert.deepEqual(decision.steps, [])
    assert.match(decision.refusals[0]?.reason ?? '', /also has the server x1, which homelab does not declare/)
  })

  test('servers of two clusters are told apart, and nothing is done', () => {
    const two = unrecorded({ s3: { kube: 'unknown', k3s: { data: 'e'.repeat(64) } } })
    const decision = coordinate(spec({ staleState: 'wipe' }), two, NOW)
    assert.deepEqual(decision.steps, [])
    assert.match(
      decision.refusals[0]?.reason ?? '',
      /data of 2 clusters \(s1, s2, a1, a2: dddddddddddd; s3: eeeeeeeeeeee\)/,
    )
  })

  test('one server whose data lies in a file speaks for itself', () => {
    const single: NodeTurn = { kube: 'unknown', k3s: { data: OTHER, role: 'server', datastore: 'sqlite' } }
    const { identity, ...observed } = observedCluster(
      's1 a1',
      { s1: single, a1: FRESH },
      { api: 'unknown', members: 'unknown' },
    )
    assert.deepEqual(nextSteps(spec({}, 's1 a1'), observed), ['read-back-secrets s1'])
  })
})

describe('[D-01] one node at a time', () => {
  const stopped: NodeTurn = { kube: 'absent', k3s: { service: 'stopped', data: OTHER } }
  const members = [member('s1'), member('s2'), member('s3')]

  for (const [staleState, verb] of [
    ['wipe', 'wipe-k3s'],
    ['recreate', 'destroy-machine'],
  ] as const) {
    test(`staleState: ${staleState} with three dirty agents begins with one of them`, () => {
      const observed = observedCluster('s1 s2 s3 a1 a2 a3', { a1: stopped, a2: stopped, a3: stopped }, { members })
      const decision = coordinate(clusterSpec('s1 s2 s3 a1 a2 a3', { staleState }), observed, NOW)
      assert.deepEqual(nextSteps(clusterSpec('s1 s2 s3 a1 a2 a3', { staleState }), observed), [`${verb} a1`])
      assert.equal(decision.waits.filter(({ awaits }) => awaits.startsWith('a1, which goes first')).length, 2)
    })
  }

  test('in the next pass the others still wait for the one that lost its data, until it is back or had its time', () => {
    const gone = (agoMs: number): NodeTurn => ({
      kube: 'absent',
      k3s: { service: 'absent', data: 'none', sinceMs: NOW - agoMs },
    })
    const wiped = (a1: NodeTurn) => {
      const observed = observedCluster('s1 s2 s3 a1 a2 a3', { a1, a2: stopped, a3: stopped }, { members })
      const decision = coordinate(clusterSpec('s1 s2 s3 a1 a2 a3', { staleState: 'wipe' }), observed, NOW)
      return decision.steps.flatMap(({ verb, node }) => (verb === 'wipe-k3s' ? [node] : []))
    }
    assert.deepEqual(wiped(gone(MINUTE)), [], 'a1 is on its way back')
    assert.deepEqual(wiped(gone(HOUR)), ['a2'], 'it had its time')
    assert.deepEqual(wiped({}), ['a2'], 'it is back')
  })

  test('a node that runs in another cluster stays, although our own cluster is well', () => {
    const runs: NodeTurn = { kube: 'absent', k3s: { service: 'running', data: OTHER } }
    const observed = observedCluster('s1 s2 s3 a1', { a1: runs }, { members })
    const decision = coordinate(clusterSpec('s1 s2 s3 a1', { staleState: 'wipe' }), observed, NOW)
    assert.deepEqual(decision.steps, [])
    assert.match(decision.refusals[0]?.reason ?? '', /a1 runs K3s in a cluster that croft has no record of/)
  })
})

describe('K3s that croft does not know by its unit', () => {
  const own = 'c'.repeat(64)
  const stranger = (k3s: Partial<LocalK3s>) =>
    observedCluster('s1 s2 s3 a1', { a1: { kube: 'absent', machine: { ours: false }, k3s: { sinceMs: 0, ...k3s } } })
  for (const staleState of POLICIES) {
    for (const service of ['running', 'unknown'] as const)
      test(`${service}, with data of another cluster: staleState: ${staleState} wipes nothing, and the program is named`, () => {
        const observed = stranger({ service, data: OTHER, heldBy: 'k3s-main.service' })
        const decision = coordinate(spec({ staleState }, 's1 s2 s3 a1'), observed, NOW)
        assert.deepEqual(decision.steps, [])
        const [refusal] = decision.refusals
        assert.equal(refusal?.guard, 'live-cluster')
        assert.match(refusal?.reason ?? '', /a1 runs K3s \(k3s-main\.service\)/)
      })
  }

  test('unknown, with data of this cluster: neither started nor wiped, and the port is named', () => {
    const observed = stranger({ service: 'unknown', data: own, heldBy: 'port 6443' })
    const decision = coordinate(spec({}, 's1 s2 s3 a1'), observed, NOW)
    assert.deepEqual(decision.steps, [])
    assert.match(
      decision.holds.find(({ node }) => node === 'a1')?.reason ?? '',
      /listens on a port of K3s .*\(port 6443\)/,
    )
  })
})
