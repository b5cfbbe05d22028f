import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { computerOf } from '../../sim/guest/life.ts'
import { networkChanged } from '../../sim/k3s/service.ts'
import { volumes } from '../../sim/libvirt/domains.ts'
import { NO_REQUESTS } from '../../src/model/observed-cluster.ts'
import { nodesOf } from './cluster-oracle.ts'
import { APPROVED, seen, valid } from './libvirt-machines.ts'
import { type LibvirtRun, simulateLibvirt } from './libvirt-run.ts'
import { points, replay } from './volume.ts'

/* examples/k3s-libvirt: one server and two agents on one KVM host, with fixed addresses and a pinned K3s. */

const FILE = 'libvirt-cluster.test.ts'
const EXAMPLE = join(import.meta.dirname, '../../examples/k3s-libvirt')
const NODES = ['k3s-cp-01', 'k3s-worker-01', 'k3s-worker-02']

const files = Object.fromEntries(readdirSync(EXAMPLE).map((name) => [name, readFileSync(join(EXAMPLE, name), 'utf8')]))
const ESTATE = valid(files)
/** Otherwise its server would stay when the cluster leaves Git. */
const UNPROTECTED = valid({ ...files, 'cluster.yaml': `${files['cluster.yaml']}  protect: false\n` })
const GONE = valid({ ...files, 'cluster.yaml': APPROVED })

