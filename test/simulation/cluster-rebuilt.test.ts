import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { generateIdentity } from 'age-encryption'
import { all } from '../../sim/kubernetes/store.ts'
import { planRestore } from '../../src/plan/clusters/restore.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { openAgeVault } from '../../src/vault/age-vault.ts'
import { destroyed, follow, formed, keepFor, keepSomething, nextDay } from './cluster-lab.ts'
import { lookNow, operated } from './cluster-operated.ts'
import { clusterAsDeclared, etcdOf } from './cluster-oracle.ts'
import { quietFor } from './oracle.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-rebuilt.test.ts'
const NFS =
  '  upgrade: {soak: 10s}\n  backup: {schedule: "0 3 * * *", to: {nfs: {server: nas.home.arpa, path: /srv/etcd}}}\n'
const scratch = mkdtempSync(path.join(tmpdir(), 'croft-rebuilt-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

test('[A58] everything is lost but the Git remote, the age key and the share with the backups: the estate is made again and etcd restored', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { spec: NFS })
  const { spec } = run.estate.clusters?.[0] ?? {}
  const secrets = run.vault.kept.get('homelab')
  assert.ok(spec && secrets)
  keepSomething(run, hint, 'precious')
  await nextDay(run, 3.1)
  await keepFor(run, 60_000)
  const { snapshots } = await lookNow(run)
  assert.ok(snapshots !== 'unknown' && snapshots[0] !== undefined, hint)
  const { name } = snapshots[0]

  // What lies in Git was written while the cluster was still on its way, and never renewed.
  const env = { SOPS_AGE_KEY: await generateIdentity() }
  const vault = openAgeVault({ directory: path.join(scratch, 'first'), env })
  await vault.write({ ...secrets, formed: false })
  const inGit = await vault.sealed.seal('homelab')

  for (const node of ['s1', 's2', 's3']) await destroyed(run, node)
  run.disk = createMemoryStore().disk
  run.vault.kept.clear()
  const again = openAgeVault({ directory: path.join(scratch, 'second'), env, escrow: async () => inGit })
  const found = await again.read('homelab')
  assert.ok(found)
  run.vault.kept.set('homelab', found)

  const lost = await follow(run, hint, { mostMs: 600_000 })
  assert.equal(lost.end, 'settled', `an apply would wait for a person without saying so; ${hint}`)
  assert.ok(!lost.verbs.some((verb) => verb.startsWith('init-cluster')), `a new cluster was begun; ${hint}`)
  assert.match(lost.holds.join(), /croft never resets a cluster by itself/, hint)
  const observed = await lookNow(run)
  const { result, journal } = await operated(run, (kept) =>
    planRestore(spec, observed, kept, {
      snapshot: name,
      path: `/croft/backup/${name}`,
      server: 's1',
      presentToken: true,
    }),
  )
  assert.deepEqual(result, { is: 'done' }, `${journal.join('; ')}; ${hint}`)
  assert.equal((await follow(run, hint)).end, 'settled', hint)
  clusterAsDeclared(run, hint)
  const cluster = etcdOf(run, hint)
  assert.ok(cluster)
  const kept = all(cluster.store, '/configmaps').map(({ metadata }) => metadata.name)
  assert.ok(kept.includes('precious'), `what was stored is there again; ${hint}`)
  await quietFor(run, 3, hint)
})
