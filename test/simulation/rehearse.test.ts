import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, estateAt, scratch, start, startSimulator } from '../binary/children.ts'
import { clusterManifests } from '../browser/cluster-manifests.ts'

after(endAll)

interface Told {
  readonly outcome: string
  readonly events: readonly { readonly key?: string; readonly reason: string; readonly message: string }[]
  readonly margins: readonly { readonly cluster: string; readonly lowest: number | 'unknown' }[]
  readonly downtimes: readonly { readonly name: string; readonly ms: number }[]
}

test('an upgrade of a cluster is rehearsed on a twin: its timeline, its lowest quorum margin, how long each node is down; nothing real is written', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--proxy', '--preset', 'hosts', '--speed', '50'], cwd)
  const { hosts } = await simulator.door<{ readonly hosts: readonly { readonly name: string }[] }>('GET', 'state')
  const files = clusterManifests(hosts.map(({ name }) => name))
  const estate = path.join(cwd, 'estate')
  estateAt(estate, simulator, files)
  const env = {
    HOME: path.join(cwd, 'home'),
    PROXMOX_TOKEN: simulator.token,
    HTTPS_PROXY: (simulator as unknown as { readonly proxy: string }).proxy,
  }
  const croft = (...words: string[]) => start([...words, 'estate'], { cwd, env }).ended
  const made = await croft('apply', '--yes', '--timeout', '90s')
  assert.equal(made.code, 0, made.stdout + made.stderr)

  writeFileSync(
    path.join(estate, 'cluster.yaml'),
    (files['cluster.yaml'] ?? '').replace('version: v1.34.3+k3s1', 'version: v1.34.4+k3s1'),
  )
  const guests = async () => (await simulator.door<{ readonly guests: readonly unknown[] }>('GET', 'state')).guests
  const before = JSON.stringify(await guests(), withoutUptime)
  const { code, stdout, stderr } = await croft('rehearse', '--output', 'json')
  assert.equal(code, 0, stdout.slice(-2_000) + stderr)
  const told = JSON.parse(stdout) as Told
  assert.equal(told.outcome, 'settled')
  assert.ok(told.events.some(({ key, message }) => key === 'Cluster/edge' && message.includes('v1.34.4+k3s1')))
  assert.ok(!told.events.some(({ reason }) => reason === 'InitCluster'), 'a cluster that stands is formed again')
  assert.deepEqual(told.margins, [{ cluster: 'edge', lowest: 0 }], 'one of three servers is down at a time')
  assert.deepEqual(told.downtimes.map(({ name }) => name).sort(), ['edge-1', 'edge-2', 'edge-3'])
  assert.equal(JSON.stringify(await guests(), withoutUptime), before, 'a rehearsal changes nothing')
})

function withoutUptime(name: string, value: unknown): unknown {
  return /uptime/i.test(name) ? undefined : value
}
