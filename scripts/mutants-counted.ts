import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Counted, type Mutant, ranAt, withoutRepeats } from './mutants-made.ts'
import { runTest } from './mutants-tried.ts'

/** What lasts from one run to the next. */
export const CACHE = path.resolve(import.meta.dirname, '../node_modules/.cache/croft-mutants')

/** What a test file does without any bug, as V8 counted it. */
interface Entry {
  /** Changes with the test and with everything that it imports. */
  readonly version: string
  /** Of the test file: a changed test may run other lines. */
  readonly test: string
  /** A test that fails in the copy by itself would call every bug found. */
  readonly passed: boolean
  readonly tookMs: number
  readonly files: Readonly<Record<string, { readonly text: string; readonly parts: readonly Counted[] }>>
}

interface Sources {
  readonly textOf: (file: string) => string
  readonly isWanted: (file: string) => boolean
  readonly versionOf: (test: string) => string
  /** What takes longer than this is no test to try bugs with. */
  readonly mostMs: number
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

/**
 * Whether a test runs the line of a bug. A count of an earlier version serves as long as the bug's file and the test are the same: it
 * only chooses tests, and a test that kills the bug is also run without it.
 */
export async function runs(
  copy: string,
  test: string,
  { file, offset }: Mutant,
  sources: Sources,
): Promise<{ readonly ran: boolean; readonly tookMs: number }> {
  const kept = path.join(CACHE, `${test.replaceAll('/', '+')}.json`)
  const { passed, tookMs, files } = stillTrue(kept, test, file, sources) ?? (await count(copy, test, kept, sources))
  return { ran: passed && ranAt(files[file]?.parts ?? [], offset), tookMs }
}

function stillTrue(kept: string, test: string, file: string, sources: Sources): Entry | undefined {
  if (!existsSync(kept)) return undefined
  const entry: Entry = JSON.parse(readFileSync(kept, 'utf8'))
  if (entry.version === sources.versionOf(test)) return entry
  const isSame = entry.test === hashOf(sources.textOf(test)) && entry.files[file]?.text === hashOf(sources.textOf(file))
  return entry.passed && isSame ? entry : undefined
}

async function count(copy: string, test: string, kept: string, sources: Sources): Promise<Entry> {
  const folder = mkdtempSync(path.join(tmpdir(), 'croft-counted-'))
  const { passed, tookMs } = await runTest(copy, test, sources.mostMs, { NODE_V8_COVERAGE: folder })
  const parts = new Map<string, Counted[]>()
  for (const name of passed ? readdirSync(folder) : [])
    for (const { url, functions } of JSON.parse(readFileSync(path.join(folder, name), 'utf8')).result) {
      if (!url.startsWith('file:')) continue
      const file = path.relative(copy, fileURLToPath(url.split('?')[0]))
      if (!sources.isWanted(file)) continue
      const counted: Counted[] = functions.flatMap((one: { ranges: Range[] }) =>
        one.ranges.map(({ startOffset, endOffset, count: times }): Counted => [startOffset, endOffset, times > 0]),
      )
      parts.set(file, withoutRepeats([...(parts.get(file) ?? []), ...counted]))
    }
  rmSync(folder, { recursive: true, force: true })
  const files = Object.fromEntries(
    [...parts].map(([file, counted]) => [file, { text: hashOf(sources.textOf(file)), parts: counted }]),
  )
  const entry: Entry = { version: sources.versionOf(test), test: hashOf(sources.textOf(test)), passed, tookMs, files }
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(kept, JSON.stringify(entry))
  return entry
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
