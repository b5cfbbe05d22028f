import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Session } from '../drivers/port.ts'
import { systemClock } from '../lib/clock.ts'
import { turnsOf } from '../lib/in-turns.ts'
import { CONNECTION, estateOf, FAKE_RULES, guest, ledgerWith, machine, NOW, survey } from '../plan/testing/fixture.ts'
import { surveyConnection } from './connection-facts.ts'
import type { ConnectionMemory } from './connections.ts'
import { observeAndPlan } from './observation.ts'

const { signal } = new AbortController()

/** Which guests are read closely in this pass, and which are put off, where these were just made by this process. */
async function reads(made: readonly string[], begun: readonly string[] = made) {
  const guests = [guest(100, { of: 'Machine/a', seenOnly: true }), guest(101, { of: 'Machine/b', seenOnly: true })]
  const read: string[] = []
  const session = {
    survey: async () => survey(guests),
    observe: async (seen: (typeof guests)[number]) => {
      read.push(seen.externalId)
      return guest(Number(seen.externalId), { of: seen.mark?.owner ?? '' })
    },
  } as unknown as Session
  const memory: ConnectionMemory = {
    free: new Map(),
    bare: new Map(),
    born: new Set(made),
    begun: new Set(begun),
    waited: new Map(),
  }
  const facts = await surveyConnection(CONNECTION, session, { looks: new Map(), memory }, signal)
  assert.ok('survey' in facts)
  const { later } = await observeAndPlan(
    estateOf([machine('a', { vmid: 100 }), machine('b', { vmid: 101 })]),
    { factsByConnection: new Map([['default', facts]]), unseen: new Map() },
    ledgerWith(),
    new Map([['fake', FAKE_RULES]]),
    {},
    NOW,
    turnsOf(systemClock),
    signal,
    (plan) => plan.entries,
  )
  const off = [...later.values()].flat().flatMap((fact) => ('externalId' in fact ? [fact.externalId] : []))
  return { read: read.toSorted(), off }
}

test('machines that this process has just made are read after everything else', async () => {
  assert.deepEqual(await reads([]), { read: ['100', '101'], off: [] })
  const { read } = await reads(['101'])
  assert.equal(read[0], '100')
  // What an earlier process made is read at once.
  assert.deepEqual(await reads(['101'], []), { read: ['100', '101'], off: [] })
})
