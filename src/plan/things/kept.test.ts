import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findKind } from '../../kinds/registry.ts'
import type { Estate, KeptChoice, KeptChoices } from '../../model/estate.ts'
import { guestIn } from '../../model/resource.ts'
import { readTexts, told } from '../../source/testing/fixture.ts'
import { link } from '../link.ts'
import { fixedAddresses } from './addresses.ts'

/** A small site, as its manifests say it at one moment. */
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
      cidr: '10.0.0.0/24',
      ranges,
      reserved: site.reserved.map((at) => `10.0.0.${at}`),
    }),
    document('Network', 'lan', { addressPool: 'lan', gateway: '10.0.0.1', dns: { servers: ['10.0.0.12'] } }),
    document('Image', 'debian', { url: 'https://images.test/debian.qcow2', storage: 'files' }),
    document('MachineClass', 'small', {
      cpu: { cores: 1 },
      memory: `${site.memory}Gi`,
      disks: [{ size: '8Gi', image: 'debian', storage: 'files' }],
      networks: [{ network: 'lan' }],
    }),
    ...site.hosts.map((name) =>
      document('Host', name, { bindings: { networks: { lan: { bridge: 'vmbr0' } }, storages: { files: 'local' } } }),
    ),
    document('Cluster', 'k', {
      version: 'v1.34.3+k3s1',
      class: 'small',
      servers: [{ name: 's', host: site.hosts[0] }],
      agents: [{ name: 'a', count: site.agents, hosts: site.hosts }],
    }),
    ...site.machines.map((name) => {
      const at = site.stated[name]
      const networks = [{ network: 'lan', ...(at === undefined ? {} : { address: `10.0.0.${at}` }) }]
      return document('Machine', name, { host: site.hosts[0], class: 'small', networks })
    }),
  ]
  const read = readTexts(Object.fromEntries(texts.map((text, at) => [`${at}.yaml`, text])))
  return link(read, { findKind, problemAt: read.problemAt })
}

/** What every machine has once the estate is in force. */
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
  fc.integer({ min: 10, max: 40 }).map((at) => (site: Site) => ({ ...site, reserved: [...site.reserved, at] })),
  fc.tuple(name, fc.integer({ min: 200, max: 220 })).map(([one, at]) => (site: Site) => {
    const isFree = !Object.values(site.stated).includes(at)
    return isFree ? { ...site, stated: { ...site.stated, [one]: at } } : site
  }),
)

/** The estate by what machines have. */
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
    const renumbered = !asked && addresses.join() !== had.addresses.join()
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
    { numRuns: 10 },
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
