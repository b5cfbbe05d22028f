import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PARSERS, type Parser } from './parsers.ts'

/* Reading foreign text always ends: soon, in little memory, with an answer or a refusal, never with a crash. */

const LONG = process.env.CROFT_LONG !== undefined
const RUNS = LONG ? 20_000 : 200
/** Of processor time for one input of a few thousand characters, also on a computer that is several times slower. */
const MOST_MS = 3_000
const MOST_BYTES = 256 * 1024 * 1024

function inputsFor({ words, keys }: Parser): fc.Arbitrary<string> {
  const word = fc.constantFrom(...words)
  const piece = fc.oneof(
    { weight: 6, arbitrary: word },
    { weight: 1, arbitrary: fc.string({ maxLength: 12, unit: 'binary' }) },
  )
  const mixed = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''))
  // The same over and over: what is nested, and what makes a pattern go back.
  const repeated = fc
    .tuple(fc.array(word, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 2_000 }), mixed)
    .map(([parts, times, end]) => parts.join('').repeat(times).slice(0, 20_000) + end)
  const plain = fc.oneof({ weight: 4, arbitrary: mixed }, { weight: 1, arbitrary: repeated })
  return keys === undefined ? plain : fc.oneof(plain, shaped(keys))
}

/** JSON with the right keys and the wrong values. */
function shaped(keys: readonly string[]): fc.Arbitrary<string> {
  const key = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...keys) }, fc.constantFrom('__proto__', 'length', ''))
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6, depthSize: 'medium' },
      fc.oneof(
        fc.constantFrom(null, true, 0, -1, 1e308, '', 'True', '__proto__', ...keys),
        fc.string({ maxLength: 8 }),
      ),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
    ),
  }))
  // Object.fromEntries makes a plain key of it, and so does JSON.parse.
  return value.map((made) => JSON.stringify(made) ?? 'null')
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Reads it, and objects to a fault, to too much time and to too much memory. */
function judge(parser: Pick<Parser, 'read' | 'refuses'>, text: string, mostMs = MOST_MS, mostBytes = MOST_BYTES): void {
  const [beforeMs, beforeBytes] = [usedMs(), process.memoryUsage().heapUsed]
  try {
    parser.read(text)
  } catch (error) {
    const expected = parser.refuses?.some((one) => error instanceof one) === true
    const fault = error instanceof TypeError || !(error instanceof Error) || /call stack/.test(error.message)
    if (!expected || fault) throw error
  }
  const tookMs = usedMs() - beforeMs
  assert.ok(tookMs < mostMs, `it took ${tookMs} ms of processor time`)
  const grown = process.memoryUsage().heapUsed - beforeBytes
  assert.ok(grown < mostBytes, `it took ${grown} bytes`)
}

for (const parser of PARSERS)
  test(`[S-45] ${parser.name}: every text is answered or refused, soon and in little memory`, () => {
    const inputs = fc.property(inputsFor(parser), (text) => judge(parser, text))
    fc.assert(inputs, { numRuns: RUNS, ...(LONG ? {} : { seed: 20_261_115 }) })
  })

test('the oracle sees a reader that breaks, one that takes long, and one that grows', () => {
  const deep = (left: number): number => (left === 0 ? 0 : 1 + deep(left - 1))
  const slow = () => {
    const beforeMs = usedMs()
    while (usedMs() < beforeMs + 5);
  }
  assert.throws(() => judge({ read: () => (undefined as unknown as string).length, refuses: [Error] }, ''), TypeError)
  assert.throws(() => judge({ read: () => deep(1e6), refuses: [Error] }, ''), /call stack/)
  assert.throws(() => judge({ read: slow }, '', 1), /processor time/)
  const kept: object[] = []
  // The collector may take away more meanwhile than a few objects add.
  const grow = () => {
    const beforeBytes = process.memoryUsage().heapUsed
    for (let at = 0; at < 500 && process.memoryUsage().heapUsed < beforeBytes + 1e6; at++)
      for (let one = 0; one < 1e4; one++) kept.push({ one })
  }
  assert.throws(() => judge({ read: grow }, '', MOST_MS, 1e5), /bytes/)
})
