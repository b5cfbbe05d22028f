import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { EXCEPTIONS, expectedSeconds, FOLDERS, isInRun, setOf, testFiles } from './sets.ts'

const ROOT = dirname(import.meta.dirname)
/** Processor time that two quiet cores have in ten minutes, less set-up, packages and what neither core can be kept busy with. */
const FIRST_SECONDS = 950
/** Of the checks, which are no test files. */
const CHECKS_SECONDS = 70

test('every test file is in exactly one set', () => {
  const files = testFiles()
  const counts = { first: 0, rest: 0 }
  for (const file of files) counts[setOf(file)] += 1
  assert.equal(counts.first + counts.rest, files.length)
  assert.ok(counts.first > 400 && counts.rest > 100, JSON.stringify(counts))
  assert.throws(() => setOf('bench/a.test.ts'), /lies in no folder/)
})

test('`npm test` and the rest of `npm run test:all` have each file once, and the latter alone has all', () => {
  const run = { all: false, rest: false, long: false }
  const rest = { ...run, all: true, rest: true }
  for (const file of testFiles()) {
    assert.equal(Number(isInRun(file, run)) + Number(isInRun(file, rest)), 1, file)
    assert.ok(isInRun(file, { ...run, all: true }) && isInRun(file, { ...run, long: true }), file)
  }
})

test('every folder and every exception is there, and says why', () => {
  for (const folder of Object.keys(FOLDERS)) assert.ok(existsSync(join(ROOT, folder)), folder)
  const files = new Set(testFiles())
  for (const [file, reason] of Object.entries(EXCEPTIONS)) {
    assert.ok(files.has(file), `${file} is no test file`)
    assert.match(reason, /^\w+ \w+/, `${file}: no reason`)
  }
})

test('the first set is over in ten minutes on two cores', () => {
  const first = testFiles().filter((file) => setOf(file) === 'first')
  const seconds = first.reduce((sum, file) => sum + expectedSeconds(file), 0)
  assert.ok(seconds + CHECKS_SECONDS <= FIRST_SECONDS, `${seconds} s of processor time in ${first.length} files`)
})
