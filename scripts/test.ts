import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { expectedSeconds, isInRun, SECONDS_FILE, testFiles } from '../test/sets.ts'
import { FIRST_PACKAGES, LIBVIRT_PACKAGES, REAL_PACKAGES, TEST_PACKAGES } from './packages.ts'
import { makeTestHome, testEnvironment } from './test-environment.ts'
import { endAll, MARK, SEES_PROCESSES, spentByChildrenMs, ticksOf } from './test-processes.ts'
import { createProgress } from './test-progress.ts'
import type { ReportLine } from './test-reporter.ts'
import { type FileRun, judgeFile, judgeRuns, secondTries } from './test-results.ts'
import { enterTestSystem, STARTER } from './test-system.ts'

// `npm test`: the checks, then the test files of the first set (test/sets.ts), each in a separate process. `--all`: both
// sets. `--rest`: the second set without the checks, for what follows on `npm test`. With CROFT_REAL=1 beside these two, the
// programs of `npm run test:real` too. With paths, only the test files there and no checks. `--long` runs the whole volume
// of the tests that have one. `--seconds` writes down how long each file took.
// What only some runs need is imported where it is needed: a run of one file begins at once.

const AT_ONCE = 2
const FILE_TIMEOUT_MS = 480_000
const LONG_FILE_TIMEOUT_MS = 72 * 3_600_000
const REAL_TIMEOUT_MS = 50 * 60_000
const OUTPUT_LENGTH = 200_000
/** A file is ended after this time without output and without processor time worth the name. */
const QUIET_MS = 60_000
const QUIET_LOOK_MS = 5000
const QUIET_TICKS = 20
/** Files that take less are not worth a line. */
const WORTH_SECONDS = 3

const root = dirname(import.meta.dirname)
const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    seconds: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const { long } = values
const ci = !['', '0', 'false'].includes(process.env.CI ?? '')
const strictness = { ci, long }
const bySet = positionals.length === 0
const beyondFirst = values.all || values.rest || long
const real = process.env.CROFT_REAL === '1' && beyondFirst && bySet

const files = chosenFiles()
const needed = beyondFirst || !bySet ? TEST_PACKAGES : FIRST_PACKAGES
const wanted = [...needed, ...(real ? REAL_PACKAGES : []), ...(real && process.arch === 'x64' ? LIBVIRT_PACKAGES : [])]
enterTestSystem(wanted, { make: bySet })
// What is not made for a few files may be there from a run of more.
if (!bySet) enterTestSystem(TEST_PACKAGES, { make: false })

const scratch = mkdtempSync(join(tmpdir(), 'croft-test-'))
// Some tests start what is built there as another user.
chmodSync(scratch, 0o755)
makeTestHome(join(scratch, 'home'))
const mark = `${process.env[MARK] ?? ''}${process.pid}.${Math.round(performance.timeOrigin)}/`
const running = new Set<ChildProcess>()
const progress = createProgress(process.stdout, new Map(files.map((file) => [file, expectedSeconds(file)])))
const print = (text: string) => progress.print(text)
// Ctrl-C must not leave test processes behind: each has its own process group and does not see it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130))
// bin/run hands signals on, but not its own death.
process.on('disconnect', () => process.exit(130))
// The listener holds the channel open, and with it a run that is over.
process.channel?.unref()
if (process.env[STARTER] === String(process.ppid))
  setInterval(() => {
    if (process.env[STARTER] !== String(process.ppid)) process.exit(130)
  }, 1000).unref()
process.on('exit', () => {
  for (const child of running) killGroup(child)
  endAll(mark)
  rmSync(scratch, { recursive: true, force: true })
})

