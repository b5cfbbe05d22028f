import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { guest, ledgerWith, machine, recordOf, worldWith } from '../testing/fixture.ts'
import { allocateIds } from './identify-all.ts'

const names = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmnop'), { minLength: 1 })
const ids = fc.uniqueArray(fc.integer({ min: 100, max: 130 }))

test('chosen ids are free, in range, different, and the same for the same world', () => {
  fc.assert(
    fc.property(names, ids, ids, (wanting, there, declared) => {
      const keys = wanting.map((name) => `Machine/${name}`)
      const world = worldWith(there.map((id) => guest(id)))
      const taken = new Set([...there, ...declared].map(String))
      const chosen = allocateIds(keys, new Set(declared.map(String)), world, ledgerWith())
      assert.equal(chosen.size, keys.length)
      assert.equal(new Set(chosen.values()).size, keys.length)
      for (const id of chosen.values()) assert.ok(!taken.has(id) && Number(id) >= 100 && Number(id) <= 199)
      assert.deepEqual(allocateIds([...keys].reverse(), new Set(declared.map(String)), world, ledgerWith()), chosen)
    }),
  )
})

test('[F-04] an id once written down is used again, so that a repeated create meets its own first attempt', () => {
  const web = machine('web')
  const ledger = ledgerWith({ known: [recordOf(web, { externalId: '150' })] })
  assert.deepEqual([...allocateIds([web.key], new Set(), worldWith([]), ledger)], [[web.key, '150']])
  const other = allocateIds(
    ['Machine/other'],
    new Set(),
    worldWith(Array.from({ length: 50 }, (_, i) => guest(100 + i))),
    ledger,
  )
  assert.equal(other.get('Machine/other'), '151', 'and by nobody else')
})

test('a range that is used up gives no id rather than one outside', () => {
  const full = worldWith(Array.from({ length: 100 }, (_, i) => guest(100 + i)))
  assert.equal(allocateIds(['Machine/web'], new Set(), full, ledgerWith()).size, 0)
})
