import assert from 'node:assert/strict'
import { test } from 'node:test'
import { integerBetween, type Random, seededRandom } from '../../src/lib/random.ts'
import { estateOf, SIX } from './manifests.ts'
import { simulate } from './run.ts'
import { LONG, replay, seeds } from './volume.ts'

const FILE = 'f38-stability.test.ts'
const estate = estateOf(SIX)

test('[F-38] a settled fleet stays settled while the API shuffles all that it may shuffle', async () => {
  for (const seed of seeds(1, 5)) {
    const run = simulate({ seed, estate })
    const process = run.start()
    await run.untilSettled(process)
    const writes = run.datacentre.writes.length
    const { handle } = run.datacentre
    const random = seededRandom(seed)
    const shuffling = run.datacentre as { handle: typeof handle }
    shuffling.handle = async (request) => {
      const response = await handle(request)
      if (request.method !== 'GET' || response.status !== 200) return response
      return { ...response, body: JSON.stringify(shuffled(JSON.parse(response.body), random)) }
    }
    const signal = new AbortController().signal
    for (let round = 0; round < (LONG ? 1000 : 200); round++) {
      const hint = `${replay(FILE, seed)} (round ${round})`
      // A new process each time reads everything closely again.
      const fresh = round % 2 === 0 ? run.start() : process
      const plan = await run.clock.runUntil(fresh.engine.plan(estate, signal))
      const lines = plan.entries.filter((entry) => entry.action.do !== 'nothing')
      assert.deepEqual(
        lines.map((entry) => [entry.key, entry.action]),
        [],
        hint,
      )
      if (round % 10 === 0) {
        const [report] = await run.passes(fresh, 1)
        assert.equal(report?.effects, 0, hint)
      }
    }
    assert.equal(run.datacentre.writes.length, writes)
  }
})

/** Another order of keys, list members, tags and parts of property strings: all of it means the same. */
function shuffled(value: unknown, random: Random, key = ''): unknown {
  if (Array.isArray(value)) return shuffle(value, random).map((item) => shuffled(item, random))
  if (value !== null && typeof value === 'object') {
    const entries = shuffle(Object.entries(value), random)
    return Object.fromEntries(entries.map(([name, inner]) => [name, shuffled(inner, random, name)]))
  }
  if (typeof value !== 'string') return value
  if (key === 'tags') return shuffle(value.split(';'), random).join(';')
  if (/^(net|scsi|virtio|ide)\d+$/.test(key)) {
    const [first = '', ...rest] = value.split(',')
    return [first, ...shuffle(rest, random)].join(',')
  }
  return value
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const copy = [...items]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = integerBetween(random, 0, i)
    const held = copy[i] as T
    copy[i] = copy[j] as T
    copy[j] = held
  }
  return copy
}
