import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Declaration } from '../../model/declaration.ts'
import type { KeptChoice } from '../../model/estate.ts'
import { addressPool } from '../address-pool.ts'
import { givenAddresses } from './addresses.ts'
import { declare, expand, lookupOf } from './testing/fixture.ts'

const pool = (spec: object = {}) => declare('AddressPool', 'lan', { cidr: '10.0.0.0/24', ...spec })
const network = declare('Network', 'lan', { addressPool: 'lan', gateway: '10.0.0.1' })
const host = declare('Host', 'a', { bindings: { networks: { lan: { bridge: 'vmbr0' } } } })

function machine(name: string, address?: string, line = 1): Declaration {
  return declare(
    'Machine',
    name,
    {
      host: 'a',
      cpu: { cores: 1 },
      memory: '1Gi',
      networks: [{ network: 'lan', ...(address === undefined ? {} : { address }) }],
    },
    line,
  )
}

/** Machine name → address, or its problems. */
function addresses(machines: readonly Declaration[], from: Declaration = pool()): Readonly<Record<string, string>> {
  const lookup = lookupOf([from, network, host, ...machines])
  return Object.fromEntries(
    machines.map((one) => {
      const given = givenAddresses(one as never, lookup)
      return [one.name, given.problems.map(({ message }) => message).join() || (given.addresses[0]?.address ?? 'dhcp')]
    }),
  )
}

const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/), { minLength: 1, maxLength: 25 })

test('[R12] [R13] every machine gets an address of its own, inside the ranges, never a reserved one or the gateway', () => {
  const from = pool({
    ranges: [
      { from: '10.0.0.1', to: '10.0.0.20' },
      { from: '10.0.0.100', to: '10.0.0.119' },
    ],
    reserved: ['10.0.0.5'],
  })
  fc.assert(
    fc.property(names, (list) => {
      const given = Object.values(
        addresses(
          list.map((name) => machine(name)),
          from,
        ),
      )
      assert.equal(new Set(given).size, list.length)
      for (const address of given) {
        const last = Number(/^10\.0\.0\.(\d+)$/.exec(address)?.[1])
        assert.ok((last >= 2 && last <= 20) || (last >= 100 && last <= 119), address)
        assert.notEqual(address, '10.0.0.5')
      }
    }),
    { numRuns: 200 },
  )
})

test('[R12] the address does not depend on the order of the files', () => {
  fc.assert(
    fc.property(names, (list) => {
      const machines = list.map((name) => machine(name))
      assert.deepEqual(addresses([...machines].reverse()), addresses(machines))
    }),
    { numRuns: 100 },
  )
})

test('[R12] an added machine changes no other address, unless both point to the same place, and then it is said', () => {
  fc.assert(
    fc.property(names, (list) => {
      const [added = 'x', ...others] = list
      const before = addresses(others.map((name) => machine(name)))
      const all = list.map((name) => machine(name))
      const after = addresses(all)
      const lookup = lookupOf([pool(), network, host, ...all])
      for (const name of others) {
        if (after[name] === before[name]) continue
        const moved = givenAddresses(machine(name) as never, lookup)
        assert.equal(moved.warnings[0]?.code, 'address-moved', `${name} moved silently when ${added} came`)
        assert.match(moved.warnings[0]?.hint ?? '', new RegExp(`write address: ${after[name]} `))
      }
      // Written down, nothing moves at all.
      const fixed = addresses([machine(added), ...others.map((name) => machine(name, before[name]))])
      for (const name of others) assert.equal(fixed[name], before[name])
    }),
    { numRuns: 200 },
  )
})

test('[R12] in a pool with room, names lead to places of their own and nothing moves', () => {
  const roomy = pool({ cidr: '10.0.0.0/8' })
  const list = Array.from({ length: 100 }, (_, index) => `node-${index}`)
  const all = addresses(
    list.map((name) => machine(name)),
    roomy,
  )
  for (const name of list) assert.deepEqual(addresses([machine(name)], roomy), { [name]: all[name] })
})

test('[R13] the same address twice is a problem that names both places', () => {
  const given = addresses([
    machine('a', '10.0.0.9', 3),
    machine('b', '10.0.0.9', 12),
    machine('c', '10.0.0.1'),
    machine('d', '10.1.0.9'),
  ])
  assert.deepEqual(given, {
    a: '10.0.0.9',
    b: '10.0.0.9 is used twice: here and by Machine/a (a.yaml:3:1)',
    c: '10.0.0.1 is used twice: here and by the gateway of Network/lan',
    d: '10.1.0.9 is not in 10.0.0.0/24, the network of AddressPool lan',
  })
})