const failures: string[] = []
let passed = 0
if (bySet) await prepare()
// These start croft hundreds of times, so they use an installed one.
if (files.some((file) => /^test\/(?:binary|browser|docs)\//.test(file))) {
  const { buildCroft } = await import('./built-croft.ts')
  process.env.CROFT_TEST_BUILT = await buildCroft(join(scratch, 'croft'))
}
const { COMPILED } = await import('../test/compiled.ts')
const environment = { ...testEnvironment(process.env, join(scratch, 'home')), ...COMPILED }
if (long) environment.CROFT_LONG = '1'

const fileQueue = files.entries()
const realQueue = (real ? realPrograms() : []).values()
const runs: FileRun[] = []
const realRuns: RealRun[] = []
const spentMs = new Map<string, number>()
let accountedMs = spentByChildrenMs()
// Real programs mostly wait, for each other or for one emulated processor: one at a time fits beside the test files.
await Promise.all([...Array.from({ length: AT_ONCE }, () => workFiles().then(workReal)), workReal()])
const flaky = bySet ? [...(await tryAgain()), ...(await tryRealAgain())] : []
progress.close()
if (values.seconds) writeSeconds()

const verdict = judgeRuns(runs, flaky, strictness)
passed += verdict.passed
let failed = failures.length + verdict.failed
failures.push(...verdict.failures)
for (const { program, problem } of realRuns) {
  if (problem === undefined) passed += 1
  else {
    failed += 1
    failures.push(`${program} ${problem}: its output is above`)
  }
}
if (failures.length > 0) print(`\n${failures.map((failure) => `✖ ${failure}\n`).join('\n')}\n`)
if (flaky.length > 0)
  print(
    `\nFlaky, a defect of the test: failed, and passed when run alone${ci ? ' (which fails a run where CI is set)' : ''}.\n` +
      `${flaky.map((text) => `⚠ ${text}\n`).join('\n')}\n`,
  )
if (verdict.withoutEvidence > 0)
  print(
    `${verdict.withoutEvidence} tests were not run: they read other people's text, and CROFT_EVIDENCE does not name its folder\n`,
  )
print(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

/** Packages, what else is fetched once, and the checks. */
async function prepare(): Promise<void> {
  const { ensurePackages } = await import('./packages.ts')
  ensurePackages(wanted)
  if (beyondFirst) {
    // The first time this may take longer than a test file is given, and two at once would be in each other's way.
    await (await import('../test/clients/python.ts')).pythonClients()
    ;(await import('../test/real-ssh/host-root.ts')).ensureHostRoot()
  }
  if (real) (await import('../test/real/kube-apiserver.ts')).missingForApi()
  if (values.rest) return
  const { runChecks } = await import('./checks.ts')
  for (const { ok, check } of await runChecks(root, print)) {
    if (ok) passed += 1
    else failures.push(`${check.name} failed: its output is above`)
  }
}

async function workFiles(): Promise<void> {
  for (const [index, file] of fileQueue) {
    progress.begin(file)
    const run = await runFile(file, String(index))
    progress.end(file, show(run))
    runs.push(run)
  }
}

async function workReal(): Promise<void> {
  for (const program of realQueue) realRuns.push(await runReal(program))
}

function show(run: FileRun): boolean {
  const result = judgeFile(run, strictness)
  const skipped = result.skipped.length === 0 ? '' : `, ${result.skipped.length} skipped`
  const ok = result.failures.length === 0
  let text = `${ok ? '✔' : '✖'} ${run.file} (${result.passed} passed${skipped}, ${(run.tookMs / 1000).toFixed(1)} s)\n`
  for (const note of result.notes) text += `    ${note}\n`
  for (const skip of result.skipped) text += `    skipped: ${skip}\n`
  print(ok ? text : text + run.output)
  return ok
}

/** Runs what failed once more, alone; returns what then passed, with how it failed. */
async function tryAgain(): Promise<readonly string[]> {
  const broken = runs.filter((run) => judgeFile(run, strictness).failures.length > 0)
  const passedAlone: string[] = []
  for (const [index, file] of secondTries(broken, strictness).entries()) {
    print(`${file} again, alone\n`)
    const run = await runFile(file, `again-${index}`)
    if (!show(run)) continue
    const first = runs.findIndex((other) => other.file === file)
    for (const before of runs.splice(first, 1, run)) passedAlone.push(...judgeFile(before, strictness).failures)
  }
  return passedAlone
}

/** As with test files. */
async function tryRealAgain(): Promise<readonly string[]> {
  const passedAlone: string[] = []
  for (const [index, { program, problem }] of realRuns.entries()) {
    if (problem === undefined) continue
    print(`${program} again, alone\n`)
    const run = await runReal(program)
    if (run.problem !== undefined) continue
    realRuns[index] = run
    passedAlone.push(`${program} ${problem}`)
  }
  return passedAlone
}

/** What `npm run test:real` runs, in its order. */
function realPrograms(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const programs = [...(scripts['test:real'] ?? '').matchAll(/node bin\/run (\S+)/g)].map(([, program = '']) => program)
  if (programs.length === 0) throw new Error('package.json: test:real runs nothing')
  return programs
}

/** The files of the sets that were asked for, or those at the given paths. A path without any is a mistake, not a green run. */
function chosenFiles(): readonly string[] {
  const all = testFiles()
  const paths = positionals.map((path) => relative(root, resolve(path)))
  const isAt = (file: string, path: string) => file === path || file.startsWith(`${path}/`)
  for (const path of paths) {
    if (all.some((file) => isAt(file, path))) continue
    const isFolder = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory()
    process.stdout.write(`${path} ${isFolder ? 'has no *.test.ts' : 'is no test file'}\n`)
    process.exit(64)
  }
  const chosen = bySet
    ? all.filter((file) => isInRun(file, values))
    : all.filter((file) => paths.some((path) => isAt(file, path)))
  // The longest first, so that no long file starts last.
  return chosen.toSorted((a, b) => expectedSeconds(b) - expectedSeconds(a) || (a < b ? 1 : -1))
}

async function runFile(file: string, name: string): Promise<FileRun> {
  const report = join(scratch, `${name}.jsonl`)
  const reporter = join(import.meta.dirname, 'test-reporter.ts')
  const args = ['--test-reporter', reporter, '--test-reporter-destination', report, file]
  const ran = await runNode(args, { limitMs: long ? LONG_FILE_TIMEOUT_MS : FILE_TIMEOUT_MS, name, report })
  spentMs.set(file, ran.spentMs)
  return { file, lines: reportLines(report), ...ran }
}

interface RealRun {
  readonly program: string
  /** Undefined: it passed. */
  readonly problem: string | undefined
}

async function runReal(program: string): Promise<RealRun> {
  const { output, exit, tookMs } = await runNode([program], { limitMs: REAL_TIMEOUT_MS, name: program })
  const problem = exit.code === 0 ? undefined : exit.stopped === 'late' ? 'did not end in time' : 'failed'
  print(`${output}${problem === undefined ? '✔' : '✖'} ${program} (${(tookMs / 1000).toFixed(1)} s)\n`)
  return { program, problem }
}

interface Ran extends Pick<FileRun, 'output' | 'exit' | 'tookMs'> {
  readonly spentMs: number
}

interface Limits {
  readonly limitMs: number
  /** Under which its processes are found. */
  readonly name: string
  /** A file that grows while tests end; what shows no sign of life is ended. Without it only the limit counts. */
  readonly report?: string
}

function runNode(args: readonly string[], { limitMs, name, report }: Limits): Promise<Ran> {
  const startedMs = performance.now()
  const own = `${mark}${name}/`
  const env = report === undefined ? { ...process.env, ...COMPILED } : environment
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...env, [MARK]: own },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < OUTPUT_LENGTH) output += text
    })
  }
  return new Promise((done, fail) => {
    let stopped: 'late' | 'quiet' | undefined
    let spent = 0
    const stop = (why: 'late' | 'quiet') => {
      stopped = why
      killGroup(child)
      endAll(own)
    }
    const timer = setTimeout(() => stop('late'), limitMs)
    const watch = report !== undefined && SEES_PROCESSES ? watchLife(own, report, () => output.length, stop) : undefined
    child.on('error', fail)
    child.on('exit', () => {
      const all = spentByChildrenMs()
      spent = all - accountedMs
      accountedMs = all
      // What it left running would hold its output open, and be in the way of others.
      endAll(own)
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      clearInterval(watch)
      running.delete(child)
      done({ output, exit: { code, signal, stopped }, tookMs: performance.now() - startedMs, spentMs: spent })
    })
  })
}

