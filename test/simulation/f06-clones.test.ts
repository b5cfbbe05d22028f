import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'
import { LONG, points, replay, seeds } from './volume.ts'

const FILE = 'f06-clones.test.ts'
const HOST = 'fun-bedbug'
const IMAGE = 'noble-server-cloudimg-amd64.qcow2'

const connection = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: 'https://127.0.0.1:8006', token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 399}}
`

const template = `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: golden}
spec:
  forProvider:
    nodeName: ${HOST}
    vmId: 900
    template: true
    tags: [golden]
    disk: [{interface: scsi0, datastoreId: local, size: 10, importFrom: "local:import/${IMAGE}"}]
    networkDevice: [{bridge: vmbr0}]
    agent: [{enabled: true}]
`

function clone(name: string, more: string): string {
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: ${HOST}
    clone: [{vmId: 900, ${more}}]
    cpu: [{cores: 3}]
    memory: [{dedicated: 1024}]
    tags: [copy]
    disk: [{interface: scsi0, datastoreId: local, size: 15}]
    networkDevice: [{bridge: vmbr0}]
    agent: [{enabled: true}]
`
}

const estate = estateFrom({
  'connection.yaml': connection,
  'golden.yaml': template,
  'full.yaml': clone('full', 'full: true'),
  'linked.yaml': clone('linked', 'full: false'),
})

function copiesOf(run: Simulation) {
  return [...run.datacentre.world.guests.values()].filter((guest) => guest.vmid >= 300 && guest.vmid < 400)
}

function asCloned(run: Simulation, hint: string): void {
  const copies = copiesOf(run)
  assert.deepEqual(copies.map((guest) => guest.config.get('name') ?? '').sort(), ['full', 'linked'], hint)
  for (const { config, run: process, vmid } of copies) {
    assert.equal(config.get('cores'), '3', hint)
    assert.match(config.get('scsi0') ?? '', /size=15G/, hint)
    assert.equal(process.status, 'running', hint)
    // The template's own mark did not come along, and neither did its tags.
    const uids = (config.get('tags') ?? '').split(';').filter((tag) => tag.startsWith('croft-'))
    assert.equal(uids.length, 1, hint)
    assert.ok(!(config.get('tags') ?? '').includes('golden'), hint)
    assert.match(config.get('description') ?? '', new RegExp(`id=${vmid} `), hint)
    const linked = config.get('name') === 'linked'
    assert.equal(/base-900-disk-0/.test(config.get('scsi0') ?? ''), linked, hint)
  }
  assert.equal(run.datacentre.world.guests.get(900)?.config.get('template'), '1', hint)
}

test('a template and its full and linked clones, all declared at once, are made in order and stay', async () => {
  assert.deepEqual(
    estate.problems.filter((problem) => problem.severity === 'error'),
    [],
  )
  const run = simulate({ seed: 6, estate })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  asCloned(run, '')
  const writes = run.datacentre.writes.length
  await run.passes(run.start(), 5)
  assert.equal(run.datacentre.writes.length, writes)
})

test('[F-06] a clone that takes minutes, or half an hour, is one clone', async () => {
  const run = simulate({ seed: 7, estate, timing: { cloneBytesPerSecond: LONG ? 6_000_000 : 60_000_000 } })
  assert.equal(await run.untilSettled(run.start(), { mostMs: 24 * 3_600_000 }), 'settled')
  asCloned(run, '')
  const clones = run.datacentre.writes.filter((write) => write.path.endsWith('/clone'))
  assert.equal(clones.length, 2)
})

test('[F-06] a controller that dies anywhere on the way makes no second copy', async () => {
  for (const seed of seeds(1, 20)) {
    for (const crashAt of points(80, 12)) {
      const hint = replay(FILE, seed, crashAt)
      const run = simulate({ seed, estate, timing: { cloneBytesPerSecond: 500_000_000 } })
      await run.untilSettled(run.start({ crashAt }))
      assert.equal(await run.untilSettled(run.start()), 'settled', hint)
      asCloned(run, hint)
    }
  }
})

test('[F-06] the answer to a clone is lost: the copy is recognised by its id and made ours', async () => {
  for (const seed of seeds(2, 50)) {
    const hint = replay(FILE, seed)
    const run = simulate({ seed, estate, timing: { cloneBytesPerSecond: 200_000_000 } })
    run.datacentre.faults.add({ match: '^POST .*/clone', count: 2, kind: 'drop-after' })
    assert.equal(await run.untilSettled(run.start()), 'settled', hint)
    asCloned(run, hint)
    assert.equal(run.datacentre.writes.filter((write) => write.path.endsWith('/clone')).length, 2, hint)
  }
})
