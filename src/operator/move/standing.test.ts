import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MoveGate, type MoveMark, type NextOfMove, nextOfMove, type Standing } from './standing.ts'

const PLACE = { cluster: 'c1', namespace: 'croft-system' }
const mark = (phase: MoveMark['phase'], more: Partial<MoveMark> = {}): MoveMark => ({
  id: 'm1',
  phase,
  ...PLACE,
  ...more,
})
const gate = (phase: MoveGate['phase'], id = 'm1'): MoveGate => ({ id, phase })
const at = (one: Partial<Standing>): Standing => ({
  mark: undefined,
  gate: undefined,
  place: PLACE,
  empty: false,
  closed: false,
  copied: false,
  opened: false,
  ...one,
})

const MARKS = [undefined, mark('preparing'), mark('moved')]
const GATES = [undefined, gate('arriving'), gate('here'), gate('leaving'), gate('away')]

const IN: readonly (readonly [NextOfMove['do'], Partial<Standing>])[] = [
  ['note', {}],
  ['announce', { mark: mark('preparing') }],
  ['announce', { mark: mark('preparing'), gate: gate('away', 'm0') }],
  ['close', { mark: mark('preparing'), gate: gate('arriving') }],
  ['copy-in', { mark: mark('preparing'), gate: gate('arriving'), closed: true }],
  ['fence', { mark: mark('preparing'), gate: gate('arriving'), closed: true, copied: true }],
  ['activate', { mark: mark('moved'), gate: gate('arriving') }],
  ['activate', { mark: mark('moved'), gate: gate('leaving') }],
  ['activate', { mark: mark('moved'), gate: gate('away') }],
  ['activate', { mark: mark('moved') }],
  ['open', { mark: mark('moved'), gate: gate('here') }],
  ['nothing', { mark: mark('moved'), gate: gate('here'), opened: true }],
  ['refuse', { gate: gate('here') }],
  ['refuse', { gate: gate('arriving') }],
  ['refuse', { mark: mark('preparing'), gate: gate('here') }],
  ['refuse', { mark: mark('preparing'), gate: gate('arriving', 'm2') }],
  ['refuse', { mark: mark('moved', { cluster: 'c2' }), gate: gate('here') }],
  ['refuse', { mark: mark('preparing', { namespace: 'other' }) }],
]

const OUT: readonly (readonly [NextOfMove['do'], Partial<Standing>])[] = [
  ['leave', { mark: mark('moved'), gate: gate('here') }],
  ['leave', { mark: mark('moved') }],
  ['close', { mark: mark('moved'), gate: gate('leaving') }],
  ['copy-out', { mark: mark('moved'), gate: gate('leaving'), closed: true }],
  ['retire', { mark: mark('moved'), gate: gate('leaving'), closed: true, copied: true }],
  ['unfence', { mark: mark('moved'), gate: gate('away') }],
  ['nothing', { gate: gate('away') }],
  ['close', { mark: mark('preparing'), gate: gate('arriving') }],
  ['retire', { mark: mark('preparing'), gate: gate('arriving'), closed: true }],
  ['retire', { mark: mark('moved'), gate: gate('arriving'), closed: true }],
  ['refuse', { mark: mark('preparing'), gate: gate('here') }],
  ['refuse', { gate: gate('arriving'), empty: true }],
  ['unfence', { mark: mark('preparing') }],
  ['fence', { gate: gate('here'), empty: true }],
  ['fence', { empty: true }],
  ['refuse', { gate: gate('here') }],
  ['refuse', { mark: mark('moved'), gate: gate('here', 'm2') }],
]

test('the next step of a move follows from where it stands', () => {
  for (const [expected, one] of IN) assert.equal(nextOfMove('in', at(one)).do, expected, `in ${JSON.stringify(one)}`)
  for (const [expected, one] of OUT) assert.equal(nextOfMove('out', at(one)).do, expected, `out ${JSON.stringify(one)}`)
})

test('the database is opened only when the cluster is away, and the cluster only when the database has moved', () => {
  for (const one of MARKS)
    for (const other of GATES)
      for (const wanted of ['in', 'out'] as const)
        for (const bits of Array.from({ length: 16 }, (_, n) => n)) {
          const [empty, closed, copied, opened] = [1, 2, 4, 8].map((bit) => (bits & bit) !== 0) as [
            boolean,
            boolean,
            boolean,
            boolean,
          ]
          const where = at({ mark: one, gate: other, empty, closed, copied, opened })
          const step = nextOfMove(wanted, where).do
          const why = `${wanted} ${JSON.stringify(where)}`
          if (step === 'unfence')
            assert.ok(other?.phase === 'away' || (other === undefined && one?.phase === 'preparing'), why)
          if (step === 'activate' || step === 'open') assert.equal(one?.phase, 'moved', why)
          if (step === 'fence' && wanted === 'in') assert.ok(copied && other?.phase === 'arriving', why)
          if (step === 'retire') assert.ok(closed && (copied || other?.phase === 'arriving'), why)
        }
})
