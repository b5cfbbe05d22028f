import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { pythonClients } from '../test/clients/python.ts'
import { COMPILED } from '../test/compiled.ts'
import { missingForApi } from '../test/real/kube-apiserver.ts'
import { ensureHostRoot } from '../test/real-ssh/host-root.ts'
import { buildCroft } from './built-croft.ts'
import { runChecks } from './checks.ts'
import { ensurePackages, LIBVIRT_PACKAGES, REAL_PACKAGES, TEST_PACKAGES } from './packages.ts'
import type { ReportLine } from './test-reporter.ts'
import { type FileRun, judgeFile, secondTries } from './test-results.ts'
import { enterTestSystem } from './test-system.ts'

// `npm test`: the checks, then every test file in a process of its own and, where they are asked for, the programs of
// `npm run test:real` beside them. With paths, only the test files there and no checks. `--long` runs the whole volume of
// the tests that have one.

const AT_ONCE = 2
const FILE_TIMEOUT_MS = 480_000
const LONG_FILE_TIMEOUT_MS = 72 * 3_600_000
const REAL_TIMEOUT_MS = 50 * 60_000
const OUTPUT_LENGTH = 200_000
const PATTERNS = ['src/**/*.test.ts', 'sim/**/*.test.ts', 'test/**/*.test.ts']

const root = dirname(import.meta.dirname)
const { values, positionals } = parseArgs({
  options: { long: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const { long } = values
const ci = !['', '0', 'false'].includes(process.env.CI ?? '')
const print = (text: string) => process.stdout.write(text)

let passed = 0
let failed = 0
const failures: string[] = []

const real = process.env.CROFT_REAL === '1'
const wanted = [
  ...TEST_PACKAGES,
  ...(real ? REAL_PACKAGES : []),
  ...(real && process.arch === 'x64' ? LIBVIRT_PACKAGES : []),
]
enterTestSystem(wanted, { make: positionals.length === 0 })
if (positionals.length === 0) {
  ensurePackages(wanted)
  // The first time this may take longer than a test file is given, and two at once would be in each other's way.
  await pythonClients()
  ensureHostRoot()
  if (real) missingForApi()
  for (const { ok, check } of await runChecks(root, print)) {
    if (ok) passed += 1
    else failures.push(`${check.name} failed: its output is above`)
  }
  failed += failures.length
}

const files = testFiles(positionals)
const running = new Set<ChildProcess>()
// Ctrl-C must not leave test processes behind: each has a process group of its own and does not see it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const child of running) killGroup(child)
    process.exit(130)
  })
}

