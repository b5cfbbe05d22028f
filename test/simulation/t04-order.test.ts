import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PassReport } from '../../src/engine/engine.ts'
import { estateFrom } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const HOST = 'fun-bedbug'

function connection(more = ''): string {
  return `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: 'https://127.0.0.1:8006', token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 399}${more}}
`
}

function vm(name: string, more: string): string {
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: ${HOST}
    started: false
    cpu: [{cores: 1}]
    memory: [{dedicated: 512}]
${more.replace(/^/gm, '    ')}
`
}

function own(kind: string, name: string, spec: string): string {
  return `apiVersion: croft.dev/v1alpha1
kind: ${kind}
metadata: {name: ${name}}
spec: ${spec}
`
}

function good(files: Readonly<Record<string, string>>) {
  const estate = estateFrom(files)
  assert.deepEqual(
    estate.problems.filter((problem) => problem.severity === 'error'),
    [],
  )
  return estate
}

/** Lets a controller run to its end and gives what it said last. */
async function settle(run: Simulation, options: { readonly retryStalled?: boolean } = {}): Promise<PassReport> {
  const reports: PassReport[] = []
  assert.equal(await run.untilSettled(run.start(options), { onPass: (report) => reports.push(report) }), 'settled')
  const last = reports.at(-1)
  assert.ok(last !== undefined)
  return last
}

function refusals(report: PassReport): readonly string[] {
  return report.plan.entries.flatMap(({ key, action }) => (action.do === 'refuse' ? [`${key}: ${action.reason}`] : []))
}

const DISK = 'disk: [{interface: scsi0, datastoreId: local, size: 1}]'

test('[T-04] what stalled is tried once more when its cause is gone, whenever its turn comes, and then is well', async () => {
  const estate = good({
    'connection.yaml': connection(', limits: {perHost: 1, perStorage: 1}'),
    ...Object.fromEntries(['a', 'b', 'c'].map((name) => [`${name}.yaml`, vm(name, `poolId: later\n${DISK}`)])),
  })
  const run = simulate({ seed: 4, estate })
  assert.equal(refusals(await settle(run)).length, 3, 'without the pool all of them stall')
  run.datacentre.world.pools.set('later', { id: 'later', comment: '', guests: new Set(), storages: new Set() })
  const last = await settle(run, { retryStalled: true })
  assert.deepEqual(refusals(last), [])
  assert.deepEqual(
    last.records.map(({ failure, stalledGeneration }) => failure ?? stalledGeneration),
    last.records.map(() => undefined),
  )
  assert.equal(run.datacentre.world.pools.get('later')?.guests.size, 3)
})

test('[T-05] what is named comes first: pools, users, vnets and the guests of high availability', async () => {
  const estate = good({
    'connection.yaml': connection(),
    'a-vm.yaml': vm('a', `vmId: 310\npoolId: prod/web\n${DISK}`),
    'b-ha.yaml': own('ProxmoxHaResource', 'a', '{id: "vm:310", state: stopped}'),
    'c-pool.yaml': own('ProxmoxPool', 'web', '{id: prod/web}'),
    'd-pool.yaml': own('ProxmoxPool', 'prod', '{}'),
    'e-token.yaml': own('ProxmoxToken', 'ci', '{user: ci@pve}'),
    'f-user.yaml': own('ProxmoxUser', 'ci', '{id: ci@pve}'),
    'g-subnet.yaml': own('ProxmoxSdnSubnet', 'net', '{id: 10.5.0.0/24, vnet: apps}'),
    'h-vnet.yaml': own('ProxmoxSdnVnet', 'apps', '{zone: lab}'),
    'i-zone.yaml': own('ProxmoxSdnZone', 'lab', '{type: simple}'),
  })
  const run = simulate({ seed: 5, estate })
  const reports: PassReport[] = []
  assert.equal(await run.untilSettled(run.start(), { onPass: (report) => reports.push(report) }), 'settled')
  const warnings = reports.flatMap(({ events }) => events.filter(({ type }) => type === 'Warning'))
  assert.deepEqual(
    warnings.map(({ key, message }) => `${key} ${message}`),
    [],
  )
  const waits = new Set(
    reports.flatMap(({ plan }) => plan.entries.flatMap(({ action }) => (action.do === 'wait' ? [action.message] : []))),
  )
  assert.ok(
    [...waits].every((message) => !/no host/.test(message)),
    [...waits].join('\n'),
  )
  assert.deepEqual(refusals(reports.at(-1) as PassReport), [])
  assert.ok(run.datacentre.world.pools.get('prod/web')?.guests.has(310))
  assert.ok(run.datacentre.world.shelves.get('ha/resources')?.has('vm:310'))
  assert.ok(reports.length < 30, `${reports.length} passes`)
})

test('[T-06] a bridge that passes VLANs on no longer does when that is declared', async () => {
  const bridge = (aware: boolean) =>
    good({
      'connection.yaml': connection(),
      'bridge.yaml': own('ProxmoxBridge', 'vmbr7', `{host: ${HOST}, vlanAware: ${aware}, autostart: true}`),
    })
  const run = simulate({ seed: 6, estate: bridge(true) })
  await settle(run)
  const entry = () => run.datacentre.world.hosts.get(HOST)?.interfaces.get('vmbr7')
  assert.equal(entry()?.bridge_vlan_aware, 1)
  run.estate = bridge(false)
  const last = await settle(run)
  assert.deepEqual(refusals(last), [])
  assert.equal(entry()?.bridge_vlan_aware, undefined)
  const update = run.datacentre.writes.findLast(({ path }) => path.endsWith('/network/vmbr7'))
  assert.equal(update?.params.delete, 'bridge_vlan_aware')
})

test('[T-07] protection is lifted first where a disk goes with it, and firmware may say a comma', async () => {
  const disks = '{interface: scsi0, datastoreId: local, size: 1}'
  const machine = (protection: boolean, more: string) =>
    good({
      'connection.yaml': connection(),
      'a.yaml': vm(
        'a',
        `vmId: 311\nprotection: ${protection}\ndisk: [${disks}${more}]\nsmbios: [{manufacturer: "ACME, Inc.", product: "A, B"}]`,
      ),
    })
  const run = simulate({ seed: 7, estate: machine(true, ', {interface: scsi1, datastoreId: local, size: 1}') })
  await settle(run)
  const config = () => run.datacentre.world.guests.get(311)?.config
  assert.match(config()?.get('smbios1') ?? '', /base64=1,manufacturer=QUNNRSwgSW5jLg==/)
  assert.equal(config()?.get('protection'), '1')
  run.estate = machine(false, '')
  assert.deepEqual(refusals(await settle(run)), [])
  assert.notEqual(config()?.get('protection'), '1')
  assert.equal(config()?.get('scsi1'), undefined)
})
