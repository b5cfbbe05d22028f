import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { KNOWN_DIFFERENCES, type KnownDifference } from './known-differences.ts'
import { type Difference, type Recorded, replay } from './replay.ts'

const PLACE = new URL('../../../shared/pve/', import.meta.url)
const present = existsSync(PLACE)
if (!present && process.env.CI) throw new Error(`the recordings of the real API are missing: ${PLACE.pathname}`)
const skip = present ? false : 'the recordings of the real API are not beside this clone'

function recording(name: string): Recorded[] {
  const text = readFileSync(new URL(`recording-${name}.jsonl`, PLACE), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded)
}

/** What nobody has explained, and what is explained but does not differ. */
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

test('recordings 1 to 4, in order, are answered as the real daemon answered them', { skip }, async () => {
  const names = ['1', '2', '3', '4']
  const result = await replay(names.map(recording), { guestBeforeSecond: true, without: LATER })
  assert.ok(result.total >= 370, `only ${result.total} exchanges were compared`)
  for (const [file, name] of names.entries()) {
    const found = result.different.filter((difference) => difference.file === file)
    assert.deepEqual(surprises(found, KNOWN_DIFFERENCES[name] ?? []), [], `recording ${name}`)
  }
})

/** How many exchanges are compared at least: a replay that skips lines proves nothing about them. */
const COMPARED: Readonly<Record<string, number>> = { A: 518, B: 657, C: 545, E: 676, F: 293, G: 157 }

for (const [name, least] of Object.entries(COMPARED)) {
  test(`recording ${name} is answered as the real daemon answered it, or a known difference says why`, {
    skip,
  }, async () => {
    const result = await replay([recording(name)], { guestBeforeSecond: false })
    assert.ok(result.total >= least, `only ${result.total} exchanges were compared`)
    assert.deepEqual(surprises(result.different, KNOWN_DIFFERENCES[name] ?? []), [])
  })
}
