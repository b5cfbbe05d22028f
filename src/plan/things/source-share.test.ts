import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_USAGE } from '../../model/grant.ts'
import type { Resource } from '../../model/resource.ts'
import { plan } from '../plan.ts'
import { estateOf, FAKE_RULES, guest, ledgerWith, machine, NOW, recordOf, worldWith } from '../testing/fixture.ts'
import { destroyedBy, sourceShares } from './source-share.ts'
import type { DestroyedSoFar } from './world.ts'

const of = (source: string, names: readonly string[]): readonly Resource[] =>
  names.map((name) => ({ ...machine(name), bounds: { source, names: ['*'] } }))
const free = (place: string, names: readonly string[]): readonly Resource[] =>
  names.map((name) => ({ ...machine(name), declaredBy: place }))
const many = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`)

/** Returns the actions for leaving things by key. */
function leaving(stay: readonly Resource[], leave: readonly Resource[], destroyed?: DestroyedSoFar) {
  const all = [...stay, ...leave]
  const known = all.map((one) => {
    const { declaredBy, bounds } = one
    return recordOf(one, {
      ...(declaredBy === undefined ? {} : { declaredBy }),
      ...(bounds === undefined ? {} : { source: bounds.source }),
    })
  })
  const { entries } = plan({
    estate: estateOf(stay, { revision: 'home@1,lab@7' }),
    worlds: new Map([['default', worldWith(all.map(({ key }, at) => guest(100 + at, { of: key })))]]),
    ledger: ledgerWith({ known, ...(destroyed === undefined ? {} : { destroyed }) }),
    rules: new Map([['fake', FAKE_RULES]]),
    nowMs: NOW,
  })
  const gone = new Set(leave.map(({ key }) => key))
  return Object.fromEntries(entries.flatMap(({ key, action }) => (gone.has(key) ? [[key, action.do]] : [])))
}

test('a source that removes much holds up nobody else: its own are held, those of the others go', () => {
  for (const [mine, theirs] of [
    [of('lab', many('lab', 5)), free('source home', ['home0'])],
    [free('source other', many('lab', 5)), free('source home', ['home0'])],
    [of('lab', many('lab', 5)), of('shop', ['shop0'])],
  ] as const) {
    const found = leaving([], [...mine, ...theirs])
    for (const { key } of mine) assert.equal(found[key], 'hold', key)
    for (const { key } of theirs) assert.equal(found[key], 'delete', key)
  }
})

test('a source that declares much widens the limit of nobody else', () => {
  const lab = of('lab', many('lab', 60))
  const home = free('source home', ['home0', 'home1'])
  assert.deepEqual(leaving(lab, home), { 'Machine/home0': 'hold', 'Machine/home1': 'hold' })
  assert.deepEqual(leaving([...lab, ...free('source home', many('more', 20))], home), {
    'Machine/home0': 'delete',
    'Machine/home1': 'delete',
  })
})

test('a source with a grant counts by the name that it was given, not by the estate that it says it is', () => {
  const posing = of('lab', many('lab', 5)).map((one) => ({ ...one, declaredBy: 'source home' }))
  assert.equal(leaving([], [...posing, ...free('source home', ['home0'])])['Machine/home0'], 'delete')
})

test('things that nobody knows the source of are of the only source that there is', () => {
  const known = free('source home', ['home0'])
  assert.equal(sourceShares({ resources: known }, new Map())('Machine/a'), 'source home')
  const two = [...known, ...of('lab', ['lab0'])]
  assert.equal(sourceShares({ resources: two }, new Map())('Machine/a'), '')
})

test('what a revision destroyed is forgotten with the next commit of its own source, not with one of another', () => {
  const thing = (key: string, revision: string, source?: string) => ({
    key,
    connection: 'default',
    type: 'vm' as const,
    revision,
    ...(source === undefined ? {} : { source }),
  })
  const things = [thing('Machine/home9', 'home@1'), thing('Machine/lab9', 'lab@6', 'lab')]
  const quota = { source: 'lab', names: [], quota: {}, used: NO_USAGE, keys: new Set<string>(), exceeded: false }
  const keys = (revision: string) =>
    destroyedBy({ revision, quotas: [quota] }, { revision: 'home@1,lab@6', things }).map(({ key }) => key)
  assert.deepEqual(keys('home@1,lab@6'), ['Machine/home9', 'Machine/lab9'])
  assert.deepEqual(keys('home@1,lab@7'), ['Machine/home9'])
  assert.deepEqual(keys('home@2,lab@6'), ['Machine/lab9'])
  const whole = { revision: 'r1', things: [{ key: 'Machine/a', connection: 'default', type: 'vm' as const }] }
  assert.equal(destroyedBy({ revision: 'r1' }, whole).length, 1, 'as an earlier version wrote it')
  assert.equal(destroyedBy({ revision: 'r2' }, whole).length, 0)
})