test('addresses of EnvironmentVMs are taken, and an exhausted pool is said', () => {
  const vm = declare('EnvironmentVM', 'v', {
    forProvider: { nodeName: 'a', initialization: { ipConfig: { ipv4: { address: '10.0.0.2/30' } } } },
  })
  const small = pool({ ranges: [{ from: '10.0.0.1', to: '10.0.0.3' }] })
  const machines = [machine('m1'), machine('m2')]
  const lookup = lookupOf([small, network, host, vm, ...machines])
  const given = machines.map((one) => givenAddresses(one as never, lookup))
  assert.equal(given[0]?.addresses[0]?.address, '10.0.0.3')
  assert.match(given[1]?.problems[0]?.message ?? '', /AddressPool lan \(a\.yaml:1:1\) has no free address left/)
})

test('a pool gives out every address that it has, the first and the last as well, and none beyond', () => {
  const all = (spec: object, count: number) =>
    Object.values(
      addresses(
        Array.from({ length: count }, (_, at) => machine(`m${at}`)),
        pool(spec),
      ),
    ).sort()
  const range = { ranges: [{ from: '10.0.0.10', to: '10.0.0.13' }] }
  assert.deepEqual(all(range, 4), ['10.0.0.10', '10.0.0.11', '10.0.0.12', '10.0.0.13'])
  assert.equal(all(range, 5).filter((one) => /no free address left/.test(one)).length, 1)
  // Without the network's own address, the broadcast and the gateway.
  assert.deepEqual(all({ cidr: '10.0.0.0/29' }, 5), ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6'])
  assert.equal(all({ cidr: '10.0.0.0/29' }, 6).filter((one) => /no free address left/.test(one)).length, 1)
})

test('without a pool a machine uses DHCP, and cannot state an address', () => {
  const bare = declare('Network', 'lan', {})
  const on = (address?: string) => expand(machine('m', address), [bare, host, machine('m', address)])
  assert.ok('role' in on())
  assert.ok('role' in on('dhcp'))
  assert.ok('problems' in on('pool'))
  assert.ok('problems' in on('10.0.0.3'))
})

test('[D-10] an address that no image would read is told: nobody sets it, and nobody asks who else has it', () => {
  const told = (more: object, address = '10.0.0.20', annotations: Readonly<Record<string, string>> = {}) => {
    const one = declare('Machine', 'web', {
      host: 'a',
      cpu: { cores: 1 },
      memory: '1Gi',
      networks: [{ network: 'lan', address }],
      ...more,
    })
    const found = expand({ ...one, policy: { ...one.policy, ...annotations } }, [pool(), network, host])
    return 'warnings' in found ? found.warnings?.map(({ code, path }) => `${code} ${path.join('.')}`) : []
  }
  assert.deepEqual(told({}), ['address-not-set spec.networks.0.address'])
  assert.deepEqual(told({}, 'dhcp') ?? [], [])
  assert.deepEqual(told({}, 'pool') ?? [], [])
  assert.deepEqual(told({}, '10.0.0.20', { adopt: '100' }) ?? [], [], 'what was there before has it already')
})

test('ranges and reserved addresses may reach the edges of the network, and not beyond', () => {
  const MANIFEST = {
    apiVersion: '',
    kind: 'AddressPool',
    metadata: { name: 'lan', labels: {}, annotations: {} },
    spec: {},
  }
  const refused = (spec: Parameters<NonNullable<typeof addressPool.check>>[0]) =>
    addressPool.check?.(spec, MANIFEST).map(({ path: at }) => at.join('.'))
  const within = { cidr: '10.0.0.0/28' }
  const range = (from: string, to: string) => ({ ...within, ranges: [{ from, to }] })
  assert.deepEqual(refused(range('10.0.0.0', '10.0.0.15')), [])
  assert.deepEqual(refused({ ...within, reserved: ['10.0.0.0', '10.0.0.15'] }), [])
  assert.deepEqual(refused(range('9.255.255.255', '10.0.0.16')), ['spec.ranges.0.from', 'spec.ranges.0.to'])
  assert.deepEqual(refused({ ...within, reserved: ['10.0.0.16'] }), ['spec.reserved.0'])
})

test('a pool never gives out where something is expected to answer, and a machine may still state it', () => {
  const three = pool({ ranges: [{ from: '10.0.0.2', to: '10.0.0.7' }] })
  const lan = declare('Network', 'lan', { addressPool: 'lan', dns: { servers: ['10.0.0.2'] } })
  const others = [
    declare('Host', 'b', {
      ssh: { address: '10.0.0.3', user: 'root', hostKeys: [`ssh-ed25519 ${'A'.repeat(68)}`] },
      bindings: {},
    }),
    declare('Proxmox', 'p', { endpoint: 'https://10.0.0.4:8006', token: { env: 'T' } }),
    declare('EnvironmentContainer', 'c', {
      forProvider: { nodeName: 'a', initialization: { ipConfig: { ipv4: { address: '10.0.0.5/24' } } } },
    }),
    declare('Machine', 'asks', { host: 'a', cpu: { cores: 1 }, memory: '1Gi', dns: { servers: ['10.0.0.6'] } }),
  ]
  const given = (one: Declaration) => {
    const { addresses: found, problems } = givenAddresses(one as never, lookupOf([three, lan, host, ...others, one]))
    return problems[0]?.message ?? found[0]?.address
  }
  for (const name of ['m1', 'm2', 'm3', 'm4']) assert.equal(given(machine(name)), '10.0.0.7', name)
  for (const last of [2, 3, 4, 6]) assert.equal(given(machine('dns', `10.0.0.${last}`)), `10.0.0.${last}`)
  assert.match(given(machine('twin', '10.0.0.5')) ?? '', /is used twice: here and by EnvironmentContainer\/c/)
})

test('no machine may state the address of its network, nor the broadcast address', () => {
  const given = addresses([machine('a', '10.0.0.255'), machine('b', '10.0.0.0'), machine('c', '10.0.0.254')])
  assert.match(
    given.a ?? '',
    /^10\.0\.0\.255 is the broadcast address of 10\.0\.0\.0\/24, the network of AddressPool lan/,
  )
  assert.match(given.b ?? '', /^10\.0\.0\.0 is the address of the network/)
  assert.equal(given.c, '10.0.0.254')
  // A point-to-point network has neither.
  assert.deepEqual(addresses([machine('a', '10.0.0.1')], pool({ cidr: '10.0.0.0/31' })), {
    a: '10.0.0.1 is used twice: here and by the gateway of Network/lan',
  })
})

test('what a guest says of itself takes no address from a machine that is known to have it, nor one that no pool gives out', () => {
  const from = pool({ ranges: [{ from: '10.0.0.10', to: '10.0.0.40' }] })
  const lan = declare('Network', 'lan', { addressPool: 'lan', gateway: '10.0.0.1', dns: { servers: ['10.0.0.12'] } })
  const all = [machine('a'), machine('m')]
  const given = (kept: Readonly<Record<string, KeptChoice>>) => {
    const has = new Map(Object.entries(kept).map(([name, choice]) => [`Machine/${name}`, choice]))
    const lookup = { ...lookupOf([from, lan, host, ...all]), kept: has }
    return all.map((one) => givenAddresses(one as never, lookup).addresses[0]?.address)
  }
  const [free = '', other = ''] = given({})
  const said = (address: string) => ({ addresses: [address], told: true as const })
  const has = (address: string) => ({ addresses: [address] })
  for (const [what, kept, wanted] of [
    ['another machine has it', { a: said('10.0.0.33'), m: has('10.0.0.33') }, [free, '10.0.0.33']],
    ['the other way round', { a: has('10.0.0.33'), m: said('10.0.0.33') }, ['10.0.0.33', other]],
    ['both say so', { a: said('10.0.0.33'), m: said('10.0.0.33') }, ['10.0.0.33', other]],
    ['nobody else has it', { a: said('10.0.0.33') }, ['10.0.0.33', other]],
    ['the last of the range', { a: said('10.0.0.40') }, ['10.0.0.40', other]],
    ['beyond the range', { a: said('10.0.0.41') }, [free, other]],
    ['before the range', { a: said('10.0.0.9') }, [free, other]],
    ['the name server', { a: said('10.0.0.12') }, [free, other]],
    ['one of its own after others', { a: { addresses: ['10.0.0.12', '10.0.0.33'], told: true } }, ['10.0.0.33', other]],
    ['known to be the name server', { a: has('10.0.0.12') }, ['10.0.0.12', other]],
    ['known to be beyond the range', { a: has('10.0.0.99') }, ['10.0.0.99', other]],
  ] as const)
    assert.deepEqual(given(kept), wanted, what)
})
