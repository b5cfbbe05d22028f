import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EtcdCluster, Member } from '../../sim/world/types.ts'
import { follow, formed, HASTE, order } from './cluster-lab.ts'
import { clusterAsDeclared, etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-members.test.ts'

const APPROVAL = `---
apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: exchange-servers}
spec: {maxDeletes: 2, reason: two old boxes go, expires: '2030-01-01T00:00:00Z'}
`

/** Plants a member without a process, as left by a server that was wiped without being removed. */
function plantGhost(cluster: EtcdCluster): Member {
  const [one] = cluster.members.values()
  assert.ok(one)
  const ghost: Member = {
    ...one,
    id: 'feedfacefeedface',
    name: 's9-00c0ffee',
    address: '192.168.4.99',
    process: undefined,
  }
  cluster.members.set(ghost.id, ghost)
  return ghost
}

test('[A32] two of three servers exchanged in one commit: the new ones join first, then one leaves at a time', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  const manifest = clusterManifest({ spec: HASTE, servers: ['s1', 's4', 's5'] })
  run.estate = clusterEstate(manifest)
  const held = await follow(run, hint, { mostMs: 3_600_000 })
  assert.match(held.holds.join('; '), /s2 stays .*: its machine may not go/, hint)
  assert.ok(
    !held.verbs.some((verb) => /s[23]$/.test(verb)),
    `taken out though its machine stays: ${held.verbs.join(', ')}`,
  )
  assert.equal(etcdOf(run, hint)?.members.size, 5, hint)
  run.estate = clusterEstate(`${manifest}${APPROVAL}`)
  let fewest = 5
  const { end, verbs } = await follow(run, hint, {
    mostMs: 3_600_000,
    each: () => {
      const voters = [...(etcdOf(run, hint)?.members.values() ?? [])].filter(({ learner }) => !learner)
      fewest = Math.min(fewest, voters.length)
    },
  })
  assert.equal(end, 'settled', `${verbs.join(', ')}; ${hint}`)
  assert.equal(fewest, 3, `there were only ${fewest} voters in between; ${hint}`)
  const gone = verbs.filter((verb) => /^(cordon|remove-member)/.test(verb)).map((verb) => verb.slice(-2))
  assert.equal(gone.toSorted().join(), gone.join(), `both at once: ${verbs.join(', ')}; ${hint}`)
  clusterAsDeclared(run, hint)
})

test('[A32] two of three servers taken away in one commit: nothing goes, and the sentence says why', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, servers: ['s1'] }))
  const { verbs, refusals, holds } = await follow(run, hint, { mostMs: 1_800_000 })
  assert.deepEqual(verbs, [], hint)
  assert.match([...refusals, ...holds].join('; '), /fault tolerance/i, hint)
  assert.equal(etcdOf(run, hint)?.members.size, 3, hint)
})

test('[A40] a ghost member: nothing else is done until it is put out by a step of its own', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  const cluster = etcdOf(run, hint)
  assert.ok(cluster)
  const ghost = plantGhost(cluster)
  run.estate = clusterEstate(clusterManifest({ spec: HASTE, version: 'v1.34.4+k3s1' }))
  const held = await follow(run, hint, { mostMs: 30 * 60_000 })
  assert.deepEqual(held.verbs, [], hint)
  assert.match([...held.holds, ...held.refusals].join('; '), /s9-00c0ffee/, hint)
  order(run, { removeMembers: [ghost.id] })
  const { end, verbs } = await follow(run, hint, { mostMs: 3_600_000 })
  assert.equal(end, 'settled', hint)
  assert.equal(
    verbs.find((verb) => !verb.startsWith('snapshot')),
    `remove-member ${ghost.name.slice(0, 2)}`,
    `${verbs.join(', ')}; ${hint}`,
  )
  assert.ok(!cluster.members.has(ghost.id), hint)
  clusterAsDeclared(run, hint)
})
