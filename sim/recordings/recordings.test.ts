import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedExchanges } from '../../test/evidence/read.ts'
import { KNOWN_DIFFERENCES, type KnownDifference } from './testing/known-differences.ts'
import { type Difference, replay } from './testing/replay.ts'

/** Returns differences without an explanation, and explanations without a difference. */
function surprises(found: readonly Difference[], known: readonly KnownDifference[]): readonly string[] {
  const isSame = (entry: KnownDifference, { line, label, text }: Difference) =>
    entry.line === line && entry.label === label && text.includes(entry.differs)
  return [
    ...found
      .filter((difference) => !known.some((entry) => isSame(entry, difference)))
      .map(({ line, text }) => `line ${line}: ${text}`),
    ...known
      .filter((entry) => !found.some((difference) => isSame(entry, difference)))
      .map(({ line, label, differs }) => `line ${line}: ${label} is listed with '${differs}' and does not differ so`),
  ]
}

test('an unknown difference is a surprise, and so is a known one that is not there', () => {
  const found = [{ file: 0, line: 7, label: 'x', text: 'x GET /: status 500 != 200' }]
  const entry = { line: 7, label: 'x', differs: '500 != 200', why: 'a test' }
  assert.deepEqual(surprises(found, [entry]), [])
  assert.equal(surprises(found, []).length, 1)
  assert.equal(surprises([], [entry]).length, 1)
  assert.equal(surprises(found, [{ ...entry, differs: '403' }]).length, 2)
  assert.equal(surprises(found, [{ ...entry, line: 8 }]).length, 2)
})

/** Recordings 1 to 4 are older than these. */
const LATER = ['n.yaml', 'm.yaml', 'v.yaml', 'hook.sh', 'failhook.sh', 'noexec.sh'].map((name) => `snippets/${name}`)

test('recordings 1 to 4, in order, are answered as the real daemon answered them', async () => {
  const names = ['1', '2', '3', '4'] as const
  const result = await replay(names.map(recordedExchanges), { guestBeforeSecond: true, without: LATER })
  assert.ok(result.total >= 356, `only ${result.total} exchanges were compared`)
  for (const [file, name] of names.entries()) {
    const found = result.different.filter((difference) => difference.file === file)
    assert.deepEqual(surprises(found, KNOWN_DIFFERENCES[name] ?? []), [], `recording ${name}`)
  }
})

/** How many exchanges are compared at least: a replay that skips lines proves nothing about them. */
const COMPARED = [
  ['A', 477],
  ['B', 624],
  ['C', 444],
  ['E', 606],
  ['F', 256],
  ['G', 140],
] as const

for (const [name, least] of COMPARED) {
  test(`recording ${name} is answered as the real daemon answered it, or a known difference says why`, async () => {
    const result = await replay([recordedExchanges(name)], { guestBeforeSecond: false })
    assert.ok(result.total >= least, `only ${result.total} exchanges were compared`)
    assert.deepEqual(surprises(result.different, KNOWN_DIFFERENCES[name] ?? []), [])
  })
}