/** Calls `stop` when neither a test ends, nor anything is printed, nor processor time is used for a minute. */
function watchLife(own: string, report: string, printed: () => number, stop: (why: 'quiet') => void): NodeJS.Timeout {
  let lastMs = performance.now()
  let lastTold = -1
  let lastTicks = 0
  return setInterval(() => {
    const told = printed() + (statSync(report, { throwIfNoEntry: false })?.size ?? 0)
    const ticks = ticksOf(own)
    if (told !== lastTold || Math.abs(ticks - lastTicks) > QUIET_TICKS) {
      lastMs = performance.now()
      lastTold = told
      lastTicks = ticks
    } else if (performance.now() - lastMs > QUIET_MS) stop('quiet')
  }, QUIET_LOOK_MS)
}

/** How long each file took, of the run that was asked to write it down; what it did not run stays. */
function writeSeconds(): void {
  const before = JSON.parse(readFileSync(SECONDS_FILE, 'utf8')) as Readonly<Record<string, number>>
  const took = Object.fromEntries([...spentMs].map(([file, ms]) => [file, Math.round(ms / 1000)]))
  const known = new Set(testFiles())
  const kept = Object.entries({ ...before, ...took })
    .filter(([file, seconds]) => seconds >= WORTH_SECONDS && known.has(file))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(SECONDS_FILE, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`)
}

/** What the reporter wrote before the process ended; its last line may be torn when the process was killed. */
function reportLines(path: string): readonly ReportLine[] {
  if (!existsSync(path)) return []
  const complete = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return complete.map((line) => JSON.parse(line) as ReportLine)
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It ended between the decision and the kill.
  }
}
