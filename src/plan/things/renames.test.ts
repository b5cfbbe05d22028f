import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Estate } from '../../model/estate.ts'
import { estateOf, guest, ledgerWith, machine, recordOf, worldWith } from '../testing/fixture.ts'
import { renames } from './renames.ts'

const old = machine('old')
const renamed = { ...machine('new'), generation: old.generation }

/** `old` runs and is in no file, or in none that could be read; `new` has the same content. */
function handedOver(more: Partial<Estate> = {}): readonly string[] {
  const worlds = new Map([['default', worldWith([guest(100, { of: old.key })])]])
  const found = renames(estateOf([renamed], more), worlds, ledgerWith({ known: [recordOf(old)] }))
  return [...found].map(([key, { from }]) => `${from} is now ${key}`)
}

test('a machine that is declared under another name is the same machine', () => {
  assert.deepEqual(handedOver(), ['Machine/old is now Machine/new'])
})

test('a machine whose file is broken keeps its name: it is not handed over to one with the same content', () => {
  assert.deepEqual(handedOver({ unreadable: ['Machine/old'] }), [], 'it is declared and was refused')
  assert.deepEqual(handedOver({ incomplete: true }), [], 'nobody can say what is in the file')
  assert.deepEqual(
    handedOver({ partlyRead: [{ source: 'lab', names: ['ol*'] }] }),
    [],
    'it may be in a file of that source',
  )
  assert.equal(handedOver({ partlyRead: [{ source: 'lab', names: ['lab-*'] }] }).length, 1, 'it cannot be')
})

test('a machine that this directory did not declare is not handed over', () => {
  assert.deepEqual(handedOver({ sources: ['another'] }), ['Machine/old is now Machine/new'], 'a record of before')
  const worlds = new Map([['default', worldWith([guest(100, { of: old.key })])]])
  const ledger = ledgerWith({ known: [recordOf(old, { declaredBy: 'elsewhere' })] })
  assert.equal(renames(estateOf([renamed], { sources: ['here'] }), worlds, ledger).size, 0)
})

test('a machine that left at an earlier revision, or was left alone on purpose, is not the next one of the same content', () => {
  const worlds = new Map([['default', worldWith([guest(100, { of: old.key })])]])
  for (const before of [{ absent: true }, { status: 'Orphaned' }] as const)
    assert.equal(renames(estateOf([renamed]), worlds, ledgerWith({ known: [recordOf(old, before)] })).size, 0)
})
