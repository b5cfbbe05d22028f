import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PassReport } from '../../engine/engine.ts'
import type { AuditEntry, NewAuditEntry } from '../../model/record.ts'
import type { Wish } from '../../server/port.ts'
import type { Store } from '../../store/port.ts'
import type { SourceState } from '../sources/source-state.ts'
import { type AskDeps, createAsking } from './ask.ts'
import { readWishes } from './wishes.ts'

const KEY = 'EnvironmentVM/a'
const ANNA = { name: 'page:anna', from: 'page' } as const

/** Makes a controller with one resource, which records the order of its actions. */
function asking({ full = false, refuses = false } = {}) {
  const order: string[] = []
  const effect = (what: string) => void order.push(what)
  const store = {
    async appendAudit(entry: NewAuditEntry): Promise<AuditEntry> {
      if (full) throw new Error('ENOSPC: no space left on device')
      order.push(`audit ${entry.outcome}`)
      return { ...entry, seq: order.length }
    },
    record: async () => ({ key: KEY, failure: {} }),
    putRecords: async () => effect('records'),
  } as unknown as Store
  const held = { do: 'hold', guard: 'g', shows: ['x'], allow: '', held: { do: 'update' } }
  const entry = { key: KEY, drift: true, connection: 'c', type: 'vm', action: held }
  const answer = refuses
    ? ({ ok: false, reason: 'refused', message: 'no' } as const)
    : ({ ok: true, message: 'yes' } as const)
  const deps: AskDeps = {
    clock: { now: () => 1 } as AskDeps['clock'],
    store,
    epoch: 1,
    wishes: () => readWishes(undefined),
    keepWishes: async () => effect('wishes'),
    report: () => ({ plan: { entries: [entry] } }) as unknown as PassReport,
    troubles: () => [
      { source: { name: 'main' }, trouble: { reason: 'rewound', commit: 'b' } } as unknown as SourceState,
    ],
    allowReturn: () => effect('return'),
    approvePlan: async () => undefined,
    async adopt() {
      effect('push')
      return answer
    },
    async request() {
      effect('order')
      return answer
    },
    passNow: () => {},
  }
  return { ask: createAsking(deps), order }
}

const WISHES: readonly (readonly [wish: Wish, effect: string])[] = [
  [{ wish: 'suspend', key: KEY }, 'wishes'],
  [{ wish: 'approve', keys: [KEY], expiresMs: 2 }, 'wishes'],
  [{ wish: 'approve', keys: ['Source/main@b'], expiresMs: 2 }, 'return'],
  [{ wish: 'reconcile', key: KEY }, 'records'],
  [{ wish: 'adopt-drift', key: KEY, fields: ['memory'] }, 'push'],
  [{ wish: 'cluster', cluster: 'c', order: 'pause' }, 'order'],
  [{ wish: 'power', target: 'c', order: 'off' }, 'order'],
]

for (const [wish, effect] of WISHES) {
  test(`${wish.wish} (${effect}): the audit entry is written first, and what cannot be written is not done`, async () => {
    const well = asking()
    assert.equal((await well.ask(wish, ANNA)).ok, true)
    assert.deepEqual(well.order, ['audit done', effect])
    const full = asking({ full: true })
    await assert.rejects(full.ask(wish, ANNA), /ENOSPC/)
    assert.deepEqual(full.order, [])
  })
}

test('what is refused is noted once, and after its entry if it had been granted', async () => {
  const unknown = asking()
  assert.equal((await unknown.ask({ wish: 'suspend', key: 'EnvironmentVM/b' }, ANNA)).ok, false)
  assert.deepEqual(unknown.order, ['audit refused'])
  const late = asking({ refuses: true })
  assert.equal((await late.ask({ wish: 'power', target: 'c', order: 'off' }, ANNA)).ok, false)
  assert.deepEqual(late.order, ['audit done', 'order', 'audit refused'])
})
