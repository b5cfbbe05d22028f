import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { setOf } from '../test/sets.ts'
import { CACHE, runs } from './mutants-counted.ts'
import { EQUIVALENT } from './mutants-equivalent.ts'
import { importsOf, type Mutant, mutantsIn, nearness, neighbours, reached, sampled } from './mutants-made.ts'
import { runTest } from './mutants-tried.ts'

/**
 * Makes bugs of one line in a copy of the tree, one at a time, and runs the tests that run that line, the nearest
 * first, until one fails: a bug that none notices is a place where the tests do not look. Every result is kept: a run
 * that was stopped goes on where it stopped, and on a changed tree the test that killed a bug before is the first.
 */
const ROOT = path.resolve(import.meta.dirname, '..')
const FOLDERS = [
  'src/plan/',
  'src/engine/',
  'src/controller/',
  'src/drivers/power/',
  'src/kubernetes/',
  'src/operator/',
  'src/server/',
  'src/source/',
  'src/ssh/',
]
const RULES = /^src\/drivers\/[a-z0-9]+\/rules\.ts$/
const COSTS = path.join(CACHE, 'costs.json')
const RESULTS = path.join(CACHE, 'results.json')
/** How long one bug is tried. A bug without a verdict by then counts as survived. */
const MOST_MS = 120_000
/** What every test is given, however short it was. */
const LEAST_MS = 60_000
/** The assumed time of a test that was not measured yet. */
const USUAL_MS = 3000

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    at: { type: 'string', default: '' },
    tests: { type: 'string', default: '24' },
    'at-once': { type: 'string', default: '2' },
    'longest-test': { type: 'string', default: '60' },
  },
})

const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT })
  .toString('utf8')
  .split('\0')
  .filter((file) => file !== '')
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
const sources = new Map(
  files.filter((file) => file.endsWith('.ts')).map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]),
)
const imports = new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]))
/** Files of each driver that its rules need: the judgements, not the sessions that only talk. */
const rules = new Set(
  [...sources.keys()]
    .filter((file) => RULES.test(file))
    .flatMap((file) => [...reached([file], imports, (one) => one.startsWith(`${path.dirname(file)}/`))]),
)
const isJudged = (file: string) =>
  (rules.has(file) || FOLDERS.some((folder) => file.startsWith(folder))) &&
  !/\.test\.ts$|\/testing\/|fixture\.ts$|-example\.ts$/.test(file)
const all = [...sources].flatMap(([file, text]) =>
  isJudged(file) && file.startsWith(values.only) ? mutantsIn(file, text) : [],
)
const isEquivalent = (mutant: Mutant) =>
  EQUIVALENT.some(({ file, change }) => file === mutant.file && change === mutant.change)
/** What became of a bug, and in which version of all sources. */
interface Result {
  readonly tree: string
  readonly by?: string | undefined
}
const costs: Record<string, number> = kept(COSTS)
const results: Record<string, Result> = kept(RESULTS)
const tree = hashOf([...sources.keys()])
const longestMs = Number(values['longest-test']) * 1000
const sound: Record<string, Promise<boolean>> = {}
let killed = 0
let done = 0
const survivors: string[] = []
const chosen =
  values.at === ''
    ? sampled(
        all.filter((mutant) => !isEquivalent(mutant)),
        Number(values.sample),
        values.seed,
      )
    : all.filter(({ file, line }) => values.at.split(',').includes(`${file}:${line}`))
const copies = Array.from({ length: Number(values['at-once']) }, copyOfTree)
/** Bugs that no test of their part finds. The other tests run last, since most bugs do not need them. */
const hard: Mutant[] = []
for (const [round, mutants] of [chosen, hard].entries()) {
  const queue = mutants.values()
  await Promise.all(copies.map((copy) => work(copy, queue, round === 0 ? 'near' : 'all')))
}
console.log(`\n${killed} of ${chosen.length} killed (seed ${values.seed}, out of ${all.length} that could be made)`)
for (const survivor of survivors.toSorted()) console.log(`survived: ${survivor}`)
process.exitCode = killed >= 0.9 * chosen.length ? 0 : 1

/** Changes with a test and with everything that it needs. */
function versionOf(test: string): string {
  return hashOf([...reached([test], imports)].toSorted())
}

