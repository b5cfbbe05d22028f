import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Wire } from '../../src/lib/wire.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { addonManifest } from './addon-manifests.ts'
import { example, hostsEstate, simulateHosts } from './hosts-run.ts'
import { machine, valid, WEB } from './libvirt-machines.ts'
import { simulateLibvirt } from './libvirt-run.ts'
import { estateOf, SIX } from './manifests.ts'
import { formed, order, orderOf } from './power-run.ts'
import { simulate, storedText } from './run.ts'
import { replay } from './volume.ts'

const never = new AbortController().signal

test('[D-12] a plan writes nothing, neither outside nor to the store: before, during and after, and with a lost store', async () => {
  const hint = replay('plan-writes-nothing.test.ts', 1)
  const run = simulate({ seed: 1, estate: estateOf(SIX) })
  const plan = async () => {
    const before = [run.requests.length, JSON.stringify(createMemoryStore(run.disk).snapshot())]
    await run.clock.runUntil(run.start().engine.plan(run.estate, never))
    const after = [run.requests.length, JSON.stringify(createMemoryStore(run.disk).snapshot())]
    assert.deepEqual(after, before, hint)
  }
  await plan()
  const process = run.start()
  for (let round = 0; round < 6; round++) {
    await run.passes(process, 1)
    await plan()
  }
  await run.untilSettled(run.start())
  await plan()
  run.disk = createMemoryStore().disk
  await plan()
  run.estate = estateOf(SIX.slice(1))
  await plan()
})

/** Everything that would change something inside a cluster. What the API server only tries out changes nothing. */
function listening(changes: string[]) {
  return (wire: Wire, endpoint: string): Wire => ({
    ...wire,
    send: (request, signal) => {
      if (request.method !== 'GET' && !/[?&]dryRun=All(?:&|$)/.test(request.path))
        changes.push(`${endpoint} ${request.method} ${request.path}`)
      return wire.send(request, signal)
    },
  })
}

const BOX = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: small}
spec: {hosts: [duck], files: [{path: /etc/motd, content: "ours\\n"}], sysctl: {net.ipv4.ip_forward: 1}}
---
apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: homelab}
spec:
  version: v1.34.3+k3s1
  endpoint: {dns: k3s.farm.example}
  servers: [{machine: Host/duck, addresses: [192.168.14.4]}]
`

test('[D-12] a plan writes nothing to a box over SSH, to its K3s, or into the cluster on it', async () => {
  const changes: string[] = []
  const settings = (a: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a } })
  const hosts = example('host-config/hosts.yaml')
  const having = (a: string) =>
    hostsEstate([hosts, BOX + addonManifest('settings', '  namespace: default', [settings(a)])])
  const whole = having('b')
  const run = simulateHosts({ seed: 1, estate: whole, onKubernetes: listening(changes) })
  const world = () => ({
    done: [...run.deedsOf('duck')],
    changes: [...changes],
    store: storedText(run.disk),
    vault: [...run.vault.kept],
  })
  const plan = async () => {
    const before = world()
    const { entries, clusters } = await run.clock.runUntil(run.start().engine.plan(run.estate, never), {
      maxMs: 3_600_000,
    })
    assert.deepEqual(world(), before)
    return entries.filter(({ action }) => action.do !== 'nothing').length + (clusters?.[0]?.decision.steps.length ?? 0)
  }
  assert.ok((await plan()) > 0)
  const process = run.start()
  for (let round = 0; round < 3; round++) {
    await run.passes(process, 2)
    await plan()
  }
  assert.equal(await run.untilSettled(process, { mostMs: 1_800_000 }), 'settled')
  assert.ok(run.deedsOf('duck').length > 0 && changes.length > 0, 'there was something to be written')
  assert.equal(await plan(), 0)
  run.estate = having('c')
  assert.equal(await plan(), 1, 'the API server is asked what it would make of it')
  run.disk = createMemoryStore().disk
  run.vault.kept.clear()
  assert.ok((await plan()) > 0, 'CA and token are to be read back')
  run.estate = hostsEstate([hosts, BOX])
  await plan()
})

test('[D-12] a plan writes nothing to a host with libvirt', async () => {
  const web = machine('web', '192.168.122.20', '  userData: {write_files: [{path: /etc/x, content: y}]}\n')
  const run = simulateLibvirt(1, valid({ 'web.yaml': WEB + web }), 'kvm')
  const plan = async () => {
    const before = [run.writes.length, storedText(run.disk)]
    const { entries } = await run.plan()
    assert.deepEqual([run.writes.length, storedText(run.disk)], before, run.writes.slice(Number(before[0])).join('\n'))
    return entries.filter(({ action }) => action.do !== 'nothing').length
  }
  assert.ok((await plan()) > 0)
  assert.equal(await run.settle(12), 'killed')
  await plan()
  assert.equal(await run.settle(), 'settled')
  assert.ok(run.writes.length > 0)
  assert.equal(await plan(), 0)
  run.disk = createMemoryStore().disk
  await plan()
  run.estate = valid({ 'web.yaml': WEB })
  await plan()
})

test('[D-12] a plan switches nothing off, scales nothing and marks nothing, whatever power is ordered', async () => {
  const changes: string[] = []
  const { simulation, process } = await formed(3, '', { onKubernetes: listening(changes) })
  const plan = async () => {
    const before = [[...changes], simulation.requests.length, storedText(simulation.disk)]
    const { powers } = await simulation.clock.runUntil(simulation.start().engine.plan(simulation.estate, never), {
      maxMs: 3_600_000,
    })
    const wrote = simulation.requests.slice(Number(before[1])).filter((line) => !/ POST \S*\/agent\/exec /.test(line))
    assert.deepEqual([[...changes], wrote, storedText(simulation.disk)], [before[0], [], before[2]])
    return powers?.[0]?.decision.steps.length ?? 0
  }
  await plan()
  await order(simulation, orderOf(simulation, 'off'))
  assert.ok((await plan()) > 0, 'there is something to be switched off')
  const first = changes.length
  for (let round = 0; round < 4; round++) {
    await simulation.passes(process, 2)
    await plan()
  }
  assert.ok(changes.length > first, 'and a controller does it')
  await order(simulation, orderOf(simulation, 'on'))
  await plan()
})
