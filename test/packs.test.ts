import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { build } from 'esbuild'
import { pack } from '../scripts/parts/pack.ts'

const scratch = mkdtempSync(join(tmpdir(), 'croft-pack-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const SOURCES = {
  'main.js': `import { bump } from './counter.js'
    bump()
    const { one } = await import('./one.js')
    const { two } = await import('./two.js')
    console.log(JSON.stringify([one(), two()]))`,
  'counter.js': 'let times = 0\nexport const count = () => times\nexport function bump() { times += 1 }',
  'shared.js':
    "import { bump, count } from './counter.js'\nbump()\nexport const name = 'shared'\nexport const seen = () => count()",
  'one.js': "import { name, seen } from './shared.js'\nexport const one = () => [name, seen()]",
  'two.js':
    "import { name, seen } from './shared.js'\nimport { bump } from './counter.js'\nexport const two = () => (bump(), [name, seen()])",
}

async function split(
  entries: Parameters<typeof pack>[2],
  sources: Readonly<Record<string, string>> = SOURCES,
): Promise<string> {
  const out = mkdtempSync(join(scratch, 'out-'))
  const from = mkdtempSync(join(scratch, 'from-'))
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(from, name), text)
  const { metafile } = await build({
    entryPoints: [join(from, 'main.js')],
    outdir: out,
    bundle: true,
    splitting: true,
    chunkNames: 'code-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minifyWhitespace: true,
    minifySyntax: true,
    metafile: true,
    absWorkingDir: from,
    logLevel: 'silent',
  })
  writeFileSync(join(out, 'package.json'), '{"type": "module"}')
  await pack(out, metafile, entries)
  return out
}

function printed(out: string): string {
  return execFileSync(process.execPath, [join(out, 'main.js')], { encoding: 'utf8' }).trim()
}

test('a packed program does the same: each module is there once', async () => {
  const whole = [{ file: 'pack-start.cjs', entries: ['main.js'] }]
  const both = [...whole, { file: 'pack-rest.cjs', entries: ['one.js', 'two.js'] }]
  const one = [{ file: 'pack-one.cjs', entries: ['one.js'] }]
  const expected = printed(await split([]))
  assert.equal(expected, '[["shared",2],["shared",3]]')
  for (const packs of [whole, both, one]) assert.equal(printed(await split(packs)), expected)
})

test('a part is strict, as the module was that it is made of', async () => {
  const out = await split([], {
    'main.js':
      "const { change } = await import('./one.js')\ntry { change() } catch (error) { console.log(error.name) }",
    'one.js': 'const fixed = Object.freeze({ a: 1 })\nexport function change() { fixed.a = 2; return fixed }',
  })
  assert.equal(printed(out), 'TypeError')
})

test('what a pack holds is in no other file', async () => {
  const out = await split([{ file: 'pack-rest.cjs', entries: ['one.js', 'two.js'] }])
  const holding = readdirSync(out).filter((file) => readFileSync(join(out, file), 'utf8').includes('"shared"'))
  assert.deepEqual(holding, ['pack-rest.cjs'])
})

test('a pack of a module that nothing imports when needed says so', async () => {
  await assert.rejects(split([{ file: 'pack-x.cjs', entries: ['shared.js'] }]), /shared\.js is in the pack pack-x\.cjs/)
})

/** Runs a program whose script is large enough to be kept compiled, and says what is kept of it. */
function ran(out: string, cache: string, exitCode = '0') {
  const env = { ...process.env, NODE_COMPILE_CACHE: cache, EXIT: exitCode }
  const { status, stdout } = spawnSync(process.execPath, [join(out, 'main.js'), 'plan'], { encoding: 'utf8', env })
  const kept = globSync('*/*.code*', { cwd: cache })
  return { status, printed: stdout.trim(), kept: kept.map((file) => join(cache, file)) }
}

async function large(text: string, said = `'${text}'`): Promise<string> {
  const idle = Array.from({ length: 900 }, (_, i) => `export function idle${i}() { return ${i} }`).join('\n')
  const out = await split([{ file: 'pack-one.cjs', entries: ['one.js'] }], {
    'main.js': "console.log((await import('./one.js')).one())\nprocess.exitCode = Number(process.env.EXIT)",
    'one.js': `${idle}\nfunction other() { return [1, 2, 3].map((one) => one * 2).join() }\nexport const one = () => ${said}`,
  })
  return out
}

test('what a verb called is kept compiled, for this script alone; damaged or in strange hands it is made again', async () => {
  const cache = mkdtempSync(join(scratch, 'cache-'))
  const out = await large('first')
  assert.deepEqual(ran(out, cache, '1'), { status: 1, printed: 'first', kept: [] })
  const [beginning = ''] = ran(out, cache).kept
  assert.match(beginning, /-plan-pack-one\.cjs\.code\.first$/)
  const file = beginning.replace(/\.first$/, '')
  assert.deepEqual(ran(out, cache), { status: 0, printed: 'first', kept: [file] })
  const [whole, written] = [readFileSync(file), statSync(file).mtimeMs]
  assert.deepEqual(ran(out, cache), { status: 0, printed: 'first', kept: [file] })
  assert.equal(statSync(file).mtimeMs, written)
  const old = Date.now() / 1000 - 8 * 86_400
  for (const harm of [
    () => truncateSync(file, whole.length / 2),
    () => writeFileSync(file, Buffer.alloc(whole.length)),
    () => chmodSync(file, 0o666),
    () => utimesSync(file, old, old),
  ]) {
    harm()
    assert.deepEqual(ran(out, cache), { status: 0, printed: 'first', kept: [beginning] }, harm.toString())
    assert.equal(statSync(beginning).mode & 0o777, 0o600)
    assert.deepEqual(ran(out, cache), { status: 0, printed: 'first', kept: [file] })
  }
  const { printed: second, kept } = ran(await large('other'), cache)
  assert.equal(second, 'other')
  assert.equal(kept.length, 1)
  assert.ok(kept[0] !== file && kept[0] !== beginning)
})

test('a later run finds compiled what the first one did not call', async () => {
  const cache = mkdtempSync(join(scratch, 'cache-'))
  const out = await large('either', "process.env.EXIT === '2' ? other() : 'either'")
  const sizes = ['0', '2', '2'].map((exitCode) => {
    const [file = ''] = ran(out, cache, exitCode).kept
    return statSync(file).size
  })
  assert.ok((sizes[1] ?? 0) > (sizes[0] ?? 0), String(sizes))
  assert.equal(sizes[2], sizes[1])
})
