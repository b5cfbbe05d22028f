import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import type { Action, MissingFact, PlanEntry } from '../model/plan.ts'
import { nothingRemembered } from './connections.ts'
import { type Lacking, leavingIn, putOff } from './put-off.ts'

const SOME = LIMITS.firstWindow.host
const config = (externalId: string): MissingFact => ({ look: 'config', externalId })
const going = (count: number) => Array.from({ length: count }, (_, at) => config(`going-${at}`))
const BEGINS: PlanEntry = {
  key: 'Machine/a',
  uid: 'a',
  connection: 'default',
  type: 'vm',
  action: { do: 'delete', externalId: '1', host: 'alpha', steps: [], reason: '' },
}

function split(missing: readonly MissingFact[], more: Partial<Lacking> = {}, hosts = 1) {
  const leaving = new Map(
    missing.flatMap((fact, at) =>
      fact.look === 'config' && fact.externalId.startsWith('going') ? [[fact.externalId, `host-${at % hosts}`]] : [],
    ),
  )
  const memory = { ...nothingRemembered(), born: new Set(['new']), begun: new Map([['new', undefined]]) }
  const { now, later, tried } = putOff({
    missing: new Map([['default', missing]]),
    beginning: [],
    leaving: new Map([['default', leaving]]),
    tried: new Set(),
    factsByConnection: new Map([['default', { memory }]]),
    ...more,
  })
  const names = (facts: readonly MissingFact[] | undefined) =>
    (facts ?? []).map((fact) => ('externalId' in fact ? fact.externalId : fact.list))
  return { now: names(now.get('default')), later: names(later.get('default')), tried: [...tried] }
}

test('[T-01] of many that leave as many are read first as can begin, and the rest while these do', () => {
  const many = going(5 * SOME)
  const first = split(many)
  assert.equal(first.now.length, SOME)
  assert.deepEqual(first.tried, ['default'])
  assert.equal(split(many, {}, 3).now.length, 3 * SOME, 'on each host that they leave')
  const next = split(many, { beginning: [BEGINS], tried: new Set(['default']) })
  assert.deepEqual([next.now.length, next.later.length], [0, many.length])
})

test('[T-01] where nothing of what leaves begins everything is read: it is held, and somebody is shown all of it', () => {
  const many = going(5 * SOME)
  const held = split(many, { tried: new Set(['default']) })
  assert.deepEqual([held.now.length, held.later.length], [many.length, 0])
})

test('[T-01] what the plan needs for anything else is read before what leaves', () => {
  const { now, later } = split([...going(3), config('web'), { look: 'id', externalId: '7' }])
  assert.deepEqual(now, ['web', '7'])
  assert.equal(later.length, 3)
  assert.equal(split(going(SOME)).now.length, SOME, 'a few are read at once')
})

test('new machines are read while others begin, and at once where nothing does', () => {
  assert.deepEqual(split([config('new')], { beginning: [BEGINS] }).later, ['new'])
  assert.deepEqual(split([config('new')]).now, ['new'])
  assert.deepEqual(split([config('new')], { beginning: [{ ...BEGINS, connection: 'other' }] }).now, ['new'])
})

test('a guest leaves when nothing declares it: one that is declared and not read yet does not', () => {
  const wait = (externalId: string): Action => ({
    do: 'wait',
    reason: 'NotReadClosely',
    message: '',
    lookAgainMs: 1,
    missing: { look: 'config', externalId },
  })
  const entries = [
    { ...BEGINS, key: 'Machine/gone', host: 'alpha', action: wait('1') },
    { ...BEGINS, key: 'Machine/here', host: 'alpha', action: wait('2') },
    BEGINS,
  ]
  const resources = [{ key: 'Machine/here' }] as unknown as Parameters<typeof leavingIn>[1]['resources']
  const found = leavingIn({ entries, notes: [], problems: [] }, { resources })
  assert.deepEqual([...(found.get('default') ?? [])], [['1', 'alpha']])
})
