import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all } from '../../sim/kubernetes/store.ts'
import { readBackups } from '../../src/engine/clusters/backups.ts'
import { planRestore } from '../../src/plan/clusters/restore.ts'
import { planRotation } from '../../src/plan/clusters/rotate.ts'
import { destroyed, follow, formed, keepFor, keepSomething, nextDay } from './cluster-lab.ts'
import { lookNow, operated } from './cluster-operated.ts'
import { clusterAsDeclared, etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { quietFor } from './oracle.ts'
import { replay, seeds } from './volume.ts'

const FILE = 'cluster-restore.test.ts'
const NFS =
  '  upgrade: {soak: 10s}\n  backup: {schedule: "0 3 * * *", to: {nfs: {server: nas.home.arpa, path: /srv/etcd}}}\n'

test('[F-33] [F-31] [A38] all servers are deleted; restored from the share with the kept token the API answers with the stored objects', async () => {
  for (const seed of seeds(1, 100)) {
    const hint = replay(FILE, seed)
    const run = await formed(seed, hint, { spec: NFS })
    const { spec } = run.estate.clusters?.[0] ?? {}
    assert.ok(spec)
    keepSomething(run, hint, 'precious')
    await nextDay(run, 3.1)
    await keepFor(run, 60_000)
    keepSomething(run, hint, 'too-late')
    for (const name of ['s1', 's2', 's3']) await destroyed(run, name)
    // That everything is gone at once is believed only when a person says so.
    const approval =
      '---\napiVersion: croft.dev/v1alpha1\nkind: Approval\nmetadata: {name: lost}\nspec: {absence: [default], reason: the disks burned, expires: 2027-01-01T00:00:00Z}\n'
    run.estate = clusterEstate(`${clusterManifest({ spec: NFS })}${approval}`)
    const lost = await follow(run, hint, { mostMs: 400_000 })
    assert.ok(!lost.verbs.some((verb) => verb.startsWith('init-cluster')), `a new cluster was begun; ${hint}`)
    assert.match(lost.holds.join(), /croft never resets a cluster by itself/, hint)
    const store = { getValue: async (name: string) => run.disk.values.get(name) }
    const [newest] = [...(await readBackups(store, 'homelab'))].sort((a, b) => b.atMs - a.atMs)
    assert.ok(newest, `nobody remembers a backup; ${hint}`)
    const observed = await lookNow(run)
    const request = { snapshot: newest.name, path: newest.location?.slice('file://'.length) ?? '', server: 's1' }
    // Wrong and missing tokens first: nothing may be touched.
    const touched = run.effects
    for (const [kept, hash] of [
      [[], newest.tokenHash],
      [['ffffffffffff'], newest.tokenHash],
      [['ffffffffffff'], undefined],
    ] as const) {
      const plan = planRestore(spec, observed, kept, { ...request, ...(hash === undefined ? {} : { tokenHash: hash }) })
      assert.ok(plan.refusals.length > 0 && plan.steps.length === 0, hint)
    }
    assert.equal(run.effects, touched, hint)
    const { result, journal, plan } = await operated(run, (kept) =>
      planRestore(spec, observed, kept, {
        ...request,
        ...(newest.tokenHash === undefined ? {} : { tokenHash: newest.tokenHash }),
      }),
    )
    assert.deepEqual(result, { is: 'done' }, `${journal.join('; ')}; ${hint}`)
    assert.deepEqual(
      journal,
      plan.steps.map(({ summary }) => summary),
      `the journal lists every step; ${hint}`,
    )
    const settled = await follow(run, hint)
    assert.equal(settled.end, 'settled', `${settled.holds.join()} ${settled.refusals.join()}; ${hint}`)
    clusterAsDeclared(run, hint)
    const cluster = etcdOf(run, hint)
    assert.ok(cluster)
    const kept = all(cluster.store, '/configmaps').map(({ metadata }) => metadata.name)
    assert.ok(kept.includes('precious'), `what was stored is there again; ${hint}`)
    assert.ok(!kept.includes('too-late'), 'what was written after the backup cannot be there: nothing would be proved')
    await quietFor(run, 3, hint)
  }
})

test('keys of the encrypted Secrets, the token and the CAs are rotated under a running cluster', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { spec: '  upgrade: {soak: 10s}\n  secretsEncryption: true\n', agents: ['a1'] })
  const { spec } = run.estate.clusters?.[0] ?? {}
  assert.ok(spec)
  const keyBefore = etcdOf(run, hint)?.encryption
  for (const what of ['encryption-keys', 'token', 'ca'] as const) {
    const observed = await lookNow(run)
    const { result, plan, journal } = await operated(run, () => planRotation(what, spec, observed, run.clock.now()))
    assert.deepEqual(plan.refusals, [], `${what}; ${hint}`)
    assert.deepEqual(result, { is: 'done' }, `${what}: ${journal.join('; ')}; ${hint}`)
    const settled = await follow(run, hint)
    assert.equal(settled.end, 'settled', `${what}; ${hint}`)
    clusterAsDeclared(run, `${what}; ${hint}`)
  }
  assert.notDeepEqual(etcdOf(run, hint)?.encryption, keyBefore, `the key is another one; ${hint}`)
})
