import assert from 'node:assert/strict'
import { test } from 'node:test'
import { update } from '../../sim/kubernetes/store.ts'
import { follow, formed, guestOf, HASTE, type Run } from './cluster-lab.ts'
import { clusterAsDeclared, etcdOf, nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-rollout.test.ts'
const NEXT = 'v1.34.4+k3s1'

function versions(run: Run, hint: string): Readonly<Record<string, string | undefined>> {
  const cluster = etcdOf(run, hint)
  assert.ok(cluster)
  return Object.fromEntries(nodesOf(cluster).map((node) => [node.metadata.name, node.status?.nodeInfo?.kubeletVersion]))
}

test('[A33] from v1.33.6 to v1.35.0 over a release with etcd 3.5.26 and a 1.34, each gone round before the next; no zombie ever appears', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { version: 'v1.33.6+k3s1' })
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, version: 'v1.35.0+k3s1' }))
  const seen: string[] = []
  const { end } = await follow(run, hint, {
    mostMs: 3 * 3_600_000,
    each: () => {
      const cluster = etcdOf(run, hint)
      assert.ok((cluster?.members.size ?? 0) <= 3, `a removed member came back; ${hint}`)
      const all = new Set(Object.values(versions(run, hint)))
      const [only] = all
      if (all.size === 1 && only !== undefined && seen.at(-1) !== only) seen.push(only)
    },
  })
  assert.equal(end, 'settled', `${seen.join(' ')}; ${hint}`)
  assert.match(seen.join(' '), /^v1\.33\.6\+k3s1 v1\.33\.(7\+k3s3|8\S*|9\S*|10\S*) v1\.34\.\S+ v1\.35\.0\+k3s1$/, hint)
  clusterAsDeclared(run, hint)
})

test('[A35] a check that fails: no node is drained, and what it says is shown; when it passes the rollout goes on', async () => {
  const hint = replay(FILE, 1)
  const check =
    '---\napiVersion: croft.dev/v1alpha1\nkind: HealthCheck\nmetadata: {name: ceph}\nspec: {command: {on: s1, run: [cat, /etc/ceph-is-clean]}}\n'
  const spec = '  upgrade: {soak: 10s, healthChecks: [ceph]}\n'
  const run = await formed(1, hint)
  run.estate = clusterEstate(`${clusterManifest({ spec, version: NEXT })}${check}`)
  const held = await follow(run, hint, { mostMs: 180_000 })
  assert.match(held.holds.join(), /the check ceph fails: .*ceph-is-clean/, hint)
  assert.ok(!held.verbs.some((verb) => /^(cordon|drain|upgrade)/.test(verb)), `${held.verbs.join(', ')}; ${hint}`)
  guestOf(run, 's1')[1].machine?.files.write('/etc/ceph-is-clean', 'HEALTH_OK\n')
  assert.equal((await follow(run, hint)).end, 'settled', hint)
  clusterAsDeclared(run, hint)
})

test('[A36] a node that a person cordoned is upgraded like the others, and is still cordoned afterwards', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { agents: ['a1'] })
  const cluster = etcdOf(run, hint)
  assert.ok(cluster)
  update(cluster.store, '/nodes', undefined, 'a1', (node) => ({
    ...node,
    spec: { ...(node.spec as object), unschedulable: true },
  }))
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, agents: ['a1'], version: NEXT }))
  assert.equal((await follow(run, hint)).end, 'settled', hint)
  assert.deepEqual(new Set(Object.values(versions(run, hint))), new Set([NEXT]), hint)
  const cordoned = nodesOf(cluster).filter(({ spec }) => spec?.unschedulable === true)
  assert.deepEqual(
    cordoned.map(({ metadata }) => metadata.name),
    ['a1'],
    hint,
  )
})

test('[R44] [R41] another address of the API: its certificates and flags go round one server at a time, quorum kept', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  run.estate = clusterEstate(clusterManifest({ spec: `${HASTE}  tlsSans: [k3s.home.arpa]\n` }))
  const { end, verbs } = await follow(run, hint)
  assert.equal(end, 'settled', `${verbs.join(', ')}; ${hint}`)
  const order = verbs.filter((verb) => verb.startsWith('configure-k3s')).map((verb) => verb.slice(-2))
  assert.equal(new Set(order).size, 3, `${verbs.join(', ')}; ${hint}`)
  for (const name of ['s1', 's2', 's3']) {
    const flags = guestOf(run, name)[1].machine?.k3s?.process?.flags.get('tls-san')
    assert.ok(flags?.includes('k3s.home.arpa'), `${name}; ${hint}`)
  }
  clusterAsDeclared(run, hint)
})
