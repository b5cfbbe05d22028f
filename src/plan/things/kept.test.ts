import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findKind } from '../../kinds/registry.ts'
import type { Connection, Estate, KeptChoice, KeptChoices } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { guestIn, type ObservedResource, type Resource, type Survey } from '../../model/resource.ts'
import { readTexts, told } from '../../source/testing/fixture.ts'
import { link } from '../link.ts'
import { fixedAddresses } from './addresses.ts'
import { isKept, keptIn } from './kept.ts'
import { observedWorld, type World } from './world.ts'

/** A small site, as declared at one moment. */
interface Site {
  /** Last number of the end of the range. */
  readonly to: number
  readonly ranges: number
  readonly hosts: readonly string[]
  readonly agents: number
  readonly machines: readonly string[]
  readonly memory: number
  readonly stated: Readonly<Record<string, number>>
  readonly reserved: readonly number[]
  /** Its range has become too small for the network that it is in. */
  readonly wide: boolean
  /** Classes have a second card. */
  readonly second: boolean
  /** Machines that have another class by now. */
  readonly big: readonly string[]
  /** The files are read in another order. */
  readonly turned: boolean
}

const document = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: 'croft.dev/v1alpha1', kind, metadata: { name }, spec })

function estateOf(site: Site): Estate {
  const ranges = [
    { from: '10.0.0.10', to: `10.0.0.${site.to}` },
    ...Array.from({ length: site.ranges }, (_, at) => ({
      from: `10.0.0.${150 + at * 9}`,
      to: `10.0.0.${153 + at * 9}`,
    })),
  ]
  const fingerprint = Array.from({ length: 32 }, () => 'AA').join(':')
  const texts = [
    document('Proxmox', 'home', { endpoint: 'https://pve:8006', fingerprint, token: { env: 'TOKEN' } }),
    document('AddressPool', 'lan', {
      cidr: site.wide ? '10.0.0.0/22' : '10.0.0.0/24',
      ranges,
      reserved: site.reserved.map((at) => `10.0.0.${at}`),
    }),
    document('Network', 'lan', { addressPool: 'lan', gateway: '10.0.0.1', dns: { servers: ['10.0.0.12'] } }),
    document('Image', 'debian', { url: 'https://images.test/debian.qcow2', storage: 'files' }),
    document('AddressPool', 'dmz', { cidr: '10.9.0.0/24' }),
    document('Network', 'dmz', { addressPool: 'dmz' }),
    ...['small', 'big'].map((name) =>
      document('MachineClass', name, {
        cpu: { cores: name === 'big' ? 4 : 1 },
        memory: `${site.memory}Gi`,
        disks: [{ size: '8Gi', image: 'debian', storage: 'files' }],
        networks: cards(site),
      }),
    ),
    ...site.hosts.map((name) =>
      document('Host', name, {
        bindings: { networks: { lan: { bridge: 'vmbr0' }, dmz: { bridge: 'vmbr1' } }, storages: { files: 'local' } },
      }),
    ),
    document('Cluster', 'k', {
      version: 'v1.34.3+k3s1',
      class: 'small',
      servers: [{ name: 's', host: site.hosts[0] }],
      agents: [{ name: 'a', count: site.agents, hosts: site.hosts }],
    }),
    ...site.machines.map((name) => {
      const at = site.stated[name]
      const networks = at === undefined ? {} : { networks: cards(site, `10.0.0.${at}`) }
      return document('Machine', name, {
        host: site.hosts[0],
        class: site.big.includes(name) ? 'big' : 'small',
        ...networks,
      })
    }),
  ]
  if (site.turned) texts.reverse()
  const read = readTexts(Object.fromEntries(texts.map((text, at) => [`${at}.yaml`, text])))
  return link(read, { findKind, problemAt: read.problemAt })
}

function cards({ second }: Site, address?: string): readonly object[] {
  const first = { network: 'lan', ...(address === undefined ? {} : { address }) }
  return second ? [{ network: 'dmz' }, first] : [first]
}

