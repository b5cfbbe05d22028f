import assert from 'node:assert/strict'
import { test } from 'node:test'
import { volumes } from '../../sim/libvirt/domains.ts'
import { virsh } from '../../sim/libvirt/virsh.ts'
import type { Plan } from '../../src/model/plan.ts'
import { TWO } from './libvirt-machines.ts'
import { simulateLibvirt } from './libvirt-run.ts'
import { estateFrom } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

/* What croft created once is not for ever the remains of a creation. */

const MONTH_MS = 30 * 86_400_000
const HOST = 'fun-bedbug'

const CONNECTION = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:8006
  token: {env: PROXMOX_TOKEN}
  vmids: {from: 300, to: 399}
`

const VM = (name: string, host: string, vmid: number) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}, annotations: {croft.dev/protect: "true"}}
spec:
  forProvider:
    nodeName: ${host}
    vmId: ${vmid}
    cpu: [{cores: 2}]
    memory: [{dedicated: 1024}]
    disk:
      - {interface: scsi0, datastoreId: local, size: 4}
      - {interface: scsi1, datastoreId: local, size: 100}
    networkDevice: [{bridge: vmbr0}]
`

const CONTAINER = (name: string, vmid: number) => `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: debian}
spec:
  forProvider: {nodeName: ${HOST}, datastoreId: local, contentType: vztmpl, url: 'https://images.test/debian-12.tar.zst'}
---
apiVersion: virtualenvironmentcontainer.crossplane.io/v1alpha1
kind: EnvironmentContainer
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: ${HOST}
    vmId: ${vmid}
    operatingSystem: [{templateFileId: 'local:vztmpl/debian-12.tar.zst'}]
    disk: [{datastoreId: local, size: 8}]
    networkInterface: [{name: eth0, bridge: vmbr0}]
`

const estate = estateFrom({
  'p.yaml': CONNECTION,
  'a.yaml': VM('db-1', HOST, 201),
  'b.yaml': VM('db-2', 'still-fawn', 202),
  'c.yaml': VM('db-3', 'pumped-piglet', 203),
  'd.yaml': CONTAINER('dns', 204),
})

function disksOf(run: Simulation, vmid: number): readonly string[] {
  const host = run.datacentre.world.hosts.get(HOST)
  return [...(host?.volumes ?? [])]
    .flatMap(([storage, there]) => [...there.values()].map((one) => ({ ...one, storage })))
    .filter((one) => one.vmid === vmid)
    .map(({ storage, name, sizeBytes, ctimeSeconds }) => `${storage}:${name} ${sizeBytes} ${ctimeSeconds}`)
    .sort()
}

function actionOn(plan: Plan | undefined, key: string) {
  return plan?.entries.find((entry) => entry.key === key)?.action
}

const GUESTS = [
  { key: 'EnvironmentVM/db-1', vmid: 201, disks: 2 },
  { key: 'EnvironmentContainer/dns', vmid: 204, disks: 1 },
] as const

const LOSSES: Readonly<Record<string, (run: Simulation, vmid: number) => void>> = {
  'its configuration is empty after a power cut': (run, vmid) => run.datacentre.world.guests.get(vmid)?.config.clear(),
  'its configuration is lost with its host’s disk': (run, vmid) => run.datacentre.world.guests.delete(vmid),
  'a restore over it broke off': (run, vmid) => {
    const guest = run.datacentre.world.guests.get(vmid)
    assert.ok(guest)
    guest.config.clear()
    guest.config.set('lock', 'create')
    guest.run.status = 'stopped'
  },
}

for (const { key, vmid, disks } of GUESTS)
  for (const [what, lose] of Object.entries(LOSSES))
    test(`${key} runs for a month, and ${what}: its disks stay, and no empty one is created`, async () => {
      const run = simulate({ seed: 1, estate, preset: 'hosts' })
      assert.equal(await run.untilSettled(run.start()), 'settled')
      await run.clock.advanceTo(run.clock.now() + MONTH_MS)
      const process = run.start()
      assert.equal(await run.untilSettled(process), 'settled')
      const before = disksOf(run, vmid)
      assert.equal(before.length, disks)

      lose(run, vmid)
      run.requests.length = 0
      let last: Plan | undefined
      await run.untilSettled(process, {
        onPass: ({ plan }) => {
          last = plan
        },
      })
      assert.deepEqual(disksOf(run, vmid), before, 'the very disks that were there')
      const action = actionOn(last, key)
      assert.ok(action?.do === 'refuse' && action.guard === 'vanished', JSON.stringify(action))
      assert.deepEqual(
        run.requests.filter((line) => / (?:DELETE|POST) /.test(line) && line.includes(String(vmid))),
        [],
      )

      // What the message says works: without the guest and its disks, croft creates it again.
      run.datacentre.world.guests.delete(vmid)
      for (const [, there] of run.datacentre.world.hosts.get(HOST)?.volumes ?? [])
        for (const [name, volume] of there) if (volume.vmid === vmid) there.delete(name)
      assert.equal(await run.untilSettled(process), 'settled')
      assert.equal(disksOf(run, vmid).length, disks)
    })

test('a person runs virsh undefine, which keeps the volumes: croft deletes none of them', async () => {
  const run = simulateLibvirt(3, TWO, 'kvm')
  assert.equal(await run.settle(), 'settled')
  await run.clock.advanceTo(run.clock.now() + MONTH_MS)
  assert.equal(await run.settle(), 'settled')
  const domain = [...run.host.domains.values()].find(({ name }) => name === 'web-1')
  assert.ok(domain)
  const kept = () => [...volumes(run.host, 'default').keys()].sort()
  const before = kept()
  const dumped = virsh(run.host, ['dumpxml', '--inactive', domain.uuid], undefined)
  assert.ok('out' in dumped)
  virsh(run.host, ['destroy', domain.uuid], undefined)
  virsh(run.host, ['undefine', domain.uuid], undefined)

  const at = run.writes.length
  let last: Plan | undefined
  await run.settle(undefined, ({ plan }) => {
    last = plan
  })
  assert.deepEqual(kept(), before)
  assert.deepEqual(run.writes.slice(at), [])
  const action = actionOn(last, 'Machine/web-1')
  assert.ok(action?.do === 'refuse' && action.guard === 'vanished', JSON.stringify(action))

  // The definition comes back, as the message asks.
  virsh(run.host, ['define', '/dev/stdin'], dumped.out)
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual(kept(), before)
})
