import { NEEDS_EVIDENCE } from '../test/evidence/of-others.ts'
import type { ReportLine } from './test-reporter.ts'

/** How the process of one test file ended. */
export interface FileRun {
  readonly file: string
  readonly lines: readonly ReportLine[]
  readonly output: string
  readonly exit: {
    readonly code: number | null
    readonly signal: string | null
    /** The runner ended it: it took too long, or showed no sign of life. */
    readonly stopped?: 'late' | 'quiet' | undefined
  }
  readonly tookMs: number
}

export interface FileResult {
  readonly passed: number
  readonly skipped: readonly string[]
  /** Tests that read what CROFT_EVIDENCE does not name. They are neither skipped nor failed; the end of the run says how many. */
  readonly withoutEvidence: number
  /** Each with its place and its error, ready to be printed. */
  readonly failures: readonly string[]
  readonly notes: readonly string[]
}

export interface Strictness {
  /** Nothing may be skipped: a skipped test is a failed one. */
  readonly ci: boolean
  /** The long run: what is for the long run only must run now. */
  readonly long: boolean
}

/** A test that is skipped for this reason runs in `npm run test:long`. */
const LONG_RUN_ONLY = /^long run only/

/** What a test file's run means. A file that proves nothing has failed, however quietly it ended. */
export function judgeFile(run: FileRun, strictness: Strictness): FileResult {
  const failures: string[] = []
  const skipped: string[] = []
  const notes: string[] = []
  let passed = 0
  let withoutEvidence = 0
  for (const line of run.lines) {
    if (line.type === 'passed') passed += 1
    if (line.type === 'note') notes.push(line.text)
    if (line.type === 'failed')
      failures.push(`${line.file ?? run.file}:${line.line} ${line.name}\n${indent(line.error)}`)
    if (line.type === 'skipped' && line.reason === NEEDS_EVIDENCE) withoutEvidence += 1
    else if (line.type === 'skipped') {
      skipped.push(`${line.name} (${line.reason})`)
      if (mustRun(line.reason, strictness))
        failures.push(`${run.file} ${line.name}\n${indent(`was skipped: ${line.reason}`)}`)
    }
  }
  // A failed test explains a bad exit code, but not a process that never ended.
  const broken =
    failures.length === 0 || run.exit.stopped !== undefined
      ? brokenFile(run, passed + skipped.length + withoutEvidence)
      : undefined
  if (broken !== undefined) failures.push(`${run.file} ${broken}`)
  return { passed, skipped, withoutEvidence, failures, notes }
}

/** More than this at once is no chance: the code is broken. */
const SECOND_TRIES = 4

/**
 * The files that run a second time, alone: those that failed in a run of everything, if they are few. A test that
 * depends on what runs at the same time is a defect of that test, and is named as one.
 */
export function secondTries(failed: readonly FileRun[], { long }: Strictness): readonly string[] {
  return long || failed.length > SECOND_TRIES ? [] : failed.map(({ file }) => file)
}

export interface Verdict {
  readonly passed: number
  readonly failed: number
  readonly withoutEvidence: number
  readonly failures: readonly string[]
}

/** What all files together mean. `flaky`: what failed, and passed when run alone; where CI is set that fails the run. */
export function judgeRuns(runs: readonly FileRun[], flaky: readonly string[], strictness: Strictness): Verdict {
  const results = runs.map((run) => judgeFile(run, strictness))
  const failures = results.flatMap((one) => one.failures)
  return {
    passed: results.reduce((sum, one) => sum + one.passed, 0),
    failed: failures.length + (strictness.ci ? flaky.length : 0),
    withoutEvidence: results.reduce((sum, one) => sum + one.withoutEvidence, 0),
    failures,
  }
}

function mustRun(reason: string, { ci, long }: Strictness): boolean {
  return LONG_RUN_ONLY.test(reason) ? long : ci
}

/** What is wrong with the file as a whole, beside its tests. */
function brokenFile(run: FileRun, tests: number): string | undefined {
  const { code, signal, stopped } = run.exit
  if (stopped === 'late')
    return `did not end in time and was killed: something in it is still waiting${unfinished(run)}`
  if (stopped === 'quiet')
    return `was killed after a minute without output and without processor time: it hangs${unfinished(run)}`
  if (signal !== null) return `was ended by ${signal}`
  if (code !== 0) return `ended with exit code ${code}`
  if (!run.lines.some(({ type }) => type === 'ended')) return 'ended before its tests did, or has none'
  if (tests === 0) return 'has no tests'
  return undefined
}

/** The tests that began and did not end, as far as the process said so. */
function unfinished({ lines }: FileRun): string {
  const open: string[] = []
  for (const line of lines) {
    if (line.type === 'began') open.push(line.name)
    if (line.type === 'passed' || line.type === 'failed' || line.type === 'skipped') {
      const at = open.indexOf(line.name)
      if (at >= 0) open.splice(at, 1)
    }
  }
  return open.map((name) => `\n    in: ${name}`).join('')
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ')
}
