import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../src/lib/random.ts'
import { importsOf, type Mutant, mutantsIn, neighbours } from './mutants-made.ts'

/**
 * Makes bugs of one line in a copy of the tree, one at a time, and runs the tests that are near: a bug that no test
 * notices is a place where the tests do not look.
 */
const ROOT = path.resolve(import.meta.dirname, '..')
const FOLDERS = [
  'src/plan',
  'src/engine',
  'src/controller',
  'src/drivers/proxmox',
  'src/drivers/k3s',
  'src/drivers/power',
]
const TIMEOUT_MS = 180_000
const MOST_TESTS = 8

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
})

const { execFileSync } = await import('node:child_process')
const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT })
  .toString('utf8')
  .split('\0')
  .filter((file) => file !== '')
const copy = mkdtempSync(path.join(tmpdir(), 'croft-mutants-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const file of files) cpSync(path.join(ROOT, file), path.join(copy, file))
symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))

const sources = new Map(
  files.filter((file) => file.endsWith('.ts')).map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]),
)
const imports = new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]))
const all = [...sources].flatMap(([file, text]) =>
  FOLDERS.some((folder) => file.startsWith(`${folder}/`)) &&
  file.startsWith(values.only) &&
  !/\.test\.ts$|\/testing\/|fixture\.ts$|-example\.ts$/.test(file)
    ? mutantsIn(file, text)
    : [],
)
const random = seededRandom(Number(values.seed))
const chosen: Mutant[] = []
for (let left = [...all]; left.length > 0 && chosen.length < Number(values.sample); ) {
  const at = Math.floor(random.next() * left.length)
  const [one] = left.splice(at, 1)
  if (one !== undefined && neighbours(one.file, imports, MOST_TESTS).length > 0) chosen.push(one)
}

/** Tests that fail in the copy without any bug: they would call every bug found. */
const unfit = new Map<string, boolean>()
let killed = 0
const survivors: string[] = []
for (const [number, mutant] of chosen.entries()) {
  const by = await killer(mutant)
  if (by === undefined) survivors.push(`${mutant.file}:${mutant.line}  ${mutant.change}`)
  else killed++
  const told = by === undefined ? 'SURVIVED' : 'killed  '
  console.log(
    `${number + 1}/${chosen.length} ${told} ${mutant.file}:${mutant.line}  ${mutant.change}${by === undefined ? '' : `  by ${by}`}`,
  )
}
console.log(`\n${killed} of ${chosen.length} killed (seed ${values.seed}, out of ${all.length} that could be made)`)
for (const survivor of survivors) console.log(`survived: ${survivor}`)
process.exitCode = killed >= 0.9 * chosen.length ? 0 : 1

/** The nearest test that fails with the bug and passes without it. */
async function killer(mutant: Mutant): Promise<string | undefined> {
  const target = path.join(copy, mutant.file)
  for (const test of neighbours(mutant.file, imports, MOST_TESTS)) {
    if (unfit.get(test) === true) continue
    writeFileSync(target, mutant.text)
    const failed = await fails(test)
    writeFileSync(target, sources.get(mutant.file) ?? '')
    if (!failed) continue
    if (!unfit.has(test)) unfit.set(test, await fails(test))
    if (unfit.get(test) === false) return test
  }
  return undefined
}

function fails(test: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['scripts/test.ts', test], {
      cwd: copy,
      stdio: 'ignore',
      timeout: TIMEOUT_MS,
      env: { ...process.env, CROFT_SEEDS: '2' },
    })
    child.on('error', () => resolve(true))
    child.on('exit', (code) => resolve(code !== 0))
  })
}