/** The choices of every machine once the estate is applied. */
function inForce({ resources }: Estate): KeptChoices {
  const has = resources.flatMap(({ key, desired }): readonly (readonly [string, KeptChoice])[] => {
    const host = guestIn(desired)?.host
    return host === undefined ? [] : [[key, { addresses: fixedAddresses(desired), node: host }]]
  })
  return new Map(has)
}

const FIRST: Site = {
  to: 40,
  ranges: 0,
  hosts: ['cow', 'hen'],
  agents: 4,
  machines: ['m1', 'm2', 'm3'],
  memory: 1,
  stated: {},
  reserved: [],
  wide: false,
  second: false,
  big: [],
  turned: false,
}

const name = fc.constantFrom('m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7')
const host = fc.constantFrom('cow', 'hen', 'ant', 'bat', 'owl')
const change: fc.Arbitrary<(site: Site) => Site> = fc.oneof(
  fc.integer({ min: 41, max: 90 }).map((to) => (site: Site) => ({ ...site, to })),
  fc.integer({ min: 0, max: 5 }).map((ranges) => (site: Site) => ({ ...site, ranges })),
  host.map((one) => (site: Site) => ({ ...site, hosts: [...new Set([...site.hosts, one])] })),
  fc.integer({ min: 0, max: 7 }).map((agents) => (site: Site) => ({ ...site, agents })),
  name.map((one) => (site: Site) => ({ ...site, machines: [...new Set([...site.machines, one])] })),
  name.map((one) => (site: Site) => ({ ...site, machines: site.machines.filter((other) => other !== one) })),
  fc.constantFrom(1, 2, 4).map((memory) => (site: Site) => ({ ...site, memory })),
  fc.constant((site: Site) => ({ ...site, wide: true })),
  fc.boolean().map((second) => (site: Site) => ({ ...site, second })),
  fc.boolean().map((turned) => (site: Site) => ({ ...site, turned })),
  fc.subarray(['m1', 'm2', 'm3', 'm4']).map((big) => (site: Site) => ({ ...site, big })),
  fc.integer({ min: 10, max: 40 }).map((at) => (site: Site) => ({ ...site, reserved: [...site.reserved, at] })),
  fc.tuple(name, fc.integer({ min: 200, max: 220 })).map(([one, at]) => (site: Site) => {
    const isFree = !Object.values(site.stated).includes(at)
    return isFree ? { ...site, stated: { ...site.stated, [one]: at } } : site
  }),
)

/** Returns the estate with the machines' own values. */
function settled(site: Site, has: KeptChoices): Estate {
  const estate = estateOf(site).keeping?.(has)
  assert.ok(estate)
  return estate
}

/** Returns what each machine lost that no manifest took from it. */
function unasked(before: KeptChoices, after: KeptChoices, site: Site): readonly string[] {
  return [...after].flatMap(([key, { addresses, node }]) => {
    const had = before.get(key)
    if (had === undefined) return []
    const asked = site.stated[key.replace('Machine/', '')] !== undefined
    const moved = (net: string) => {
      const [was, is] = [had.addresses, addresses].map((all) => all.filter((one) => one.startsWith(net)).join())
      // A second card may come and go by the class.
      return was !== is && was !== '' && is !== ''
    }
    const renumbered = (!asked && moved('10.0.')) || moved('10.9.')
    return [
      ...(renumbered ? [`${key} ${had.addresses.join()} -> ${addresses.join()}`] : []),
      ...(node === had.node ? [] : [`${key} ${had.node} -> ${node}`]),
    ]
  })
}

test('a year of pools that grow, hosts added, classes changed: nobody is renumbered or moved unasked', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 12, maxLength: 12 }), (year) => {
      let site = FIRST
      const first = estateOf(site)
      assert.deepEqual(told(first.problems.filter(({ severity }) => severity === 'error')), [])
      let has = inForce(first)
      for (const month of year) {
        site = month(site)
        const next = inForce(settled(site, has))
        assert.deepEqual(unasked(has, next, site), [])
        const all = [...next.values()].flatMap(({ addresses }) => addresses)
        assert.equal(new Set(all).size, all.length, 'no address has two machines')
        assert.ok(!all.includes('10.0.0.12'), 'the name server keeps its address to itself')
        has = next
      }
    }),
    { numRuns: 12 },
  )
})

