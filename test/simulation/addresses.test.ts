import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom } from './manifests.ts'
import { simulate } from './run.ts'

const vm = (name: string, vmid: number, address: string) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: fun-bedbug
    name: ${name}
    vmId: ${vmid}
    started: true
    memory: [{dedicated: 1024}]
    disk: [{interface: scsi0, datastoreId: local, size: 4}]
    networkDevice: [{bridge: vmbr0, model: virtio}]
    initialization: [{datastoreId: local, userAccount: [{username: ubuntu}], ipConfig: [{ipv4: [{address: ${address}}]}]}]
`
const CONNECTION = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://192.168.4.17:8006", token: {env: PROXMOX_TOKEN}}
`

/** What is planned for the new machine, beside a guest of somebody else that has 192.168.4.50. */
async function planned(address: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const estate = estateFrom({ 'c.yaml': CONNECTION, 'web.yaml': vm('web', 205, address), ...more })
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  const run = simulate({ seed: 1, estate })
  run.datacentre.patchGuest(108, { ipconfig0: 'ip=192.168.4.50/24,gw=192.168.4.1' })
  const { engine } = run.start()
  const { entries } = await run.clock.runUntil(engine.plan(estate, new AbortController().signal))
  const action = entries.find(({ key }) => key === 'EnvironmentVM/web')?.action
  return action?.do === 'refuse' ? `refuse ${action.guard}: ${action.reason}` : `${action?.do}`
}

test('[D-10] a machine with the address of a guest that is there is refused in the plan, with the reason', async () => {
  assert.match(
    await planned('192.168.4.50/24'),
    /^refuse address: 192\.168\.4\.50 is in use by VM 108 \([^)]+\) on \S+/,
  )
  assert.equal(await planned('192.168.4.51/24'), 'create')
  assert.equal(await planned('dhcp'), 'create')
})

test('[D-10] so is one with the address of a hypervisor, or of another machine that is declared', async () => {
  assert.equal(await planned('192.168.4.17/24'), 'refuse address: 192.168.4.17 is in use by the connection default')
  const other = { 'a.yaml': vm('app', 206, '192.168.4.60/24') }
  assert.equal(await planned('192.168.4.60/24', other), 'refuse address: 192.168.4.60 is in use by EnvironmentVM/app')
})

test('[D-10] a machine that was made keeps its address, also when it is planned again', async () => {
  const estate = estateFrom({ 'c.yaml': CONNECTION, 'web.yaml': vm('web', 205, '192.168.4.70/24') })
  const run = simulate({ seed: 1, estate })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.ok(run.datacentre.world.guests.has(205))
  const { engine } = run.start()
  const { entries } = await run.clock.runUntil(engine.plan(estate, new AbortController().signal))
  assert.deepEqual(
    entries.map(({ action }) => action.do),
    ['nothing'],
  )
})
