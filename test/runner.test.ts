import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReportLine } from '../scripts/test-reporter.ts'
import { type FileRun, judgeFile, type Strictness, secondTries } from '../scripts/test-results.ts'

const ORDINARY: Strictness = { ci: false, long: false }
const PASSED: ReportLine = { type: 'passed', name: 'adds' }
const ENDED: ReportLine = { type: 'ended' }

function fileRun(lines: readonly ReportLine[], exit: Partial<FileRun['exit']> = {}): FileRun {
  return {
    file: 'src/a.test.ts',
    lines,
    output: '',
    exit: { code: 0, signal: null, timedOut: false, ...exit },
    tookMs: 1,
  }
}

describe('what the run of a test file means', () => {
  test('tests are counted, and notes are kept', () => {
    const result = judgeFile(fileRun([PASSED, { type: 'note', text: '200 seeds' }, PASSED, ENDED]), ORDINARY)
    assert.deepEqual(result, { passed: 2, skipped: [], failures: [], notes: ['200 seeds'] })
  })

  test('a failed test is named with its place and its error', () => {
    const lines: ReportLine[] = [PASSED, { type: 'failed', name: 'breaks', line: 7, error: 'one\ntwo' }, ENDED]
    const { passed, failures } = judgeFile(fileRun(lines, { code: 1 }), ORDINARY)
    assert.equal(passed, 1)
    assert.deepEqual(failures, ['src/a.test.ts:7 breaks\n    one\n    two'])
  })

  test('a file that hangs after a failed test is told for both', () => {
    const lines: ReportLine[] = [{ type: 'failed', name: 'breaks', line: 7, error: 'one' }]
    const { failures } = judgeFile(fileRun(lines, { code: null, signal: 'SIGKILL', timedOut: true }), ORDINARY)
    assert.equal(failures.length, 2)
  })

  const broken: readonly [string, FileRun, RegExp][] = [
    ['is killed for taking too long', fileRun([PASSED], { code: null, signal: 'SIGKILL', timedOut: true }), /in time/],
    ['is ended by a signal', fileRun([PASSED, ENDED], { code: null, signal: 'SIGSEGV' }), /ended by SIGSEGV/],
    ['ends badly though its tests passed', fileRun([PASSED, ENDED], { code: 7 }), /exit code 7/],
    ['calls process.exit on the way', fileRun([PASSED]), /before its tests did/],
    ['has no tests', fileRun([ENDED]), /has no tests/],
  ]
  for (const [what, run, expected] of broken) {
    test(`a file that ${what} has failed`, () => {
      const { failures } = judgeFile(run, ORDINARY)
      assert.equal(failures.length, 1)
      assert.match(failures[0] ?? '', expected)
    })
  }

  const skips: readonly [string, Strictness, number][] = [
    ['needs ../shared', { ci: false, long: false }, 0],
    ['needs ../shared', { ci: true, long: false }, 1],
    ['todo: later', { ci: true, long: false }, 1],
    ['long run only', { ci: true, long: false }, 0],
    ['long run only: 2,000 seeds', { ci: false, long: false }, 0],
    ['long run only', { ci: false, long: true }, 1],
  ]
  for (const [reason, strictness, failed] of skips) {
    const where = `${strictness.ci ? 'in CI' : 'at home'}${strictness.long ? ', long run' : ''}`
    test(`a test skipped for "${reason}" ${failed === 0 ? 'is let pass' : 'has failed'} ${where}`, () => {
      const result = judgeFile(fileRun([PASSED, { type: 'skipped', name: 'some', reason }, ENDED]), strictness)
      assert.equal(result.failures.length, failed)
      assert.equal(result.passed, 1)
      assert.deepEqual(result.skipped, [`some (${reason})`])
    })
  }
})

describe('what failed runs once more, alone', () => {
  const failing = (count: number) => Array.from({ length: count }, () => fileRun([], { code: 1 }))
  const rows: readonly [string, number, Strictness, number][] = [
    ['where nothing failed, nothing', 0, ORDINARY, 0],
    ['a single file', 1, ORDINARY, 1],
    ['in CI as well', 4, { ci: true, long: false }, 4],
    ['many files fail for a reason', 5, ORDINARY, 0],
    ['not in a long run, whose seeds say it all', 1, { ci: false, long: true }, 0],
  ]
  for (const [what, failed, strictness, again] of rows) {
    test(what, () => assert.equal(secondTries(failing(failed), strictness).length, again))
  }
})