test('without what was seen the same growth renumbers machines and moves agents', () => {
  const before = inForce(estateOf(FIRST))
  const grown = { ...FIRST, to: 90, hosts: [...FIRST.hosts, 'ant'] }
  assert.ok(unasked(before, inForce(estateOf(grown)), grown).length > 4)
  assert.deepEqual(unasked(before, inForce(settled(grown, before)), grown), [])
})

test('a machine does not keep what a manifest gives to something else, or that is of another network', () => {
  const had = (address: string) => new Map([['Machine/m1', { addresses: [address] }]])
  const now = (site: Site, address: string) => {
    const found = settled(site, had(address)).resources.find(({ key }) => key === 'Machine/m1')
    assert.ok(found)
    return fixedAddresses(found.desired)
  }
  assert.deepEqual(now(FIRST, '10.0.0.99'), ['10.0.0.99'], 'outside the ranges by now')
  assert.deepEqual(now({ ...FIRST, reserved: [33] }, '10.0.0.33'), ['10.0.0.33'], 'reserved after it was given')
  assert.deepEqual(now(FIRST, '10.0.0.12'), ['10.0.0.12'], 'it is the name server')
  assert.notDeepEqual(now(FIRST, '10.0.0.1'), ['10.0.0.1'], 'the gateway')
  assert.notDeepEqual(now(FIRST, '10.7.0.20'), ['10.7.0.20'], 'another network')
  assert.notDeepEqual(now({ ...FIRST, stated: { m2: 50 } }, '10.0.0.50'), ['10.0.0.50'], 'another machine states it')
})

/** Two standalone Proxmox hosts, both called pve. */
function twinHosts(agents: number): Estate {
  const fingerprint = Array.from({ length: 32 }, () => 'AA').join(':')
  const bindings = { networks: { lan: { bridge: 'vmbr0' } }, storages: { files: 'local' } }
  const texts = [
    ...['a', 'b'].map((name) =>
      document('Proxmox', name, { endpoint: `https://${name}:8006`, fingerprint, token: { env: 'TOKEN' } }),
    ),
    document('AddressPool', 'lan', { cidr: '10.0.0.0/24' }),
    document('Network', 'lan', { addressPool: 'lan', gateway: '10.0.0.1' }),
    document('Image', 'debian', { url: 'https://images.test/debian.qcow2', storage: 'files' }),
    document('MachineClass', 'small', {
      cpu: { cores: 1 },
      memory: '1Gi',
      disks: [{ size: '8Gi', image: 'debian', storage: 'files' }],
      networks: [{ network: 'lan' }],
    }),
    document('Host', 'cow', { connection: 'a', node: 'pve', bindings }),
    document('Host', 'hen', { connection: 'b', node: 'pve', bindings }),
    document('Cluster', 'k', {
      version: 'v1.34.3+k3s1',
      class: 'small',
      servers: [{ name: 's', host: 'cow' }],
      agents: [{ name: 'a', count: agents, hosts: ['cow', 'hen'] }],
    }),
  ]
  const read = readTexts(Object.fromEntries(texts.map((text, at) => [`${at}.yaml`, text])))
  const estate = link(read, { findKind, problemAt: read.problemAt })
  assert.deepEqual(told(estate.problems.filter(({ severity }) => severity === 'error')), [])
  return estate
}

/** The connection of every agent. */
function agentsOf({ resources }: Estate): Readonly<Record<string, string>> {
  const agents = resources.filter(({ key }) => key.startsWith('Machine/a-'))
  return Object.fromEntries(agents.map(({ key, connection }) => [key, connection]))
}

function worldWith(connection: string, guests: readonly Resource[]): World {
  const shown = guests.map(
    ({ uid, desired }, at): ObservedResource => ({
      connection,
      type: 'vm',
      externalId: `${100 + at}`,
      host: 'pve',
      power: 'running',
      mark: { uid },
      close: { atMs: 0, config: { ipconfig0: `ip=${fixedAddresses(desired).join()}/24` } },
    }),
  )
  const survey = { atMs: 0, complete: true, resources: shown, hosts: [], tasks: [] }
  return observedWorld({ name: connection } as Connection, survey as unknown as Survey)
}

