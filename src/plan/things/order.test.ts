import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inOrder } from './order.ts'

test('[R19] what is needed comes before what needs it, whatever the order in the files', () => {
  const graph = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: 1 }).chain((ids) =>
    fc.record({
      ids: fc.constant(ids),
      edges: fc.array(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids))),
    }),
  )
  fc.assert(
    fc.property(graph, ({ ids, edges }) => {
      const items = ids.map((id) => ({
        key: `k${id}`,
        needs: edges.filter(([from, to]) => from === id && to < id).map(([, to]) => `k${to}`),
      }))
      const unique = items.map((item) => ({ ...item, needs: [...new Set(item.needs)] }))
      const { sorted, cycle } = inOrder(unique)
      assert.deepEqual(cycle, [])
      assert.equal(sorted.length, items.length)
      const place = new Map(sorted.map((item, index) => [item.key, index]))
      for (const item of sorted)
        for (const need of item.needs) assert.ok((place.get(need) ?? 0) < (place.get(item.key) ?? 0))
    }),
  )
})

test('a circle of needs is named, and everything else still gets its place', () => {
  const { sorted, cycle } = inOrder([
    { key: 'a', needs: ['b'] },
    { key: 'b', needs: ['a'] },
    { key: 'c', needs: [] },
    { key: 'd', needs: ['a'] },
  ])
  assert.deepEqual(cycle, ['a', 'b', 'd'])
  assert.deepEqual(
    sorted.map((item) => item.key),
    ['c', 'a', 'b', 'd'],
  )
})

test('a need that nobody declares is no reason to wait', () => {
  assert.deepEqual(inOrder([{ key: 'a', needs: ['elsewhere'] }]).cycle, [])
})
