import type { ReportLine } from './test-reporter.ts'

/** How the process of one test file ended. */
export interface FileRun {
  readonly file: string
  readonly lines: readonly ReportLine[]
  readonly output: string
  readonly exit: { readonly code: number | null; readonly signal: string | null; readonly timedOut: boolean }
  readonly tookMs: number
}

export interface FileResult {
  readonly passed: number
  readonly skipped: readonly string[]
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
  for (const line of run.lines) {
    if (line.type === 'passed') passed += 1
    if (line.type === 'note') notes.push(line.text)
    if (line.type === 'failed') failures.push(`${run.file}:${line.line} ${line.name}\n${indent(line.error)}`)
    if (line.type === 'skipped') {
      skipped.push(`${line.name} (${line.reason})`)
      if (mustRun(line.reason, strictness))
        failures.push(`${run.file} ${line.name}\n${indent(`was skipped: ${line.reason}`)}`)
    }
  }
  // A failed test explains a bad exit code, but not a process that never ended.
  const broken = failures.length === 0 || run.exit.timedOut ? brokenFile(run, passed + skipped.length) : undefined
  if (broken !== undefined) failures.push(`${run.file} ${broken}`)
  return { passed, skipped, failures, notes }
}

/** More than this at once is no chance: the code is broken. */
const SECOND_TRIES = 4

/**
 * The files that run a second time, alone: those that failed in a run of everything, if they are few. A test that
 * depends on what runs at the same time is a defect of that test and is named as one, but does not fail the run.
 */
export function secondTries(failed: readonly FileRun[], { long }: Strictness): readonly string[] {
  return long || failed.length > SECOND_TRIES ? [] : failed.map(({ file }) => file)
}

function mustRun(reason: string, { ci, long }: Strictness): boolean {
  return LONG_RUN_ONLY.test(reason) ? long : ci
}

/** What is wrong with the file as a whole, beside its tests. */
function brokenFile(run: FileRun, tests: number): string | undefined {
  const { code, signal, timedOut } = run.exit
  if (timedOut) return 'did not end in time and was killed: something in it is still waiting'
  if (signal !== null) return `was ended by ${signal}`
  if (code !== 0) return `ended with exit code ${code}`
  if (!run.lines.some(({ type }) => type === 'ended')) return 'ended before its tests did, or has none'
  if (tests === 0) return 'has no tests'
  return undefined
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ')
}
