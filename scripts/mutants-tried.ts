import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Counted, type Mutant, ranAt } from './mutants-made.ts'

/** What a test file does without any bug. */
interface WithoutBug {
  /** A test that fails in the copy by itself would call every bug found. */
  readonly passed: boolean
  /** Which parts of which files it ran. */
  readonly counted: ReadonlyMap<string, readonly Counted[]>
}

/** What lasts from one run to the next. */
export const CACHE = path.resolve(import.meta.dirname, '../node_modules/.cache/croft-mutants')

export type Trials = ReturnType<typeof createTrials>

const LEAST_MS = 60_000

/** Runs test files in a copy of the tree. What a test runs is asked once per version of it, by V8's own counters. */
export function createTrials(copy: string, isWanted: (file: string) => boolean, versionOf: (test: string) => string) {
  const known = new Map<string, Promise<WithoutBug>>()
  const withoutBug = (test: string): Promise<WithoutBug> => {
    const found = known.get(test) ?? count(test)
    known.set(test, found)
    return found
  }
  const count = async (test: string): Promise<WithoutBug> => {
    const kept = path.join(CACHE, `${versionOf(test)}.json`)
    if (existsSync(kept)) return { passed: true, counted: new Map(JSON.parse(readFileSync(kept, 'utf8'))) }
    const folder = mkdtempSync(path.join(tmpdir(), 'croft-counted-'))
    const { passed } = await run(copy, test, { NODE_V8_COVERAGE: folder }, 10 * LEAST_MS)
    const counted = new Map<string, Counted[]>()
    for (const name of passed ? readdirSync(folder) : [])
      for (const { url, functions } of JSON.parse(readFileSync(path.join(folder, name), 'utf8')).result) {
        if (!url.startsWith('file:')) continue
        const file = path.relative(copy, fileURLToPath(url.split('?')[0]))
        if (!isWanted(file)) continue
        const parts: Counted[] = functions.flatMap((one: { ranges: Range[] }) =>
          one.ranges.map(({ startOffset, endOffset, count: times }): Counted => [startOffset, endOffset, times > 0]),
        )
        counted.set(file, [...(counted.get(file) ?? []), ...parts])
      }
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(CACHE, { recursive: true })
    if (passed) writeFileSync(kept, JSON.stringify([...counted]))
    return { passed, counted }
  }
  return {
    /** Whether the test passes without the bug and runs its line. */
    runs: async (test: string, { file, offset }: Mutant): Promise<boolean> => {
      const { passed, counted } = await withoutBug(test)
      return passed && ranAt(counted.get(file) ?? [], offset)
    },
    /** With whatever stands in the copy now. What hangs has failed. */
    run: (test: string, usualMs: number) => run(copy, test, {}, LEAST_MS + 20 * usualMs),
  }
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

/** Ends at the first failure. */
function run(
  copy: string,
  test: string,
  env: Readonly<Record<string, string>>,
  mostMs: number,
): Promise<{ readonly passed: boolean; readonly tookMs: number }> {
  const begun = performance.now()
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--test-reporter=tap', test], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      env: { ...process.env, CROFT_SEEDS: '2', ...env },
    })
    const end = (passed: boolean) => {
      clearTimeout(timer)
      if (!passed) killGroup(child.pid)
      resolve({ passed, tookMs: performance.now() - begun })
    }
    const timer = setTimeout(() => end(false), mostMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (/^\s*not ok /m.test(text)) end(false)
    })
    child.on('error', () => end(false))
    child.on('exit', (code) => end(code === 0))
  })
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended before.
  }
}
