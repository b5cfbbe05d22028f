import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computerOf } from '../../sim/guest/life.ts'
import { find } from '../../sim/kubernetes/store.ts'
import { findMarked } from '../../src/cli/leave/look.ts'
import { scopeOf, wholeEstate } from '../../src/cli/leave/scope.ts'
import { takeCroftOff } from '../../src/cli/leave/take-off.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { addonManifest } from './addon-manifests.ts'
import { formed, HASTE, type Run } from './cluster-lab.ts'
import { etcdOf, nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'

const NOTES = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'notes', namespace: 'default' },
  data: { a: 'b' },
}
const WEB = `---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: web-1}
spec: {host: still-fawn, class: node, networks: [{network: lan}]}
`
const WITH_MORE = clusterManifest({ spec: HASTE, agents: ['a1'] }) + WEB + addonManifest('notes', '', [NOTES])

/** A cluster with a worker and an add-on, and a machine's tag and description that people wrote. */
async function kept(hint: string): Promise<Run> {
  const run = await formed(1, hint, { agents: ['a1'] })
  run.estate = clusterEstate(WITH_MORE)
  const process = run.start()
  assert.equal(await run.untilSettled(process), 'settled', hint)
  process.kill()
  const [guest] = run.datacentre.world.guests.values()
  assert.ok(guest && run.datacentre.world.guests.size === 5)
  guest.config.set('tags', `precious;${guest.config.get('tags') ?? ''}`)
  guest.config.set('description', `of the attic\n${guest.config.get('description') ?? ''}`)
  return run
}

/** As `croft leave` does; returns what is still there. */
async function leave(run: Run, key?: string, disk = run.disk): Promise<ReadonlyMap<string, string>> {
  const process = run.start()
  const { tools, engine } = process
  const { signal } = new AbortController()
  const scope = key === undefined ? wholeEstate(run.estate) : scopeOf(run.estate, key as never)
  const left = await run.clock.runUntil(
    (async () => {
      const look = await findMarked(run.estate, scope, tools, signal)
      const store = createMemoryStore(disk)
      return takeCroftOff({ estate: run.estate, scope, look, tools, clusters: tools.clusters, engine, store, signal })
    })(),
    { maxMs: 600_000 },
  )
  process.kill()
  return left
}

/** What runs, and everything of it that is not croft's. */
function world(run: Run) {
  return [...run.datacentre.world.guests].map(([id, guest]) => {
    const { tags: _, description: __, ...config } = Object.fromEntries(guest.config)
    return {
      id,
      host: guest.node,
      config,
      life: guest.run.life,
      k3s: computerOf(run.datacentre.world, guest).machine.k3s?.process,
    }
  })
}

/** Everything of croft that is on a machine, its disk and its Node. What the cluster needs under croft's name is not asked. */
function traces(run: Run): readonly string[] {
  const found: string[] = []
  for (const [id, guest] of run.datacentre.world.guests) {
    for (const name of ['tags', 'description'])
      if (/croft/.test(guest.config.get(name) ?? '')) found.push(`${id} ${name}`)
    const { files, enabled } = computerOf(run.datacentre.world, guest).machine
    const walk = (folder: string) => {
      for (const name of files.list(folder)) {
        const path = `${folder === '/' ? '' : folder}/${name}`
        if (/croft/.test(name)) found.push(`${id} ${path}`)
        else walk(path)
      }
    }
    walk('/')
    if (/croft/.test(files.text('/etc/rancher/k3s/config.yaml') ?? '')) found.push(`${id} config.yaml`)
    for (const unit of enabled) if (/croft/.test(unit)) found.push(`${id} ${unit}`)
  }
  const cluster = etcdOf(run, 'traces')
  for (const node of cluster === undefined ? [] : nodesOf(cluster))
    if (/croft\.dev/.test(JSON.stringify(node.metadata))) found.push(`Node ${node.metadata.name}`)
  if (/croft\.dev/.test(JSON.stringify(notesOf(run).metadata))) found.push('ConfigMap notes')
  return found.filter((one) => !one.endsWith('/croft-kube-vip.yaml'))
}

function notesOf(run: Run) {
  const cluster = etcdOf(run, 'notes')
  const notes = cluster === undefined ? undefined : find(cluster.store, '/configmaps', 'default', 'notes')
  assert.ok(notes)
  return notes
}

/** Passes for a while; returns the calls that write. */
async function writesOf(run: Run): Promise<readonly string[]> {
  const from = run.requests.length
  const process = run.start()
  await run.passes(process, 20)
  process.kill()
  return run.requests.slice(from).filter((line) => !/^GET |\/agent\//.test(line))
}

test('croft leaves a cluster: nothing of it stays, K3s is the same process, and no later pass undoes that', async () => {
  const run = await kept('leaves')
  const before = world(run)
  assert.ok(traces(run).length > 20, 'nothing was there to be taken off')
  // Half of it, and without a database: what cannot be reached keeps its mark.
  const silent = [...run.datacentre.world.guests.values()].find((guest) => guest.config.get('name') === 'a1')
  assert.ok(silent)
  silent.trouble.agentSilent = true
  const left = await leave(run, undefined, createMemoryStore().disk)
  assert.deepEqual([...left.keys()], ['node a1'])
  assert.match(silent.config.get('tags') ?? '', /croft/)
  silent.trouble.agentSilent = false
  assert.deepEqual([...(await leave(run))], [])
  assert.deepEqual(traces(run), [])
  assert.deepEqual(world(run), before)
  const [first] = run.datacentre.world.guests.values()
  assert.deepEqual([first?.config.get('tags'), first?.config.get('description')], ['precious', 'of the attic'])
  assert.deepEqual(notesOf(run).data, { a: 'b' })
  assert.deepEqual([...(await leave(run, 'Cluster/homelab'))], [], 'once more')
  // Git still declares it: nothing is made a second time. Then Git does not: nothing is destroyed.
  await writesOf(run)
  assert.equal(run.datacentre.world.guests.size, before.length)
  run.estate = clusterEstate('')
  assert.deepEqual(await writesOf(run), [])
  assert.deepEqual(
    world(run).map(({ k3s }) => k3s),
    before.map(({ k3s }) => k3s),
  )
})
