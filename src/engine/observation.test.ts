import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Session } from '../drivers/port.ts'
import { systemClock } from '../lib/clock.ts'
import { turnsOf } from '../lib/in-turns.ts'
import { CONNECTION, estateOf, FAKE_RULES, guest, ledgerWith, machine, NOW, survey } from '../plan/testing/fixture.ts'
import { surveyConnection } from './connection-facts.ts'
import { type ConnectionMemory, nothingRemembered } from './connections.ts'
import { observeAndPlan } from './observation.ts'

const { signal } = new AbortController()

/** Returns the order of close looks in this pass, and the ones put off, if these guests were just created. */
async function reads(
  made: readonly string[],
  { begun = made, memory = 1024 }: { readonly begun?: readonly string[]; readonly memory?: number } = {},
) {
  const guests = [guest(100, { of: 'Machine/a', seenOnly: true }), guest(101, { of: 'Machine/b', seenOnly: true })]
  const read: string[] = []
  const session = {
    survey: async () => survey(guests),
    observe: async (seen: (typeof guests)[number]) => {
      read.push(seen.externalId)
      return guest(Number(seen.externalId), { of: seen.mark?.owner ?? '' })
    },
  } as unknown as Session
  const remembered: ConnectionMemory = {
    ...nothingRemembered(),
    born: new Set(made),
    begun: new Map(begun.map((id) => [id, undefined])),
  }
  const facts = await surveyConnection(CONNECTION, session, { looks: new Map(), memory: remembered }, signal)
  assert.ok('survey' in facts)
  const { later } = await observeAndPlan(
    {
      estate: estateOf([machine('a', { vmid: 100 }), machine('b', { vmid: 101, memory })]),
      ledger: ledgerWith(),
      rules: new Map([['fake', FAKE_RULES]]),
      nowMs: NOW,
    },
    { factsByConnection: new Map([['default', facts]]), unseen: new Map() },
    turnsOf(systemClock),
    signal,
    (plan) => plan.entries,
  )
  const off = [...later.values()].flat().flatMap((fact) => ('externalId' in fact ? [fact.externalId] : []))
  return { read, off }
}

test('machines that this process has just made are read after everything else', async () => {
  assert.deepEqual(await reads([]), { read: ['100', '101'], off: [] })
  assert.deepEqual(await reads(['100']), { read: ['101', '100'], off: [] })
  // Guests of an earlier process are read at once.
  assert.deepEqual(await reads(['100'], { begun: [] }), { read: ['100', '101'], off: [] })
})

test('while others are changed, machines that this process has just made are not read in this pass', async () => {
  assert.deepEqual(await reads(['100'], { memory: 2048 }), { read: ['101'], off: ['100'] })
})
