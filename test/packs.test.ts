import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { build } from 'esbuild'
import { pack } from '../scripts/pack.ts'

const scratch = mkdtempSync(join(tmpdir(), 'croft-pack-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const SOURCES = {
  'main.js': `import { bump } from './counter.js'
    bump()
    const { one } = await import('./one.js')
    const { two } = await import('./two.js')
    console.log(JSON.stringify([one(), two()]))`,
  'counter.js': 'export let count = 0\nexport function bump() { count += 1 }',
  'shared.js':
    "import { bump, count } from './counter.js'\nbump()\nexport const name = 'shared'\nexport const seen = () => count",
  'one.js': "import { name, seen } from './shared.js'\nexport const one = () => [name, seen()]",
  'two.js':
    "import { name, seen } from './shared.js'\nimport { bump } from './counter.js'\nexport const two = () => (bump(), [name, seen()])",
}

async function split(entries: Parameters<typeof pack>[2]): Promise<string> {
  const out = mkdtempSync(join(scratch, 'out-'))
  const from = mkdtempSync(join(scratch, 'from-'))
  for (const [name, text] of Object.entries(SOURCES)) writeFileSync(join(from, name), text)
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

test('a packed program does the same: each module is there once, and a name that changes is seen to change', async () => {
  const whole = [{ file: 'pack-start.js', entries: ['main.js'] }]
  const both = [...whole, { file: 'pack-rest.js', entries: ['one.js', 'two.js'] }]
  const one = [{ file: 'pack-one.js', entries: ['one.js'] }]
  const expected = printed(await split([]))
  assert.equal(expected, '[["shared",2],["shared",3]]')
  for (const packs of [whole, both, one]) assert.equal(printed(await split(packs)), expected)
})

test('what a pack holds is in no other file', async () => {
  const out = await split([{ file: 'pack-rest.js', entries: ['one.js', 'two.js'] }])
  const holding = readdirSync(out).filter((file) => readFileSync(join(out, file), 'utf8').includes('"shared"'))
  assert.deepEqual(holding, ['pack-rest.js'])
})

test('a pack of a module that nothing imports when needed says so', async () => {
  await assert.rejects(split([{ file: 'pack-x.js', entries: ['shared.js'] }]), /shared\.js is in the pack pack-x\.js/)
})
