import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Estate } from '../model/estate.ts'
import type { ResourceRecord } from '../model/record.ts'
import { rowsOf } from './rows.ts'
import type { LoadedEstate } from './runtime.ts'

const record = (key: string, instance?: string) =>
  ({ key, ...(instance === undefined ? {} : { composedBy: { instance, definition: 'x' } }) }) as ResourceRecord

function loaded(waiting: NonNullable<Estate['later']>['waiting']): LoadedEstate {
  const estate = { resources: [], later: { waiting, stamp: '', settle: () => assert.fail() } } as unknown as Estate
  return { declarations: [], estate } as unknown as LoadedEstate
}

const WAITS = { instance: 'Pair/shop', field: 'spec.description', expression: 'db.status.addresses[0]', after: [] }

test('what waits for a value of the world is declared by its instance, and what nothing names is declared no more', () => {
  const rows = rowsOf(loaded([{ ...WAITS, key: 'Machine/shop-app' }]), [
    record('Machine/shop-app', 'Pair/shop'),
    record('Machine/shop-old', 'Pair/shop'),
    record('Machine/web'),
  ])
  assert.deepEqual(
    rows.map(({ key, instance }) => `${key} ${instance}`),
    ['Machine/shop-app Pair/shop', 'Machine/shop-old undefined', 'Machine/web undefined'],
  )
})

test('where the name waits as well, everything of the instance counts as declared', () => {
  const rows = rowsOf(loaded([WAITS]), [record('Machine/a', 'Pair/shop'), record('Machine/b', 'Pair/other')])
  assert.deepEqual(
    rows.map(({ key, instance }) => `${key} ${instance}`),
    ['Machine/a Pair/shop', 'Machine/b undefined'],
  )
})
