import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { guestIn, type Placement, type Resource } from '../../../model/resource.ts'
import { CONNECTION, machine, NOW } from '../../testing/fixture.ts'
import { EMPTY_LEDGER, observedWorld } from '../world.ts'
import { place } from './place.ts'

const GIB = 2 ** 30
const HOSTS = ['alpha', 'beta', 'gamma']

function anywhere(name: string, memoryGb: number, wish: Partial<Placement>): Resource {
  const base = machine(name, { memory: memoryGb * 1024 })
  const { desired } = base
  assert.equal(desired.type, 'vm')
  const candidates = HOSTS.map((host) => ({
    host,
    node: host,
    desired: desired.type === 'vm' ? { type: 'vm' as const, vm: { ...desired.vm, host } } : desired,
    needs: [],
  }))
  return { ...base, placement: { candidates, unfit: [], ...wish } }
}

function worldOf(there: ReadonlyMap<string, string>, resources: readonly Resource[]) {
  return observedWorld(CONNECTION, {
    connection: CONNECTION.name,
    atMs: NOW,
    hosts: HOSTS.map((name) => ({ name, online: true, memoryBytes: 32 * GIB })),
    storages: [],
    resources: resources.flatMap(({ key, uid, desired }, at) => {
      const host = there.get(key)
      const memoryBytes = (guestIn(desired)?.memory?.dedicatedMb ?? 0) * 2 ** 20
      if (host === undefined) return []
      return [
        {
          connection: CONNECTION.name,
          type: 'vm' as const,
          externalId: `${200 + at}`,
          host,
          power: 'running' as const,
          memoryBytes,
          mark: { uid },
        },
      ]
    }),
    tasks: [],
  })
}

const machines = fc.array(
  fc.record({
    memory: fc.integer({ min: 1, max: 12 }),
    there: fc.option(fc.constantFrom(...HOSTS), { nil: undefined }),
    group: fc.constantFrom(undefined, 'web', 'db'),
    apart: fc.boolean(),
  }),
  { maxLength: 8 },
)

it('what is there stays; what is new goes where there is room and its group allows it; the order of the files is nothing', () => {
  fc.assert(
    fc.property(machines, (wishes) => {
      const resources = wishes.map(({ memory, group, apart }, at) =>
        anywhere(`m${at}`, memory, group === undefined ? {} : apart ? { apart: group } : { spread: group }),
      )
      const there = new Map<string, string>(
        wishes.flatMap(({ there: host }, at) => (host === undefined ? [] : [[`Machine/m${at}`, host] as const])),
      )
      const worlds = new Map([[CONNECTION.name, worldOf(there, resources)]])
      const estate = {
        revision: 'r',
        connections: [CONNECTION],
        resources,
        approvals: [],
        unreadable: [],
        incomplete: false,
        problems: [],
      }
      const placed = place(estate, { worlds, ledger: EMPTY_LEDGER, nowMs: NOW }).resources
      const turned = place(
        { ...estate, resources: [...resources].reverse() },
        { worlds, ledger: EMPTY_LEDGER, nowMs: NOW },
      ).resources
      const hostOf = (list: readonly Resource[]) =>
        new Map(
          list.map(({ key, desired, placement }) => [
            key,
            placement?.refused === undefined ? guestIn(desired)?.host : undefined,
          ]),
        )
      assert.deepEqual(Object.fromEntries(hostOf(placed)), Object.fromEntries(hostOf(turned)))
      for (const [key, host] of there) assert.equal(hostOf(placed).get(key), host)
      const promised = new Map<string, number>()
      const fresh = new Set(placed.filter(({ key }) => !there.has(key)).map(({ key }) => key))
      for (const { key, desired } of placed) {
        const host = hostOf(placed).get(key)
        if (host !== undefined)
          promised.set(host, (promised.get(host) ?? 0) + (guestIn(desired)?.memory?.dedicatedMb ?? 0) / 1024)
      }
      for (const { key, placement } of placed) {
        const host = hostOf(placed).get(key)
        if (!fresh.has(key) || host === undefined) continue
        assert.ok((promised.get(host) ?? 0) <= 31, `${host} was promised more than it has`)
        const group = placement?.apart
        if (group === undefined) continue
        const same = placed.filter((one) => one.placement?.apart === group && hostOf(placed).get(one.key) === host)
        assert.equal(same.filter((one) => fresh.has(one.key)).length, 1)
      }
    }),
    { numRuns: 200, seed: 45 },
  )
})

it('no two of a group that stays apart share a host; one more than there are hosts is refused, and says why', () => {
  const placed = (wish: { apart: string } | { spread: string }) => {
    const resources = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      .slice(0, HOSTS.length + 1)
      .map((name) => anywhere(name, 1, wish))
    const estate = {
      revision: 'r',
      connections: [CONNECTION],
      resources,
      approvals: [],
      unreadable: [],
      incomplete: false,
      problems: [],
    }
    const worlds = new Map([[CONNECTION.name, worldOf(new Map(), resources)]])
    const all = place(estate, { worlds, ledger: EMPTY_LEDGER, nowMs: NOW }).resources
    const kept = all.filter(({ placement }) => placement?.refused === undefined)
    const refused = all.flatMap(({ placement }) => placement?.refused ?? [])
    return { hosts: kept.map(({ desired }) => guestIn(desired)?.host ?? '').sort(), refused: JSON.stringify(refused) }
  }
  const apart = placed({ apart: 'web' })
  assert.deepEqual(apart.hosts, [...HOSTS].sort())
  assert.match(apart.refused, /holds another one of web, and no two of them may be on one host/)
  const spread = placed({ spread: 'web' })
  assert.equal(spread.refused, '[]')
  assert.deepEqual([...new Set(spread.hosts)], [...HOSTS].sort(), 'every host has one before any has two')
})