test('agents on hosts of one name stay each on the connection of their own, by what is seen and by the record alone', () => {
  const first = twinHosts(4)
  assert.deepEqual(agentsOf(first), {
    'Machine/a-1': 'a',
    'Machine/a-2': 'b',
    'Machine/a-3': 'a',
    'Machine/a-4': 'b',
  })
  // Their places differ from those that a fresh link would choose.
  const where: Readonly<Record<string, string>> = {
    'Machine/a-1': 'b',
    'Machine/a-2': 'b',
    'Machine/a-3': 'a',
    'Machine/a-4': 'a',
  }
  const on = (name: string) => first.resources.filter(({ key }) => where[key] === name)
  const worlds = new Map(['a', 'b'].map((name) => [name, worldWith(name, on(name))]))
  const records = new Map(
    first.resources.flatMap(({ key, desired }) => {
      const record = { key, connection: where[key], host: 'pve', addresses: fixedAddresses(desired) }
      return where[key] === undefined ? [] : [[key, record as ResourceRecord] as const]
    }),
  )
  const nobody = new Map(['a', 'b'].map((name) => [name, worldWith(name, [])]))
  for (const [what, seen, known] of [
    ['seen and remembered', worlds, records],
    ['the store was lost', worlds, new Map<string, ResourceRecord>()],
    ['only remembered', nobody, records],
  ] as const) {
    const kept = keptIn(first, seen, { records: known, intentions: new Map() })
    assert.ok(!isKept(first, kept), what)
    const estate = first.keeping?.(kept)
    assert.ok(estate)
    assert.deepEqual(agentsOf(estate), where, what)
    assert.ok(isKept(estate, kept), what)
    const grown = twinHosts(6).keeping?.(kept)
    assert.ok(grown)
    assert.deepEqual(agentsOf(grown), { ...where, 'Machine/a-5': 'a', 'Machine/a-6': 'b' }, what)
  }
})

test('an address is told where only the guest says so: in this look, in one before, or in the record of one', () => {
  const one = estateOf(FIRST).resources.find(({ key }) => key === 'Machine/m1')
  assert.ok(one)
  const guest = (config: Readonly<Record<string, string>>, addresses: readonly string[]): ObservedResource => ({
    connection: 'home',
    type: 'vm',
    externalId: '100',
    host: 'cow',
    power: 'running',
    mark: { uid: one.uid },
    close: { atMs: 0, config, addresses },
  })
  const set = { ipconfig0: 'ip=10.0.0.20/24' }
  const record = (more: Partial<ResourceRecord>) => ({ key: one.key, connection: 'home', ...more }) as ResourceRecord
  const before = { addresses: ['10.0.0.22'] }
  for (const [what, seen, remembered, learned, wanted] of [
    ['configured', guest(set, ['10.0.0.21']), undefined, undefined, ['10.0.0.20']],
    ['given by croft', guest({}, ['10.0.0.21']), record({ addresses: ['10.0.0.23'] }), undefined, ['10.0.0.23']],
    ['said', guest({}, ['10.0.0.21']), undefined, undefined, ['10.0.0.21', 'told']],
    ['said, and known before', guest({}, ['10.0.0.21']), undefined, before, ['10.0.0.22']],
    ['silent, and said before', guest({}, []), undefined, { ...before, told: true }, ['10.0.0.22', 'told']],
    ['silent', guest({}, []), record({ details: { addresses: '10.0.0.24' } }), undefined, ['10.0.0.24', 'told']],
  ] as const) {
    const survey = { atMs: 0, complete: true, resources: [seen], hosts: [], tasks: [] } as unknown as Survey
    const kept = keptIn(
      { resources: [one] },
      new Map([['home', observedWorld({ name: 'home' } as Connection, survey)]]),
      { records: new Map(remembered === undefined ? [] : [[one.key, remembered]]), intentions: new Map() },
      new Map(learned === undefined ? [] : [[one.key, learned]]),
    ).get(one.key)
    assert.deepEqual([...(kept?.addresses ?? []), ...(kept?.told === true ? ['told'] : [])], wanted, what)
  }
})