const scratch = mkdtempSync(join(tmpdir(), 'croft-test-'))
// Some tests start what is built there as another user.
chmodSync(scratch, 0o755)
// These start croft hundreds of times, as somebody does who has installed it.
if (files.some((file) => /^test\/(?:binary|browser|docs)\//.test(file)))
  process.env.CROFT_TEST_BUILT = await buildCroft(join(scratch, 'croft'))
const fileQueue = files.entries()
const realQueue = (real && positionals.length === 0 ? realPrograms() : []).values()
const runs: FileRun[] = []
const realRuns: RealRun[] = []
// Real programs mostly wait, for each other or for one emulated processor: one at a time fits beside the test files.
await Promise.all([...Array.from({ length: AT_ONCE }, () => workFiles().then(workReal)), workReal()])
const flaky = positionals.length === 0 ? [...(await tryAgain()), ...(await tryRealAgain())] : []
rmSync(scratch, { recursive: true })
for (const run of runs) {
  const result = judgeFile(run, { ci, long })
  passed += result.passed
  failed += result.failures.length
  failures.push(...result.failures)
}
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
    `\nFlaky, a defect of the test: failed, and passed when run alone.\n${flaky.map((text) => `⚠ ${text}\n`).join('\n')}\n`,
  )
print(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

async function workFiles(): Promise<void> {
  for (const [index, file] of fileQueue) {
    const run = await runFile(file, join(scratch, `${index}.jsonl`))
    show(run)
    runs.push(run)
  }
}

async function workReal(): Promise<void> {
  for (const program of realQueue) realRuns.push(await runReal(program))
}

function show(run: FileRun): boolean {
  const result = judgeFile(run, { ci, long })
  const skipped = result.skipped.length === 0 ? '' : `, ${result.skipped.length} skipped`
  const ok = result.failures.length === 0
  print(`${ok ? '✔' : '✖'} ${run.file} (${result.passed} passed${skipped}, ${(run.tookMs / 1000).toFixed(1)} s)\n`)
  for (const note of result.notes) print(`    ${note}\n`)
  for (const skip of result.skipped) print(`    skipped: ${skip}\n`)
  if (!ok) print(run.output)
  return ok
}

/** Runs what failed once more, alone; returns what then passed, with how it failed. */
async function tryAgain(): Promise<readonly string[]> {
  const broken = runs.filter((run) => judgeFile(run, { ci, long }).failures.length > 0)
  const passedAlone: string[] = []
  for (const [index, file] of secondTries(broken, { ci, long }).entries()) {
    print(`${file} again, alone\n`)
    const run = await runFile(file, join(scratch, `again-${index}.jsonl`))
    if (!show(run)) continue
    const first = runs.findIndex((other) => other.file === file)
    for (const before of runs.splice(first, 1, run)) passedAlone.push(...judgeFile(before, { ci, long }).failures)
  }
  return passedAlone
}

/** As with test files: what fails beside others and passes alone is named and does not fail the run. */
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

/** All test files, or those at the given paths. A path without any is a mistake, not a green run. */
function testFiles(paths: readonly string[]): readonly string[] {
  // The short ones, beside the sources, come last: nobody waits at the end for one that has just begun.
  const all = globSync(PATTERNS, { cwd: root }).sort((a, b) => (a < b ? 1 : -1))
  const wanted = paths.map((path) => relative(root, resolve(path)))
  const chosen =
    wanted.length === 0
      ? all
      : all.filter((file) => wanted.some((path) => file === path || file.startsWith(`${path}/`)))
  for (const path of wanted) {
    if (!chosen.some((file) => file === path || file.startsWith(`${path}/`))) {
      const known =
        existsSync(join(root, path)) && statSync(join(root, path)).isDirectory()
          ? 'has no *.test.ts'
          : 'is no test file'
      print(`${path} ${known}\n`)
      process.exit(64)
    }
  }
  return chosen
}

async function runFile(file: string, reportPath: string): Promise<FileRun> {
  const reporter = join(import.meta.dirname, 'test-reporter.ts')
  const args = ['--test-reporter', reporter, '--test-reporter-destination', reportPath, file]
  const ran = await runNode(args, long ? LONG_FILE_TIMEOUT_MS : FILE_TIMEOUT_MS)
  return { file, lines: reportLines(reportPath), ...ran }
}

interface RealRun {
  readonly program: string
  /** Undefined: it passed. */
  readonly problem: string | undefined
}

async function runReal(program: string): Promise<RealRun> {
  const { output, exit, tookMs } = await runNode([program], REAL_TIMEOUT_MS)
  const problem = exit.code === 0 ? undefined : exit.timedOut ? 'did not end in time' : 'failed'
  print(`${output}${problem === undefined ? '✔' : '✖'} ${program} (${(tookMs / 1000).toFixed(1)} s)\n`)
  return { program, problem }
}

type Ran = Pick<FileRun, 'output' | 'exit' | 'tookMs'>

function runNode(args: readonly string[], limitMs: number): Promise<Ran> {
  const startedMs = performance.now()
  const env = { ...process.env, ...COMPILED, ...(long ? { CROFT_LONG: '1' } : {}) }
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < OUTPUT_LENGTH) output += text
    })
  }
  return new Promise((done, fail) => {
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      killGroup(child)
    }, limitMs)
    child.on('error', fail)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      running.delete(child)
      done({ output, exit: { code, signal, timedOut }, tookMs: performance.now() - startedMs })
    })
  })
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
