import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simWire } from '../../sim/wire.ts'
import { proxmoxDriver } from '../../src/drivers/proxmox/driver.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Shell } from '../../src/lib/shell.ts'
import { Secret } from '../../src/model/secret.ts'
import { machine, valid, WEB } from './libvirt-machines.ts'
import { simulateLibvirt } from './libvirt-run.ts'
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

/** What is planned for the new machine, beside a foreign guest with 192.168.4.50. */
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
    /^refuse address-in-use: 192\.168\.4\.50 is in use by VM 108 \([^)]+\) on \S+/,
  )
  assert.equal(await planned('192.168.4.51/24'), 'create')
  assert.equal(await planned('dhcp'), 'create')
})

test('[D-10] so is one with the address of a hypervisor, or of another machine that is declared', async () => {
  assert.equal(
    await planned('192.168.4.17/24'),
    'refuse address-in-use: 192.168.4.17 is in use by the connection default',
  )
  const other = { 'a.yaml': vm('app', 206, '192.168.4.60/24') }
  assert.equal(
    await planned('192.168.4.60/24', other),
    'refuse address-in-use: 192.168.4.60 is in use by EnvironmentVM/app',
  )
})

test('[D-10] so is one with the address of any node, also when the connection goes elsewhere, and only that', async () => {
  const elsewhere = { 'c.yaml': CONNECTION.replace('192.168.4.17', '127.0.0.1') }
  const { hosts } = simulate({ seed: 1, estate: estateFrom(elsewhere) }).datacentre.world
  assert.ok(hosts.size > 1)
  for (const { name, address } of hosts.values()) {
    const refused = `refuse address-in-use: ${address} is in use by host ${name} itself`
    assert.equal(await planned(`${address}/24`, elsewhere), refused)
    assert.equal(await planned(`${address}9/24`, elsewhere), 'create', 'an address that begins alike')
  }
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

for (const [what, prepare, expected] of [
  [
    'leased by DHCP',
    ({ host }) => host.leases.set('192.168.122.20', { mac: '52:54:00:12:34:56', name: 'printer' }),
    '192.168.122.20 is in use by 52:54:00:12:34:56 (printer), which has it by DHCP from the network default of kvm',
  ],
  [
    'of a computer that answers on the network',
    ({ host }) => host.neighbours.set('192.168.122.20', { mac: '52:54:00:12:34:57', state: 'REACHABLE' }),
    '192.168.122.20 is in use by 52:54:00:12:34:57, which answers on the network of kvm',
  ],
] as readonly (readonly [string, (run: ReturnType<typeof simulateLibvirt>) => void, string])[])
  test(`[D-10] a machine with an address ${what} is not made, and says whose it is`, async () => {
    const run = simulateLibvirt(1, valid({ 'web.yaml': `${WEB}${machine('web', '192.168.122.20')}` }), 'kvm')
    run.deadlineMs = 300_000
    prepare(run)
    let action: unknown
    await run.settle(undefined, ({ plan }) => {
      action = plan.entries.find(({ key }) => key === 'Machine/web')?.action
    })
    assert.equal(run.host.domains.size, 0)
    assert.ok(typeof action === 'object' && action !== null && 'reason' in action, JSON.stringify(action))
    assert.equal(action.reason, expected)
  })

test('[D-10] an address that the host only remembers, or whose lease is another one, is free', async () => {
  const run = simulateLibvirt(1, valid({ 'web.yaml': `${WEB}${machine('web', '192.168.122.20')}` }), 'kvm')
  run.host.neighbours.set('192.168.122.20', { mac: '52:54:00:12:34:57', state: 'STALE' })
  run.host.leases.set('192.168.122.21', { mac: '52:54:00:12:34:56', name: 'printer' })
  assert.equal(await run.settle(), 'settled')
  assert.equal(run.host.domains.size, 1)
})

test('[D-10] a Proxmox node is asked over its root lane', async () => {
  const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
  const host = `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: fun-bedbug}
spec: {ssh: {address: 192.168.4.20, hostKeys: ["${KEY}"]}}
`
  const estate = estateFrom({ 'c.yaml': CONNECTION, 'h.yaml': host })
  const [connection] = estate.connections
  assert.ok(connection)
  const asked: string[][] = []
  let closed = 0
  const stdout = '192.168.4.51 dev vmbr0 lladdr 52:54:00:aa:bb:02 REACHABLE\n'
  const shell: Shell = {
    run: async (argv) => {
      asked.push([...argv])
      return { code: 0, stdout, stderr: '' }
    },
    readFile: () => Promise.resolve(undefined),
    writeFile: () => Promise.resolve(),
    close: async () => {
      closed++
    },
  }
  const run = simulate({ seed: 1, estate })
  const session = proxmoxDriver.connect(connection, {
    clock: run.clock,
    random: seededRandom(1),
    openWire: () => simWire(run.datacentre),
    resolveSecret: async () => new Secret('x'),
    openShell: () => shell,
  })
  const { signal } = new AbortController()
  const by = '52:54:00:aa:bb:02, which answers on the network of fun-bedbug'
  assert.deepEqual(await session.addresses?.inUse('fun-bedbug', ['192.168.4.51', '192.168.4.52'], signal), [
    { address: '192.168.4.51', by, hardware: '52:54:00:aa:bb:02' },
  ])
  assert.deepEqual(asked[0]?.slice(-2), ['192.168.4.51', '192.168.4.52'])
  assert.deepEqual(await session.addresses?.inUse('still-fawn', ['192.168.4.51'], signal), [], 'no lane, nobody to ask')
  assert.deepEqual([asked.length, closed], [1, 1])
})
