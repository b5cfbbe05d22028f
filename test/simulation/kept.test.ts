import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disruptionOf } from '../../src/plan/disruption.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateFrom, IMAGE } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const document = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: 'croft.dev/v1alpha1', kind, metadata: { name }, spec })

const HOSTS = ['fun-bedbug', 'pumped-piglet', 'still-fawn']
const NAMES = ['pihole', 'git', 'mail']

/** Containers whose addresses come from a pool that ends there. */
function site(to: number, stated?: string) {
  const machine = (name: string) =>
    document('Machine', name, {
      host: 'fun-bedbug',
      lxc: {},
      cpu: { cores: 1 },
      memory: '512Mi',
      disks: [{ size: '4Gi', image: 'debian', storage: 'disks' }],
      networks: [{ network: 'lan', ...(name === 'mail' && stated !== undefined ? { address: stated } : {}) }],
    })
  const bindings = { networks: { lan: { bridge: 'vmbr0' } }, storages: { disks: 'local-zfs', files: 'local' } }
  const url = 'https://images.test/debian-12.tar.zst'
  return estateFrom({
    'connection.yaml': document('Proxmox', 'default', {
      endpoint: 'https://127.0.0.1:8006',
      token: { env: 'PROXMOX_TOKEN' },
      vmids: { from: 300, to: 399 },
    }),
    'image.yaml': document('Image', 'debian', { url, storage: 'files', content: 'vztmpl' }),
    'pool.yaml': document('AddressPool', 'lan', {
      cidr: '192.168.4.0/24',
      ranges: [{ from: '192.168.4.120', to: `192.168.4.${to}` }],
    }),
    'network.yaml': document('Network', 'lan', { addressPool: 'lan', gateway: '192.168.4.1' }),
    ...Object.fromEntries(HOSTS.map((host) => [`${host}.yaml`, document('Host', host, { bindings })])),
    ...Object.fromEntries(NAMES.map((name) => [`${name}.yaml`, machine(name)])),
  })
}

function cards(run: Simulation): Readonly<Record<string, string>> {
  const guests = [...run.datacentre.world.guests.values()]
  return Object.fromEntries(
    guests.flatMap(({ config }) => {
      const name = config.get('hostname') ?? ''
      return NAMES.includes(name) ? [[name, /ip=[^,]+/.exec(config.get('net0') ?? '')?.[0] ?? '']] : []
    }),
  )
}

test('a pool that grows renumbers no container: not while it runs, not in a new process, not after a loss of the store', async () => {
  const small = site(123)
  assert.deepEqual(
    small.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  const run = simulate({ seed: 5, estate: small })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const before = cards(run)
  assert.equal(Object.keys(before).length, 3)

  const writes = run.datacentre.writes.length
  for (const to of [140, 187]) {
    run.estate = site(to)
    await run.passes(run.start(), 4)
    assert.deepEqual(cards(run), before, `the pool ends at ${to}`)
    run.disk = createMemoryStore().disk
    await run.passes(run.start(), 4)
    assert.deepEqual(cards(run), before, `the pool ends at ${to}, and the store was lost`)
  }
  assert.equal(run.datacentre.writes.length, writes)
})

test('an address that a manifest states is given, as a disruption that the plan shows', async () => {
  const run = simulate({ seed: 5, estate: site(123) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const { git, pihole } = cards(run)
  const moved = site(123, '192.168.4.200')
  const { engine } = run.start()
  const plan = await run.clock.runUntil(engine.plan(moved, new AbortController().signal))
  assert.deepEqual(
    disruptionOf(plan).items.map(({ subject, worst, text }) => [subject, worst, text]),
    [['Machine/mail', 'outage', 'gets another address: 192.168.4.200 instead of 192.168.4.122']],
  )
  run.estate = moved
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(cards(run), { git, pihole, mail: 'ip=192.168.4.200/24' })
})

/** VMs that read their address, from a pool that ends there, in a seed at their first boot. */
function seededSite(to: number, onChange: string) {
  const machine = (name: string) =>
    JSON.stringify({
      apiVersion: 'croft.dev/v1alpha1',
      kind: 'Machine',
      metadata: { name, annotations: { 'croft.dev/replace': 'allowed' } },
      spec: {
        host: 'fun-bedbug',
        cpu: { cores: 1 },
        memory: '1Gi',
        disks: [{ size: '20Gi', image: 'noble', storage: 'disks' }],
        networks: [{ network: 'lan' }],
        user: 'ops',
        agent: true,
        cloudInit: { onChange },
      },
    })
  const bindings = { networks: { lan: { bridge: 'vmbr0' } }, storages: { disks: 'local', files: 'local' } }
  return estateFrom({
    'connection.yaml': document('Proxmox', 'default', {
      endpoint: 'https://127.0.0.1:8006',
      token: { env: 'PROXMOX_TOKEN' },
      vmids: { from: 300, to: 399 },
    }),
    'image.yaml': document('Image', 'noble', {
      url: `https://cloud-images.ubuntu.com/noble/current/${IMAGE}`,
      storage: 'files',
    }),
    'pool.yaml': document('AddressPool', 'lan', {
      cidr: '192.168.4.0/24',
      ranges: [{ from: '192.168.4.120', to: `192.168.4.${to}` }],
    }),
    'network.yaml': document('Network', 'lan', { addressPool: 'lan', gateway: '192.168.4.1' }),
    'host.yaml': document('Host', 'fun-bedbug', { bindings }),
    ...Object.fromEntries(NAMES.map((name) => [`${name}.yaml`, machine(name)])),
  })
}

function remembered(run: Simulation): Readonly<Record<string, string>> {
  return Object.fromEntries(
    NAMES.map((name) => [name, run.disk.records.get(`Machine/${name}`)?.addresses?.join() ?? 'none']),
  )
}

for (const onChange of ['ignore', 'rerun', 'replace'])
  test(`a pool that grows and a store that is lost renumber no seeded VM that has onChange: ${onChange}`, async () => {
    const small = seededSite(123, onChange)
    assert.deepEqual(
      small.problems.filter(({ severity }) => severity === 'error'),
      [],
    )
    const run = simulate({ seed: 5, estate: small })
    assert.equal(await run.untilSettled(run.start()), 'settled')
    const before = remembered(run)
    assert.equal(new Set(Object.values(before)).size, 3)
    const writes = run.datacentre.writes.length
    run.estate = seededSite(187, onChange)
    run.disk = createMemoryStore().disk
    const reports = await run.passes(run.start(), 4)
    const notes = reports.at(-1)?.plan.entries.flatMap((entry) => entry.notes ?? [])
    assert.deepEqual(notes, [], 'the declared seed is the one that was read')
    assert.deepEqual(remembered(run), before)
    assert.deepEqual(run.datacentre.writes.slice(writes), [])
  })
