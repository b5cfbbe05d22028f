import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { createStream } from './stream.ts'
import { fakeController, withResource } from './testing/fake-controller.ts'
import { smallEstate } from './testing/fake-estate.ts'
import { KEY } from './testing/questions.ts'

/** Pauses are over at once; the heartbeat never comes. */
const clock: Clock = {
  now: () => 1_800_000_000_000,
  monotonicMs: () => 0,
  sleep: (ms) => (ms === LIMITS.streamPauseMs ? turn() : new Promise(() => undefined)),
}

/** A listener that records what it is sent. */
function listener() {
  const told: string[] = []
  const response = Object.assign(new EventEmitter(), {
    writableLength: 0,
    writeHead: () => undefined,
    write: (text: string) => told.push(text) > 0,
    end: () => undefined,
    destroy: () => undefined,
  })
  const ids = () => told.flatMap((text) => /^id: \w+\.(\d+)\nevent: (\w+)/.exec(text)?.slice(1, 3).join(' ') ?? [])
  return { response: response as unknown as ServerResponse, ids }
}

test('who resumes at the edge of what is kept misses nothing, and one further back begins anew', async () => {
  const controller = fakeController(smallEstate(), [])
  const stream = createStream(controller, clock, 'boot')
  await stream.page()
  const all = LIMITS.streamMessages + 20
  for (let number = 1; number <= all; number++) {
    controller.set((view) => withResource(view, KEY, (one) => ({ ...one, status: `Status ${number}` })))
    for (let round = 0; round < 4; round++) await turn()
  }
  const [, last = ''] = (await stream.page()).cursor.split('.')
  assert.equal(Number(last), all, 'each change was one message')
  const after = async (seen: number) => {
    const one = listener()
    await stream.attach(one.response, `boot.${seen}`)
    return one.ids()
  }
  const oldest = all - LIMITS.streamMessages + 1
  const kept = Array.from({ length: LIMITS.streamMessages }, (_, at) => `${oldest + at} delta`)
  assert.deepEqual(await after(oldest - 1), kept, 'the next one he needs is the oldest that is kept')
  assert.deepEqual(await after(oldest), kept.slice(1))
  assert.deepEqual(await after(oldest - 2), [`${all} reset`], 'one that he needs is gone')
  assert.deepEqual(await after(all), [])
  assert.deepEqual(await after(all + 1), [`${all} reset`])
  stream.close()
})

test('an event that cannot be shown ends nothing: who listens begins anew', async () => {
  const controller = fakeController(smallEstate(), [])
  const warned: string[] = []
  const stream = createStream(controller, clock, 'boot', (message) => warned.push(message))
  await stream.page()
  const one = listener()
  await stream.attach(one.response, undefined)
  const happens = async (status: string, type: string) => {
    controller.set(
      (view) => withResource(view, KEY, (there) => ({ ...there, status })),
      [{ type: type as 'Normal', reason: 'Applied', message: 'm' }],
    )
    for (let round = 0; round < 4; round++) await turn()
  }
  await happens('First', 'Odd')
  assert.equal(warned.length, 1)
  await happens('Second', 'Normal')
  await happens('Third', 'Normal')
  assert.deepEqual(
    one.ids().map((id) => id.split(' ')[1]),
    ['reset', 'delta', 'reset', 'delta', 'happened'],
  )
  stream.close()
})
