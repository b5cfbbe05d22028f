import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Part } from '../kind.ts'
import { fields, grow, surroundings } from './testing/homelab.ts'

/** Names and hosts of nodes; addresses by DHCP, so that none depends on another through the pool. */
const node = fc.record({
  host: fc.constantFrom('alpha', 'beta'),
  address: fc.constant('dhcp'),
  labels: fc.dictionary(fc.constantFrom('zone', 'tier', 'disk'), fc.constantFrom('a', 'b')),
  taints: fc.subarray(['x:NoSchedule', 'y=1:NoExecute']),
})
const nodes = (min: number) =>
  fc
    .tuple(
      fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/), { minLength: min, maxLength: 8 }),
      fc.infiniteStream(node),
    )
    .map(([names, stream]) => names.map((name) => ({ name, ...stream.next().value })))

const cluster = nodes(2).chain((all) =>
  fc.integer({ min: 1, max: all.length - 1 }).map((cut) => ({ servers: all.slice(0, cut), agents: all.slice(cut) })),
)

const spec = ({ servers, agents }: { servers: readonly object[]; agents: readonly object[] }) =>
  fields({ servers, agents, endpoint: { vip: '10.0.3.79' } })

const byKey = (parts: readonly Part[]) => new Map(parts.map((part) => [part.key, JSON.stringify(part)]))

test('the same declaration gives the same keys and the same machines', () => {
  fc.assert(
    fc.property(cluster, (one) => {
      const [a, b] = [grow(spec(one)), grow(spec(one))]
      assert.deepEqual(a.parts, b.parts)
      assert.deepEqual(a.cluster.spec, b.cluster.spec)
    }),
    { numRuns: 60 },
  )
})

test('the order of lists means nothing but where a thing stands', () => {
  const turned = cluster.chain((one) =>
    fc.record({
      one: fc.constant(one),
      servers: fc.shuffledSubarray(one.servers, { minLength: one.servers.length }),
      agents: fc.shuffledSubarray(one.agents, { minLength: one.agents.length }),
      around: fc.shuffledSubarray(surroundings(), { minLength: surroundings().length }),
    }),
  )
  fc.assert(
    fc.property(turned, ({ one, servers, agents, around }) => {
      const [before, after] = [grow(spec(one)), grow(spec({ servers, agents }), around)]
      assert.deepEqual(after.cluster.spec, before.cluster.spec)
      const bare = (parts: readonly Part[]) =>
        parts.map(({ as, ...part }) => ({ ...part, policy: as?.policy, generation: as?.generation }))
      assert.deepEqual(bare(after.parts), bare(before.parts))
    }),
    { numRuns: 60 },
  )
})

test('[R7] one more agent changes no other machine', () => {
  fc.assert(
    fc.property(cluster, node, (one, more) => {
      const before = byKey(grow(spec(one)).parts)
      const agents = [...one.agents, { name: 'newcomer', ...more }]
      const after = byKey(grow(spec({ ...one, agents })).parts)
      assert.equal(after.size, before.size + 1)
      for (const [key, part] of before) assert.equal(after.get(key), part, key)
    }),
    { numRuns: 60 },
  )
})

test('a higher count adds machines and changes none', () => {
  const counted = (count: number, hosts: readonly string[] | undefined) =>
    byKey(grow(fields({ agents: { name: 'w', count, ...(hosts === undefined ? {} : { hosts }) } })).parts)
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 12 }),
      fc.constantFrom(undefined, ['alpha'], ['beta', 'alpha']),
      (count, hosts) => {
        const [before, after] = [counted(count, hosts), counted(count + 1, hosts)]
        assert.equal(after.size, before.size + 1)
        for (const [key, part] of before) assert.equal(after.get(key), part, key)
      },
    ),
    { numRuns: 40 },
  )
})

test('[A3] every machine has its own name, hardware address and document', () => {
  fc.assert(
    fc.property(cluster, (one) => {
      const { parts } = grow(spec(one))
      const vms = parts.flatMap(({ desired }) => (desired.type === 'vm' ? [desired.vm] : []))
      const own = [vms.map(({ name }) => name), vms.map(({ nics }) => nics[0]?.mac), vms.map(({ seed }) => seed?.hash)]
      for (const list of own) assert.equal(new Set(list).size, parts.length)
    }),
    { numRuns: 40 },
  )
})
