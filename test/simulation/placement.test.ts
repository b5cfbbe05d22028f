import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlanEntry } from '../../src/model/plan.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateFrom, IMAGE } from './manifests.ts'
import { nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import { type Simulation, simulate } from './run.ts'

const HOSTS = ['fun-bedbug', 'pumped-piglet', 'still-fawn']
const own = (kind: string, name: string, spec: string, metadata = '') => `apiVersion: croft.dev/v1alpha1
kind: ${kind}
metadata: {name: ${name}${metadata}}
spec: ${spec}
`

/** Everything but the machines. `storages` may be said for each host. */
function site(more: { storages?: Readonly<Record<string, string>>; labels?: Readonly<Record<string, string>> } = {}) {
  const files: Record<string, string> = {
    'site.yaml': [
      own('Proxmox', 'default', '{endpoint: "https://127.0.0.1:8006", token: {env: T}, vmids: {from: 300, to: 399}}'),
      own('Image', 'noble', `{url: "https://cloud-images.ubuntu.com/noble/current/${IMAGE}", storage: files}`),
    ].join('---\n'),
  }
  for (const host of HOSTS) {
    const storages = more.storages?.[host] ?? '{fast: local-zfs, files: local}'
    const labels = more.labels?.[host]
    files[`hosts/${host}.yaml`] = own(
      'Host',
      host,
      `{bindings: {networks: {lan: {bridge: vmbr0}}, storages: ${storages}}}`,
      labels === undefined ? '' : `, labels: ${labels}`,
    )
  }
  return files
}

function machine(name: string, spec = '', memory = '2Gi'): string {
  return own(
    'Machine',
    name,
    `{host: auto, cpu: {cores: 2}, memory: ${memory}, disks: [{size: 10Gi, image: noble, storage: fast}], networks: [{network: lan}], ${spec}}`,
  )
}

function estateWith(files: Record<string, string>) {
  const estate = estateFrom(files)
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  return estate
}

const hostsOf = (run: Simulation) =>
  [...run.datacentre.world.guests.values()]
    .filter(({ vmid }) => vmid >= 300)
    .sort((a, b) => a.vmid - b.vmid)
    .map(({ node }) => node)

const entryOf = (entries: readonly PlanEntry[], key: string) => {
  const entry = entries.find((one) => one.key === key)
  assert.ok(entry, key)
  return entry
}

test('machines that leave their host to croft are spread, stay where they are, and only there an image is fetched', async () => {
  const files = site()
  for (const at of [1, 2, 3]) files[`web-${at}.yaml`] = machine(`web-${at}`, 'placement: {spread: web}')
  const run = simulate({ seed: 1, estate: estateWith(files) })
  const before = strangersOf(run.datacentre)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(hostsOf(run).sort(), HOSTS)
  nothingDoubledOrLost(run, before, 'spread')

  // A lost store, another machine, a host that is emptier now: no machine moves.
  run.disk = createMemoryStore().disk
  const placed = hostsOf(run)
  run.estate = estateWith({ ...files, 'web-4.yaml': machine('web-4', 'placement: {spread: web}') })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(hostsOf(run).slice(0, 3), placed)
  assert.equal(hostsOf(run).length, 4)
  await quietFor(run, 5, 'placed')
})

test('of machines that must be apart the one too many is refused, and the plan says why for every host', async () => {
  const files = site()
  for (const at of [1, 2, 3, 4]) files[`db-${at}.yaml`] = machine(`db-${at}`, 'placement: {apart: db}')
  const run = simulate({ seed: 2, estate: estateWith(files) })
  let last: readonly PlanEntry[] = []
  assert.equal(await run.untilSettled(run.start(), { onPass: ({ plan }) => (last = plan.entries) }), 'settled')
  assert.deepEqual(hostsOf(run).sort(), HOSTS)
  const { action } = entryOf(last, 'Machine/db-4')
  assert.equal(action.do, 'refuse')
  assert.match(action.do === 'refuse' ? action.reason : '', /no host can take it: fun-bedbug holds another one of db/)
})

test('room, labels and closed hosts decide where a new machine goes', async () => {
  const labels = { 'still-fawn': '{disk: quick}' }
  const files = { ...site({ labels }), 'a.yaml': machine('a', 'placement: {labels: {disk: quick}}') }
  const run = simulate({ seed: 3, estate: estateWith(files) })
  await run.untilSettled(run.start())
  assert.deepEqual(hostsOf(run), ['still-fawn'])

  const big = simulate({ seed: 3, estate: estateWith({ ...site(), 'a.yaml': machine('a', '', '4000Gi') }) })
  const [report] = await big.passes(big.start(), 1)
  const { action } = entryOf(report?.plan.entries ?? [], 'Machine/a')
  assert.match(
    action.do === 'refuse' ? action.reason : '',
    /fun-bedbug has .* GiB of memory free, and 4000 GiB are needed/,
  )
  assert.equal(big.datacentre.writes.length, 0)
})

test('[A29] [R45] a host that was too busy for ten minutes gets no new machine, and the plan says so', async () => {
  const only = { 'fun-bedbug': '{files: local}', 'still-fawn': '{files: local}' }
  const run = simulate({ seed: 4, estate: estateWith({ ...site({ storages: only }), 'a.yaml': machine('a') }) })
  run.datacentre.hostLoad('pumped-piglet', 0.97)
  await run.clock.advanceTo(run.clock.now() + 11 * 60_000)
  const [report] = await run.passes(run.start(), 1)
  const { action } = entryOf(report?.plan.entries ?? [], 'Machine/a')
  assert.equal(action.do, 'refuse')
  assert.match(action.do === 'refuse' ? action.reason : '', /pumped-piglet has been busier than 90 % for 1[01] minutes/)
  assert.equal(hostsOf(run).length, 0)

  run.datacentre.hostLoad('pumped-piglet', 0.2)
  await run.clock.advanceTo(run.clock.now() + 2 * 60_000)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(hostsOf(run), ['pumped-piglet'])
})

test('[A19] names that no host binds together are an error that names the hosts which have them', () => {
  const storages = {
    'fun-bedbug': '{files: local}',
    'still-fawn': '{files: local}',
    'pumped-piglet': '{fast: local-zfs}',
  }
  const estate = estateFrom({ ...site({ storages }), 'a.yaml': machine('a') })
  const problem = estate.problems.find(({ object }) => object === 'Machine/a')
  assert.match(problem?.message ?? '', /fun-bedbug does not bind the storage fast; it is bound on pumped-piglet/)
  assert.match(problem?.message ?? '', /pumped-piglet does not bind the storage files/)
})

const fixed = (host: string, more = '') =>
  own(
    'Machine',
    'a',
    `{host: ${host}, cpu: {cores: 2}, memory: 2Gi, disks: [{size: 10Gi, image: noble, storage: fast}], networks: [{network: lan}], ${more}}`,
  )

test('a changed host moves the machine while it runs, to where the host has its storage', async () => {
  const storages = { 'still-fawn': '{fast: local, files: local}' }
  const files = site({ storages })
  const run = simulate({ seed: 5, estate: estateWith({ ...files, 'a.yaml': fixed('fun-bedbug') }) })
  const before = strangersOf(run.datacentre)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const guest = run.datacentre.world.guests.get(300)
  const since = guest?.run.startedAtMs

  run.estate = estateWith({ ...files, 'a.yaml': fixed('still-fawn') })
  const planned = await run.clock.runUntil(run.start().engine.plan(run.estate, new AbortController().signal))
  const { action } = entryOf(planned.entries, 'Machine/a')
  assert.equal(action.do, 'update')
  assert.deepEqual(action.do === 'update' ? action.changes.map(({ path, from, to }) => [path, from, to]) : [], [
    ['host', 'fun-bedbug', 'still-fawn'],
  ])
  assert.deepEqual(action.do === 'update' ? action.steps.map(({ summary }) => summary) : [], [
    'move VM 300 from fun-bedbug to still-fawn while it runs',
  ])
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(guest?.node, 'still-fawn')
  assert.equal(guest?.run.startedAtMs, since)
  nothingDoubledOrLost(run, before, 'moved')
  await quietFor(run, 5, 'moved')
})

test('[R48] a machine is not moved where its storage is missing, and the plan says where it could go', async () => {
  const files = site()
  const run = simulate({ seed: 6, estate: estateWith({ ...files, 'a.yaml': fixed('fun-bedbug') }) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const there = {
    ...site({ storages: { 'still-fawn': '{fast: nowhere, files: local}' } }),
    'a.yaml': fixed('still-fawn'),
  }
  run.estate = estateWith(there)
  const writes = run.datacentre.writes.length
  const [report] = await run.passes(run.start(), 1)
  const { action } = entryOf(report?.plan.entries ?? [], 'Machine/a')
  assert.equal(action.do, 'refuse')
  assert.match(
    action.do === 'refuse' ? action.reason : '',
    /cannot be moved to still-fawn, which has no storage nowhere/,
  )
  assert.deepEqual(
    run.datacentre.writes.slice(writes).filter(({ path }) => path.includes('/qemu/')),
    [],
  )
  assert.deepEqual(hostsOf(run), ['fun-bedbug'])
})

const gpu = (host: string) =>
  own('Device', 'rtx3070', `{host: ${host}, pci: {id: "10de:2484", address: "0000:01:00.0", iommuGroup: 12}}`)
const coral = (host: string) =>
  own('Device', 'coral', `{host: ${host}, usb: {ids: ["1a6e:089a", "18d1:9302"], port: 1-2}}`)

/** Puts the hardware into a simulated host. */
function plugIn(run: Simulation, host: string): void {
  run.datacentre.world.hosts.get(host)?.pci.push({ path: '0000:01:00.0', id: '10de:2484' })
  run.datacentre.world.hosts.get(host)?.usb.push({ path: '1-2', id: '1a6e:089a' })
}

test('[A26] devices that are declared once are attached by their mapping, as a token may that could never attach them raw', async () => {
  const files = { ...site(), 'devices.yaml': `${gpu('still-fawn')}---\n${coral('still-fawn')}` }
  const estate = estateWith({ ...files, 'a.yaml': machine('a', 'devices: [rtx3070, coral], proxmox: {machine: q35}') })
  const run = simulate({ seed: 7, estate })
  plugIn(run, 'still-fawn')
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const guest = run.datacentre.world.guests.get(300)
  assert.deepEqual([guest?.node, guest?.run.status], ['still-fawn', 'running'])
  assert.equal(guest?.config.get('hostpci0'), 'mapping=rtx3070,pcie=1')
  assert.equal(guest?.config.get('usb0'), 'mapping=coral')
  assert.equal(run.datacentre.world.shelves.get('mapping/pci')?.has('rtx3070'), true)

  // Once its firmware is loaded the same stick has another id, and the guest would not start with the old one.
  const usb = run.datacentre.world.hosts.get('still-fawn')?.usb
  usb?.splice(0, 1, { path: '1-2', id: '18d1:9302' })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const map = run.datacentre.world.shelves.get('mapping/usb')?.get('coral')?.map
  assert.match(String(map), /id=18d1:9302/)
  // While it is not plugged in at all, either id will do.
  usb?.splice(0, 1)
  await quietFor(run, 3, 'unplugged')
})

test('a device that is plugged in elsewhere takes its machine along: one changed line, every consequence in the plan', async () => {
  const files = site()
  const a = machine('a', 'devices: [rtx3070]')
  const run = simulate({ seed: 8, estate: estateWith({ ...files, 'd.yaml': gpu('still-fawn'), 'a.yaml': a }) })
  for (const host of HOSTS) plugIn(run, host)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.estate = estateWith({ ...files, 'd.yaml': gpu('fun-bedbug'), 'a.yaml': a })
  const planned = await run.clock.runUntil(run.start().engine.plan(run.estate, new AbortController().signal))
  const steps = planned.entries.flatMap(({ action }) => ('steps' in action ? action.steps : []))
  assert.deepEqual(
    steps.map(({ summary }) => summary).filter((summary) => !/noble/.test(summary)),
    [
      'set devices of PCI mapping rtx3070',
      'shut down VM 300 on still-fawn, because hardware of the host cannot move along',
      'move VM 300 from still-fawn to fun-bedbug',
      'start VM 300 on fun-bedbug',
    ],
  )
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const guest = run.datacentre.world.guests.get(300)
  assert.deepEqual([guest?.node, guest?.run.status], ['fun-bedbug', 'running'])
})

test('a device is in one machine and on one host', () => {
  const complaints = (files: Record<string, string>) =>
    estateFrom({ ...site(), ...files })
      .problems.filter(({ severity }) => severity === 'error')
      .map(({ message }) => message)
  const d = { 'd.yaml': `${gpu('still-fawn')}---\n${coral('fun-bedbug')}` }
  assert.match(
    complaints({
      ...d,
      'a.yaml': machine('a', 'devices: [rtx3070]'),
      'b.yaml': machine('b', 'devices: [rtx3070]'),
    }).join(),
    /also given to Machine\/b/,
  )
  assert.match(
    complaints({ ...d, 'a.yaml': machine('a', 'devices: [rtx3070, coral]') }).join(),
    /a machine is on one host only/,
  )
  assert.match(
    complaints({ ...d, 'a.yaml': fixed('pumped-piglet', 'devices: [coral]') }).join(),
    /coral is plugged into fun-bedbug, and the machine is on pumped-piglet/,
  )
  assert.match(complaints({ ...d, 'a.yaml': machine('a', 'devices: [tpu]') }).join(), /there is no Device tpu/)
})
