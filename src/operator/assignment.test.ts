import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assign, type Load } from './assignment.ts'

const replicas = fc.uniqueArray(fc.stringMatching(/^[a-e]{1,3}$/), { minLength: 1, maxLength: 6 })
const loads = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z]{1,4}$/),
    weight: fc.integer({ min: 1, max: 200 }),
    holder: fc.option(fc.stringMatching(/^[a-e]{1,3}$/), { nil: undefined }),
  }),
  { maxLength: 60, selector: ({ name }) => name },
)
type Drawn = readonly { readonly name: string; readonly weight: number; readonly holder: string | undefined }[]
const loadsOf = (drawn: Drawn): readonly Load[] =>
  drawn.map(({ name, weight, holder }) => ({ name, weight, ...(holder === undefined ? {} : { holder }) }))

const carried = (given: ReadonlyMap<string, string>, all: readonly Load[], replica: string) =>
  all.filter(({ name }) => given.get(name) === replica).reduce((sum, { weight }) => sum + weight, 0)

const shown = (given: ReadonlyMap<string, string>) => [...given].map((pair) => pair.join(' ')).toSorted()

test('every shard has exactly one living replica, and none has more than its share and one shard', () => {
  fc.assert(
    fc.property(loads, replicas, (drawn, names) => {
      const all = loadsOf(drawn)
      const given = assign(all, names)
      assert.equal(given.size, all.length)
      const total = all.reduce((sum, { weight }) => sum + weight, 0)
      const largest = Math.max(0, ...all.map(({ weight }) => weight))
      for (const replica of given.values()) assert.ok(names.includes(replica))
      for (const name of names) assert.ok(carried(given, all, name) <= total / names.length + largest)
    }),
  )
})

test('the order of what is seen has no say, and what was assigned stays assigned', () => {
  fc.assert(
    fc.property(loads, replicas, (drawn, names) => {
      const all = loadsOf(drawn)
      const given = assign(all, names)
      assert.deepEqual(shown(assign([...all].reverse(), [...names].reverse())), shown(given))
      // A replica that got only what fits keeps it, once all replicas hold their shards.
      const held = all.map(({ name, weight }) => ({ name, weight, holder: given.get(name) ?? '' }))
      const again = assign(held, names)
      const twice = assign(
        all.map(({ name, weight }) => ({ name, weight, holder: again.get(name) ?? '' })),
        names,
      )
      assert.deepEqual(shown(twice), shown(again), 'it comes to rest')
    }),
  )
})

test('when a replica dies only its shards move', () => {
  fc.assert(
    fc.property(loads, replicas, (drawn, names) => {
      if (names.length < 2) return
      let all = loadsOf(drawn)
      for (let round = 0; round < 3; round++) {
        const given = assign(all, names)
        all = all.map(({ name, weight }) => ({ name, weight, holder: given.get(name) ?? '' }))
      }
      const [dead, ...living] = names
      const after = assign(all, living)
      for (const { name, holder } of all) if (holder !== dead) assert.equal(after.get(name), holder)
    }),
  )
})

test('a hundred equal shards on three replicas are 34, 33 and 33, and a fourth takes a quarter', () => {
  const all: readonly Load[] = Array.from({ length: 100 }, (_, index) => ({ name: `p${index}`, weight: 100 }))
  const three = assign(all, ['a', 'b', 'c'])
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => carried(three, all, name) / 100).toSorted((x, y) => x - y),
    [33, 33, 34],
  )
  const held = all.map((load) => ({ ...load, holder: three.get(load.name) ?? '' }))
  const four = assign(held, ['a', 'b', 'c', 'd'])
  const moved = held.filter(({ name, holder }) => four.get(name) !== holder)
  assert.equal(moved.length, 25)
  assert.ok(moved.every(({ name }) => four.get(name) === 'd'))
})

test('while replicas come and go, whoever lives keeps all that it holds and only what is free is given out', () => {
  fc.assert(
    fc.property(loads, replicas, (drawn, names) => {
      const all = loadsOf(drawn)
      const given = assign(all, names, true)
      assert.equal(given.size, all.length)
      for (const { name, holder } of all)
        if (holder !== undefined && names.includes(holder)) assert.equal(given.get(name), holder)
    }),
  )
})
