import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { createCagedExpressions } from './expressions.ts'

/** Each level makes the text thirty times as long. */
const grown = (levels: number, times = 30) =>
  Array.from({ length: levels }).reduce<string>(
    (text) => `${text}.replace('a', '${'a'.repeat(times)}')`,
    `'${'a'.repeat(times)}'`,
  )

const ask = (expression: string, object: Readonly<Record<string, unknown>> = {}) => ({
  expression,
  object,
  name: 'self',
})

/** Returns the longest time for which this thread's event loop was blocked, in ms. */
async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, over] = [0, performance.now(), false]
  const turn = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!over) setTimeout(turn, 5)
  }
  turn()
  await work().finally(() => {
    over = true
  })
  return longest
}

test('[S-33] an expression that grows without end is ended, and the others of its pass are answered', async () => {
  const expressions = createCagedExpressions({ clock: systemClock, deadlineMs: 60_000, heapMb: 40 })
  let answers: readonly unknown[] = []
  const stall = await longestStall(async () => {
    answers = await expressions.answers([
      ask(`self.a == 'x'`, { a: 'x' }),
      ask(`${grown(7)}.size() > 3`),
      ask(`self.a == 'x'`, { a: 'y' }),
      ask('self.b'),
      ask(`${grown(5)}.matches('b')`),
    ])
  })
  const ended = /^it takes more than 40 MB; croft evaluates it again in 1 min$/
  assert.deepEqual([answers[0], answers[2]], [true, false])
  assert.match(String(answers[3]), /b/)
  for (const at of [1, 4]) assert.match(String(answers[at]), ended)
  assert.ok(stall < 500, `this thread answered nobody for ${stall} ms`)
})

test('[S-33] an expression that takes too long is ended, backs off, and is evaluated again', async () => {
  let nowMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs }
  const expressions = createCagedExpressions({ clock, deadlineMs: 100 })
  const slow = `lists.range(60).all(x, ${grown(3)}.upperAscii().size() > x)`
  const object = {}
  const [first] = await expressions.answers([ask(slow, object)])
  assert.match(String(first), /^it takes longer than 0\.1 s; .* again in 1 min$/)
  const begun = performance.now()
  assert.deepEqual(await expressions.answers([ask(slow, object)]), [first])
  assert.ok(performance.now() - begun < 50, 'it was set aside')
  nowMs = LIMITS.endedExpressionMs + 1
  const [again] = await expressions.answers([ask(slow, object)])
  assert.match(String(again), /again in 2 min$/)
  assert.deepEqual(await expressions.answers([ask('self.a', { a: true })]), [true])
})

test('[S-33] an expression is charged its own time alone, however long others of its batch take', async () => {
  const expressions = createCagedExpressions({ clock: systemClock, deadlineMs: 2_000 })
  // Each is well within the deadline, and all of them together are far beyond it.
  const busy = (at: number) => ask(`lists.range(10).all(x, ${grown(2)}.upperAscii().size() > x + ${at})`)
  const slow = ask(`lists.range(60).all(x, ${grown(3)}.upperAscii().size() > x)`)
  const begunMs = performance.now()
  const batch = [...Array.from({ length: 14 }, (_, at) => busy(at)), slow, ask('self.a', { a: true })]
  const answers = await expressions.answers(batch)
  assert.ok(performance.now() - begunMs > 2_000, 'the batch is longer than the deadline')
  assert.deepEqual(
    [...answers.slice(0, 14), answers[15]],
    Array.from({ length: 15 }, () => true),
  )
  assert.match(String(answers[14]), /^it takes longer than 2 s/)
})
