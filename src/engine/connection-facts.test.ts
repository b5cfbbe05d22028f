import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Session } from '../drivers/port.ts'
import { LIMITS } from '../lib/limits.ts'
import type { MissingFact } from '../model/plan.ts'
import type { ObservedResource } from '../model/resource.ts'
import { CONNECTION, guest, NOW, survey } from '../plan/testing/fixture.ts'
import { readMissing, surveyConnection } from './connection-facts.ts'
import { type ConnectionMemory, nothingRemembered } from './connections.ts'

const { signal } = new AbortController()

/** Surveys a connection at this time, reads the facts, and returns which lists it read. */
async function listed(
  memory: ConnectionMemory,
  atMs: number,
  found: readonly ObservedResource[],
  ...missing: readonly MissingFact[]
): Promise<readonly string[]> {
  const asked: string[] = []
  const session = {
    survey: async () => ({ ...survey([]), atMs }),
    list: async (name: string) => {
      asked.push(name)
      return found
    },
  } as unknown as Session
  const facts = await surveyConnection(CONNECTION, session, { looks: new Map(), memory }, signal)
  assert.ok('survey' in facts)
  await readMissing(facts, missing, signal)
  for (const fact of missing)
    if (fact.look === 'list') assert.ok(facts.lists.has(fact.list), `${fact.list} is an answer`)
  return asked
}

const files: MissingFact = { look: 'list', list: 'files' }
const remains: MissingFact = { look: 'list', list: 'files', remainsOf: '100' }

test('a list in which a creation left nothing behind is not asked for again until the answer is old', async () => {
  const memory = nothingRemembered()
  assert.deepEqual(await listed(memory, NOW, [], remains), ['files'])
  assert.deepEqual(await listed(memory, NOW + LIMITS.idCheckMs - 1, [], remains), [])
  assert.deepEqual(await listed(memory, NOW + LIMITS.idCheckMs, [], remains), ['files'])
  // Another id, another list, and a list that is wanted itself have separate answers.
  assert.deepEqual(await listed(memory, NOW, [], { ...remains, remainsOf: '101' }), ['files'])
  assert.deepEqual(await listed(memory, NOW, [], { ...remains, list: 'seeds' }), ['seeds'])
  assert.deepEqual(await listed(memory, NOW, [], files), ['files'])
})

test('a list in which something was left behind is asked for each time', async () => {
  const memory = nothingRemembered()
  assert.deepEqual(await listed(memory, NOW, [guest(100)], remains), ['files'])
  assert.deepEqual(await listed(memory, NOW + 1, [guest(100)], remains), ['files'])
})