/** All nodes of all clusters that live: what a person sees with kubectl. */
function nodes(run: LibvirtRun): unknown {
  const living = [...run.datacentre.world.k3s.clusters.values()].filter(({ members }) =>
    [...members.values()].some(({ process }) => process?.alive === true),
  )
  assert.equal(living.length, 1, 'one cluster')
  return living
    .flatMap((cluster) => nodesOf(cluster))
    .map(({ metadata, status }) => ({
      name: metadata.name,
      version: status?.nodeInfo?.kubeletVersion,
      ready: status?.conditions?.find(({ type }) => type === 'Ready')?.status,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

const AS_DECLARED = NODES.map((name) => ({ name, version: 'v1.34.3+k3s1', ready: 'True' }))

test('[A13] the plan of the example: one image, three machines, their addresses as written', async () => {
  const run = simulateLibvirt(1, ESTATE, 'kvm')
  const planned = new Set<string>()
  assert.equal(
    await run.settle(undefined, ({ plan }) => {
      for (const { key, action } of plan.entries) if (action.do === 'create' || action.do === 'wait') planned.add(key)
    }),
    'settled',
  )
  const machines = [...planned].filter((key) => key.startsWith('Machine/') || key.startsWith('Cluster/'))
  assert.ok(planned.has('Image/noble@kvm'), [...planned].join(', '))
  assert.equal(machines.length >= 3, true, machines.join(', '))
  const shown = seen(run) as {
    readonly domains: readonly { readonly name: string; readonly addresses: readonly string[] }[]
  }
  assert.deepEqual(
    shown.domains.map(({ name, addresses }) => [name, ...addresses]),
    NODES.map((name, at) => [name, `192.168.122.${10 + at}`]),
  )
  assert.ok(!run.writes.some((line) => /lease|dhcp/i.test(line)))
  assert.deepEqual(nodes(run), AS_DECLARED)
})

test('destroyed and applied again, the cluster is identical', async () => {
  const run = simulateLibvirt(5, UNPROTECTED, 'kvm')
  assert.equal(await run.settle(), 'settled')
  const before = [seen(run), nodes(run)]
  run.estate = GONE
  assert.equal(await run.settle(), 'settled')
  assert.equal(run.host.domains.size, 0)
  run.estate = UNPROTECTED
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual([seen(run), nodes(run)], before)
})

test('[A2] names come in force 20 s late: every Node has the declared name at once, and no other ever was', async () => {
  const run = simulateLibvirt(2, ESTATE, 'kvm')
  const names = new Set<string>()
  const watch = () => {
    for (const guest of run.datacentre.world.guests.values()) guest.trouble.slowNameMs = 20_000
    for (const cluster of run.datacentre.world.k3s.clusters.values())
      for (const { metadata } of nodesOf(cluster)) names.add(metadata.name)
  }
  assert.equal(await run.settle(undefined, watch), 'settled')
  assert.deepEqual([...names].sort(), NODES)
  assert.deepEqual(nodes(run), AS_DECLARED)
})

test('[A17] an image that had been booted: the machines with one machine-id are named, and none counts as Ready', async () => {
  const run = simulateLibvirt(3, ESTATE, 'kvm')
  // It needs a person: otherwise it would wait for ever.
  run.deadlineMs = 600_000
  const said = new Set<string>()
  const outcome = await run.settle(undefined, ({ clusters }) => {
    for (const volume of volumes(run.host, 'default').values())
      if (volume.system !== undefined) volume.system = { ...volume.system, machineId: 'd'.repeat(32) }
    for (const { decision } of clusters ?? []) for (const { reason } of decision.refusals) said.add(reason)
  })
  assert.notEqual(outcome, 'killed')
  assert.match([...said].join('; '), /k3s-cp-01 and k3s-worker-01.* have the same machine-id/)
  assert.match(run.disk.records.get('Cluster/platform')?.details?.nodes ?? '', /^[01]\/3$/)
})

test('[F-01] [F-23] killed while the cluster is formed: one cluster, three nodes, each once', async (t) => {
  const calm = simulateLibvirt(4, ESTATE, 'kvm')
  assert.equal(await calm.settle(), 'settled')
  let crashes = 0
  for (const point of points(calm.points(), 6)) {
    const hint = replay(FILE, 4, point)
    const run = simulateLibvirt(4, ESTATE, 'kvm')
    assert.equal(await run.settle(point), 'killed', hint)
    assert.equal(await run.settle(), 'settled', hint)
    assert.deepEqual(nodes(run), AS_DECLARED, hint)
    crashes++
  }
  t.diagnostic(`${crashes} crashes of ${calm.points()} points`)
})

/** Settles, with exactly one machine destroyed on the way. */
async function madeAnewOnce(run: LibvirtRun): Promise<void> {
  run.writes.length = 0
  run.deadlineMs = 600_000
  const outcome = await run.settle()
  assert.equal(run.writes.filter((line) => line.startsWith('undefine')).length, 1, run.writes.join('\n'))
  assert.equal(outcome, 'settled')
  assert.deepEqual(nodes(run), AS_DECLARED)
}

test('a node that stays away is made anew once, and the new one is left in peace', async () => {
  const spec = '  version: v1.34.3+k3s1\n'
  const mayGo = {
    ...files,
    'cluster.yaml': files['cluster.yaml']?.replace(spec, `${spec}  remediation: {dataMayGo: true}\n`) ?? '',
  }
  const run = simulateLibvirt(6, valid(mayGo), 'kvm')
  assert.equal(await run.settle(), 'settled')
  const lost = [...run.datacentre.world.guests.values()].find(({ config }) => config.get('name') === 'k3s-worker-01')
  assert.ok(lost)
  lost.trouble.noNetwork = true
  networkChanged(computerOf(run.datacentre.world, lost))
  // It has been away long enough when croft looks again.
  await run.clock.advanceTo(run.clock.now() + 20 * 60_000)
  await madeAnewOnce(run)
})

test('a node that a person wants replaced is made anew once', async () => {
  const run = simulateLibvirt(7, ESTATE, 'kvm')
  assert.equal(await run.settle(), 'settled')
  await run.clock.advanceTo(run.clock.now() + 20 * 60_000)
  const replace = [{ node: 'k3s-worker-02', atMs: run.clock.now(), goes: 'unseen' }]
  run.disk.values.set('cluster-orders/platform', JSON.stringify({ ...NO_REQUESTS, replace }))
  await madeAnewOnce(run)
})
