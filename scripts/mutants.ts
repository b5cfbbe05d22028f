import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { CACHE, runsOf } from './mutants-counted.ts'
import { EQUIVALENT } from './mutants-equivalent.ts'
import { importsOf, type Mutant, mutantsIn, neighbours, reached, sampled } from './mutants-made.ts'
import { runTest } from './mutants-tried.ts'

/**
 * Makes bugs of one line in a copy of the tree, one at a time, and runs the tests that run that line, the nearest
 * first, until one fails: a bug that none notices is a place where the tests do not look.
 */
const ROOT = path.resolve(import.meta.dirname, '..')
const FOLDERS = ['src/plan/', 'src/engine/', 'src/controller/', 'src/drivers/power/']
const RULES = /^src\/drivers\/[a-z0-9]+\/rules\.ts$/
const COSTS = path.join(CACHE, 'costs.json')
const AT_ONCE = 2
/** How long one bug is tried. Whatever is left untried counts as survived. */
const MOST_MS = 120_000
/** What every test is given, however short it was. */
const LEAST_MS = 60_000
/** A test of which nothing is known yet. */
const USUAL_MS = 3000

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    at: { type: 'string', default: '' },
    tests: { type: 'string', default: '24' },
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
/** What each driver's rules need of its own folder: the judgements; the sessions beside them only talk. */
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
const costs = readCosts()
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
const copies = Array.from({ length: AT_ONCE }, copyOfTree)
const testsOf = new Map<Mutant, string[]>(chosen.map((mutant) => [mutant, []]))
await countAll()
const queue = chosen.values()
await Promise.all(copies.map(work))
console.log(`\n${killed} of ${chosen.length} killed (seed ${values.seed}, out of ${all.length} that could be made)`)
for (const survivor of survivors.toSorted()) console.log(`survived: ${survivor}`)
process.exitCode = killed >= 0.9 * chosen.length ? 0 : 1

/** Changes with a test and with everything that it needs. */
function versionOf(test: string): string {
  const hash = createHash('sha256')
  for (const file of [...reached([test], imports)].toSorted()) hash.update(`${file}\0${sources.get(file) ?? ''}\0`)
  return hash.digest('hex').slice(0, 32)
}

function copyOfTree(): string {
  const copy = mkdtempSync(path.join(tmpdir(), 'croft-mutants-'))
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
  for (const file of files) cpSync(path.join(ROOT, file), path.join(copy, file))
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
  return copy
}

/** Asks every test once which of the bugs it would run, before any is made: the shortest first. */
async function countAll(): Promise<void> {
  const byTest = new Map<string, Mutant[]>()
  for (const mutant of chosen)
    for (const test of neighbours(mutant.file, imports, cost)) byTest.set(test, [...(byTest.get(test) ?? []), mutant])
  const longestMs = Number(values['longest-test']) * 1000
  const tests = [...byTest].filter(([test]) => cost(test) <= longestMs).toSorted(([a], [b]) => cost(a) - cost(b))
  let counted = 0
  const left = tests.values()
  await Promise.all(
    copies.map(async (copy) => {
      for (const [test, mutants] of left) {
        const textOf = (file: string) => sources.get(file) ?? ''
        const found = await runsOf(copy, test, mutants, { textOf, isWanted: isJudged, versionOf })
        for (const mutant of found) testsOf.get(mutant)?.push(test)
        if (++counted % 25 === 0) console.log(`counted ${counted} of ${tests.length} tests`)
      }
    }),
  )
}

async function work(copy: string): Promise<void> {
  for (const mutant of queue) {
    const { by, tried } = await killer(mutant, copy)
    const name = `${mutant.file}:${mutant.line}  ${mutant.change}`
    if (by === undefined) survivors.push(name)
    else killed++
    const result = by === undefined ? `SURVIVED ${name}  (${tried})` : `killed   ${name}  by ${by}`
    console.log(`${++done}/${chosen.length} ${result}`)
    writeCosts()
  }
}

/** The nearest test that runs the line, passes without the bug and fails with it. */
async function killer(
  mutant: Mutant,
  copy: string,
): Promise<{ readonly by: string | undefined; readonly tried: string }> {
  const target = path.join(copy, mutant.file)
  const runs = new Set(testsOf.get(mutant))
  const tests = neighbours(mutant.file, imports, cost).filter((test) => runs.has(test))
  let tried = 0
  let spentMs = 0
  for (const test of tests) {
    if (spentMs > MOST_MS || tried >= Number(values.tests)) break
    writeFileSync(target, mutant.text)
    const { passed, tookMs } = await runTest(copy, test, LEAST_MS + 20 * cost(test))
    writeFileSync(target, sources.get(mutant.file) ?? '')
    if (!passed && (await passesNow(copy, test))) return { by: test, tried: '' }
    if (passed) costs[test] = Math.round(tookMs)
    tried++
    spentMs += tookMs
  }
  return { by: undefined, tried: `${tried} of ${tests.length} tests that run it` }
}

/** Whether the test passes without any bug, asked once. */
async function passesNow(copy: string, test: string): Promise<boolean> {
  sound[test] ??= runTest(copy, test, LEAST_MS + 20 * cost(test)).then(({ passed }) => passed)
  return await sound[test]
}

function cost(test: string): number {
  return costs[test] ?? USUAL_MS
}

/** What each test took when it ran last, kept between runs. */
function readCosts(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(COSTS, 'utf8'))
  } catch {
    return {}
  }
}

function writeCosts(): void {
  mkdirSync(path.dirname(COSTS), { recursive: true })
  writeFileSync(COSTS, JSON.stringify(costs))
}
