import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotateToken } from '../../sim/k3s/rotate-token.ts'
import { follow, formed, guestOf, HASTE, order, type Run } from './cluster-lab.ts'
import { clusterAsDeclared, etcdOf, nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-joins.test.ts'
const TLS = '/var/lib/rancher/k3s/server/tls'

function guestNamed(run: Run, name: string) {
  return [...run.datacentre.world.guests.values()].find((guest) => guest.config.get('name') === name)
}

function fresh(seed: number, manifest = clusterManifest({ spec: HASTE })): Run {
  return simulateCluster({ seed, estate: clusterEstate(manifest) })
}

test('[A2] [R2] the names of the machines come in force 20 s late: every Node has the declared name, and no other ever was', async () => {
  const hint = replay(FILE, 1)
  const run = fresh(1)
  const seen = new Set<string>()
  const { end } = await follow(run, hint, {
    each: () => {
      for (const guest of run.datacentre.world.guests.values()) guest.trouble.slowNameMs = 20_000
      const cluster = etcdOf(run, hint)
      for (const { metadata } of cluster === undefined ? [] : nodesOf(cluster)) seen.add(metadata.name)
    },
  })
  assert.equal(end, 'settled', hint)
  assert.deepEqual([...seen].sort(), ['s1', 's2', 's3'], hint)
  clusterAsDeclared(run, hint)
})

test('[A5] [R5] the token was rotated by hand: a server that is made anew joins with the present one, and Git is not touched', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  const k3s = guestOf(run, 's1')[1].machine?.k3s
  assert.ok(k3s?.process)
  assert.deepEqual(rotateToken(k3s.process.computer, 'rotated-by-hand-on-s1'), { ok: true })
  order(run, { replace: [{ node: 's3', atMs: run.clock.now(), goes: 'unseen' }] })
  const { end, verbs } = await follow(run, hint)
  assert.equal(end, 'settled', hint)
  assert.ok(verbs.includes('join-server s3'), `${verbs.join(', ')}; ${hint}`)
  clusterAsDeclared(run, hint)
})

test('[A6] [A7] a disk with the K3s data of another cluster, or of two CAs: refused by name, wiped by policy, never joined dirty', async () => {
  const hint = replay(FILE, 1)
  for (const [policy, verb] of [
    ['refuse', undefined],
    ['wipe', 'wipe-k3s a1'],
  ] as const) {
    const run = await formed(1, hint)
    // Any other CA is that of another cluster.
    const pem = run.vault.kept.get('homelab')?.files.get('client-ca.crt')?.reveal()
    assert.ok(pem)
    run.estate = clusterEstate(clusterManifest({ spec: `${HASTE}  staleState: ${policy}\n`, agents: ['a1'] }))
    let dirtied = false
    const { refusals, verbs, end } = await follow(run, hint, {
      mostMs: 240_000,
      each: () => {
        const machine = guestNamed(run, 'a1')?.machine
        if (dirtied || machine === undefined) return
        dirtied = true
        machine.files.write(`${TLS}/server-ca.crt`, pem)
      },
    })
    assert.ok(dirtied, hint)
    if (verb === undefined) {
      assert.match(
        refusals.join(),
        /a1 holds (stale K3s state \(cluster [0-9a-f]{12}\)|certificates of more than one CA)/,
        hint,
      )
      assert.ok(!verbs.includes('join-agent a1'), `it joined dirty; ${hint}`)
    } else {
      assert.equal(end, 'settled', hint)
      assert.ok(
        verbs.indexOf(verb) >= 0 && verbs.indexOf(verb) < verbs.indexOf('join-agent a1'),
        `${verbs.join(', ')}; ${hint}`,
      )
      clusterAsDeclared(run, hint)
    }
  }
})

test('[A8] [R42] a join that fails half-way: its learner is removed before anything is tried again, and the others stay well', async () => {
  const hint = replay(FILE, 1)
  const run = fresh(1)
  let most = 0
  const { end, verbs } = await follow(run, hint, {
    each: () => {
      const guest = guestNamed(run, 's3')
      if (guest !== undefined && most === 0) guest.trouble.learnerStuck = true
      const cluster = etcdOf(run, hint)
      const learners = [...(cluster?.members.values() ?? [])].filter(({ learner }) => learner)
      assert.ok(learners.length <= 1, `two learners at once; ${hint}`)
      // It is mended once its learner has gone.
      if (guest?.trouble.learnerStuck === true && learners.length === 1) guest.trouble.neverStarts = true
      if (guest?.trouble.neverStarts === true && learners.length === 0) {
        guest.trouble.learnerStuck = false
        guest.trouble.neverStarts = false
        most++
      }
    },
  })
  assert.equal(most, 1, `the learner went; ${hint}`)
  assert.equal(end, 'settled', `${verbs.join(', ')}; ${hint}`)
  const removed = verbs.indexOf('remove-member s3')
  assert.ok(removed < 0 || removed < verbs.lastIndexOf('join-server s3'), `${verbs.join(', ')}; ${hint}`)
  clusterAsDeclared(run, hint)
})

test('[A17] machines from an image that had been booted: the twins are named, and none counts as Ready', async () => {
  const hint = replay(FILE, 1)
  const run = fresh(1)
  const { refusals } = await follow(run, hint, {
    mostMs: 240_000,
    each: () => {
      for (const host of run.datacentre.world.hosts.values())
        for (const volumes of host.volumes.values())
          for (const volume of volumes.values())
            if (volume.system !== undefined) volume.system = { ...volume.system, machineId: 'd'.repeat(32) }
    },
  })
  assert.match(refusals.join(), /s1 and s2.* have the same machine-id/, hint)
  const record = run.disk.records.get('Cluster/homelab')
  assert.match(record?.details?.nodes ?? '', /^[01]\/3$/, `${record?.details?.nodes}; ${hint}`)
})
