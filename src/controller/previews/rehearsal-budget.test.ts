import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Engine } from '../../engine/engine.ts'
import { systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Estate } from '../../model/estate.ts'
import { openRehearsalBudget } from './rehearsal-budget.ts'
import { rehearse } from './rehearse.ts'

test('a rehearsal tells how far it is every few seconds of processor time, and is ended when that is spent', () => {
  let cpuMs = 5_000
  const told: string[] = []
  const tell = (doing: string, twinMs: number, spentMs: number) => void told.push(`${spentMs} ${doing} ${twinMs}`)
  const budget = openRehearsalBudget(new AbortController().signal, () => cpuMs, tell)
  for (const [spentMs, twinMs] of [
    [0, 0],
    [LIMITS.rehearsalToldMs - 1, 10],
    [LIMITS.rehearsalToldMs, 20],
    [LIMITS.rehearsalToldMs + 1, 30],
    [2 * LIMITS.rehearsalToldMs, 40],
  ] as const) {
    cpuMs = 5_000 + spentMs
    budget.spend('forming', twinMs)
  }
  assert.deepEqual(told, [`${LIMITS.rehearsalToldMs} forming 20`, `${2 * LIMITS.rehearsalToldMs} forming 40`])
  assert.deepEqual([budget.spentOn(), budget.signal.aborted], [undefined, false])
  cpuMs = 5_000 + LIMITS.rehearsalCpuMs
  budget.spend('performing', 50)
  cpuMs += 1
  budget.spend('something later', 60)
  assert.match(budget.spentOn() ?? '', /^performing took more than the 60 s of processor time/)
  assert.equal(budget.signal.aborted, true)
})

test("a person's Ctrl-C ends it too, and is no spent budget", () => {
  const stop = new AbortController()
  const budget = openRehearsalBudget(
    stop.signal,
    () => 0,
    () => {},
  )
  stop.abort()
  budget.spend('forming', 1)
  assert.deepEqual([budget.signal.aborted, budget.spentOn()], [true, undefined])
})

test('a rehearsal without an end is stopped, says what it was at, and keeps what it saw', async () => {
  let cpuMs = 0
  const budget = openRehearsalBudget(
    new AbortController().signal,
    () => cpuMs,
    () => {},
  )
  const report = {
    plan: { entries: [], notes: [], problems: [] },
    records: [],
    events: [{ atMs: 1, type: 'Normal', reason: 'Started', message: 'm' }],
  }
  const engine = {
    async settle(_: Estate, { signal, onPass }: { signal: AbortSignal; onPass: (one: unknown) => void }) {
      for (let pass = 0; pass < 1_000_000 && !signal.aborted; pass++) {
        cpuMs += 7_000
        onPass(report)
      }
      return { outcome: signal.aborted ? 'aborted' : 'settled' }
    },
  } as unknown as Engine
  const twin = { clock: systemClock, runUntil: <T>(promise: Promise<T>) => promise, running: () => [] }
  const result = await rehearse(engine, twin, { clusters: [] } as unknown as Estate, budget)
  assert.equal(result.outcome, 'stopped')
  assert.match(result.why ?? '', /^performing the plan took more than/)
  assert.equal(result.events.length, 9)
})