function hashOf(names: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of names) hash.update(`${file}\0${sources.get(file) ?? ''}\0`)
  return hash.digest('hex').slice(0, 32)
}

function copyOfTree(): string {
  const copy = mkdtempSync(path.join(tmpdir(), 'croft-mutants-'))
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
  for (const file of files) cpSync(path.join(ROOT, file), path.join(copy, file))
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
  return copy
}

async function work(copy: string, queue: Iterable<Mutant>, which: 'near' | 'all'): Promise<void> {
  for (const mutant of queue) {
    const name = `${mutant.file}:${mutant.line}  ${mutant.change}`
    const key = `${mutant.file}  ${mutant.change}  ${mutant.nth}`
    const earlier = results[key]
    const before = earlier?.by !== undefined && setOf(earlier.by) === 'rest' ? undefined : earlier
    const isKnown = before?.tree === tree && values.at === ''
    const begun = performance.now()
    const { by, tried } = isKnown
      ? { by: before.by, tried: 'in an earlier run' }
      : await killer(mutant, copy, which, before?.by)
    const seconds = Math.round((performance.now() - begun) / 1000)
    if (by === undefined && which === 'near' && !isKnown) {
      hard.push(mutant)
      console.log(`        later    ${name}, ${seconds} s`)
      continue
    }
    if (by === undefined) survivors.push(name)
    else killed++
    results[key] = { tree, by }
    keep(RESULTS, results)
    const result = by === undefined ? `SURVIVED ${name}  (${tried})` : `killed   ${name}  by ${by}`
    console.log(`${++done}/${chosen.length} ${result}, ${seconds} s`)
  }
}

/** The nearest test that runs the line, passes without the bug and fails with it. */
async function killer(
  mutant: Mutant,
  copy: string,
  which: 'near' | 'all',
  before: string | undefined,
): Promise<{ readonly by: string | undefined; readonly tried: string }> {
  const target = path.join(copy, mutant.file)
  const tests = neighbours(mutant.file, imports, cost).filter(
    (test) =>
      // What `npm test` does not run is no proof that anybody notices.
      setOf(test) === 'first' &&
      test !== before &&
      cost(test) <= longestMs &&
      (which === 'all' || nearness(test, mutant.file) < 3),
  )
  let tried = 0
  let spentMs = 0
  for (const test of before === undefined ? tests : [before, ...tests]) {
    if (spentMs > MOST_MS || tried >= Number(values.tests))
      return { by: undefined, tried: `${tried} tests that run it` }
    // Every test but the file's own is asked once, for all bugs, which lines it runs.
    if (nearness(test, mutant.file) > 0 && !(await isRunBy(copy, test, mutant))) continue
    writeFileSync(target, mutant.text)
    const { passed, tookMs } = await runTest(copy, test, LEAST_MS + 20 * cost(test))
    writeFileSync(target, sources.get(mutant.file) ?? '')
    if (!passed && (await passesNow(copy, test))) return { by: test, tried: '' }
    if (passed) costs[test] = Math.round(tookMs)
    keep(COSTS, costs)
    tried++
    spentMs += tookMs
  }
  return { by: undefined, tried: `${tried}, all tests that run it` }
}

async function isRunBy(copy: string, test: string, mutant: Mutant): Promise<boolean> {
  const textOf = (file: string) => sources.get(file) ?? ''
  const { ran, tookMs } = await runs(copy, test, mutant, {
    textOf,
    isWanted: isJudged,
    versionOf,
    mostMs: 2 * longestMs,
  })
  costs[test] ??= Math.round(tookMs)
  return ran
}

/** Whether the test passes without any bug, asked once. */
async function passesNow(copy: string, test: string): Promise<boolean> {
  sound[test] ??= runTest(copy, test, LEAST_MS + 20 * cost(test)).then(({ passed }) => passed)
  return await sound[test]
}

function cost(test: string): number {
  return costs[test] ?? USUAL_MS
}

/** What an earlier run left in a file. */
function kept<Of>(file: string): Record<string, Of> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}

function keep(file: string, what: Readonly<Record<string, unknown>>): void {
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(`${file}.new`, JSON.stringify(what))
  renameSync(`${file}.new`, file)
}
