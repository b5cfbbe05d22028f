import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotateToken } from '../../sim/k3s/rotate-token.ts'
import { all } from '../../sim/kubernetes/store.ts'
import { formed, guestOf, keepFor, nextDay, type Run } from './cluster-lab.ts'
import { clusterAsDeclared, etcdOf } from './cluster-oracle.ts'
import { quietFor } from './oracle.ts'
import { replay } from './volume.ts'

const FILE = 'cluster-backup.test.ts'
const DAILY = '  upgrade: {soak: 10s}\n  backup: {schedule: "0 3 * * *", keep: 2, to: {directory: /srv/etcd}'

function backedUp(run: Run): { readonly status: string; readonly message: string } | undefined {
  return run.disk.records.get('Cluster/homelab')?.conditions.find(({ type }) => type === 'BackedUp')
}

test('scheduled backups are taken by K3s itself, pruned, and watched; a drill proves one on a machine of its own', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { spec: `${DAILY}, drill: {schedule: "0 5 * * *"}}\n` })
  for (let day = 0; day < 3; day++) await nextDay(run, 3.1)
  await keepFor(run, 60_000)
  const cluster = etcdOf(run, hint)
  assert.ok(cluster)
  const files = all(cluster.store, 'k3s.cattle.io/etcdsnapshotfiles')
  assert.equal(files.length, 6, `two of each server are kept; ${hint}`)
  assert.equal(backedUp(run)?.status, 'True', hint)
  const before = [...run.datacentre.world.guests.keys()].sort((a, b) => a - b)
  await run.clock.advanceTo(run.clock.now() + 2 * 3_600_000)
  const events = await keepFor(run, 180_000)
  const passed = events.find(({ reason }) => reason === 'DrillPassed')
  assert.match(
    passed?.message ?? '',
    /was restored on a machine of its own in \d+ s: the copy answers with 3 Nodes/,
    hint,
  )
  assert.ok(
    events.some(({ key, reason }) => key === 'Machine/homelab-drill' && reason === 'Done'),
    hint,
  )
  assert.deepEqual(
    [...run.datacentre.world.guests.keys()].sort((a, b) => a - b),
    before,
    `the machine of the drill is gone; ${hint}`,
  )
  assert.ok(!events.some(({ reason }) => /StopK3s|RestartK3s|WipeK3s/.test(reason)), `the cluster was touched; ${hint}`)
  assert.match(backedUp(run)?.message ?? '', /was restored on a machine of its own/)
  await quietFor(run, 3, hint)
  assert.equal((await keepFor(run, 60_000)).filter(({ reason }) => reason === 'DrillBegun').length, 0, 'once is enough')
})

test('a controller that dies in the middle of a drill: the next one ends it, and nothing is left', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { spec: `${DAILY}, drill: {schedule: "0 5 * * *"}}\n` })
  await nextDay(run, 5.01)
  const before = run.datacentre.world.guests.size
  let passes = 0
  let process = run.start()
  const events: string[] = []
  while (!events.includes('DrillPassed') && !events.includes('DrillFailed') && passes < 400) {
    const [report] = await run.passes(process, 1)
    events.push(...(report?.events ?? []).map(({ reason }) => reason))
    // Dead after every fifth look, wherever that is.
    if (++passes % 5 === 0) {
      process.kill()
      process = run.start()
    }
  }
  assert.ok(events.includes('DrillPassed'), `${events.join(' ')}; ${hint}`)
  await keepFor(run, 60_000)
  assert.equal(run.datacentre.world.guests.size, before, `its machine is gone; ${hint}`)
  clusterAsDeclared(run, hint)
})

test('a backup that cannot be restored fails its drill, and that is told', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { spec: `${DAILY}, drill: {schedule: "0 5 * * *"}}\n` })
  await nextDay(run, 5.01)
  for (const name of ['s1', 's2', 's3']) {
    const { files } = guestOf(run, name)[1].machine ?? {}
    for (const file of files?.list('/srv/etcd') ?? []) files?.write(`/srv/etcd/${file}`, 'damaged')
  }
  const events = await keepFor(run, 120_000)
  assert.match(events.find(({ reason }) => reason === 'DrillFailed')?.message ?? '', /could not be restored: /, hint)
  assert.equal(backedUp(run)?.status, 'False', hint)
})

test('[A39] a backup whose token is not kept is unusable the day it is taken: a condition and a warning say so', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint, { spec: `${DAILY}}\n` })
  await nextDay(run, 3.1)
  await keepFor(run, 60_000)
  assert.equal(backedUp(run)?.status, 'True', hint)
  // A person rotates the token on a server by hand.
  const { k3s } = guestOf(run, 's1')[1].machine ?? {}
  assert.ok(k3s?.process)
  assert.deepEqual(rotateToken(k3s.process.computer, 'another-password-entirely'), { ok: true })
  await nextDay(run, 3.1)
  const events = await keepFor(run, 90_000)
  const told = events.filter(({ reason }) => reason === 'BackupUnusable')
  assert.equal(told.length, 1, `told once; ${hint}`)
  assert.match(told[0]?.message ?? '', /is unusable: the token that it was taken with .* is not kept/)
  assert.equal(backedUp(run)?.status, 'False', hint)
})
