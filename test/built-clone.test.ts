import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

interface Built {
  builtOf(root: string): string | undefined
  sourcesOf(root: string): { readonly files: number; readonly newestMs: number }
}

const { builtOf, sourcesOf } = createRequire(import.meta.url)('../bin/built.js') as Built
const scratch = mkdtempSync(join(tmpdir(), 'croft-built-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const FILES = [
  'src/main.ts',
  'src/lib/clock.ts',
  'src/lib/clock.test.ts',
  'sim/serve.ts',
  'scripts/build.ts',
  'scripts/builtin-modules.ts',
  'package.json',
  'package-lock.json',
]

/** A clone that was built after its last change. */
async function clone(): Promise<string> {
  const root = mkdtempSync(join(scratch, 'clone-'))
  for (const file of [...FILES, '.built/main.js']) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), file)
  }
  const { files, newestMs } = sourcesOf(root)
  writeFileSync(join(root, '.built/sources.json'), JSON.stringify({ files, beganMs: newestMs + 1 }))
  // The clock of files goes in steps: a change of now must have a later time than those above.
  while (Date.now() < newestMs + 50) await new Promise((resolve) => setTimeout(resolve, 10))
  return root
}

test('a clone runs what was built of it, whatever happens to its tests and documents', async () => {
  const root = await clone()
  const main = join(root, '.built/main.js')
  assert.equal(builtOf(root), main)
  writeFileSync(join(root, 'src/lib/clock.test.ts'), 'changed')
  writeFileSync(join(root, 'src/lib/other.test.ts'), 'new')
  writeFileSync(join(root, 'README.md'), 'new')
  assert.equal(builtOf(root), main)
})

test('a clone runs its sources after every change of them', async () => {
  const changes: Readonly<Record<string, (root: string) => void>> = {
    'a change': (root) => writeFileSync(join(root, 'src/main.ts'), 'changed'),
    'a change that keeps the time of the file': (root) => {
      writeFileSync(join(root, 'src/main.ts'), 'changed')
      utimesSync(join(root, 'src/main.ts'), 1, 1)
    },
    'a new file': (root) => writeFileSync(join(root, 'src/lib/new.ts'), ''),
    'a file less': (root) => rmSync(join(root, 'sim/serve.ts')),
    'another name': (root) => renameSync(join(root, 'sim/serve.ts'), join(root, 'sim/server.ts')),
    'an older file in its place': (root) => {
      cpSync(join(root, 'package.json'), join(root, 'older'), { preserveTimestamps: true })
      renameSync(join(root, 'older'), join(root, 'src/lib/clock.ts'))
    },
    'another library': (root) => writeFileSync(join(root, 'package-lock.json'), 'changed'),
    'another way to build': (root) => writeFileSync(join(root, 'scripts/build.ts'), 'changed'),
    'a damaged stamp': (root) => writeFileSync(join(root, '.built/sources.json'), '{"files": 8'),
    'no stamp': (root) => rmSync(join(root, '.built/sources.json')),
    'a link that leads nowhere': (root) => symlinkSync('/nowhere', join(root, 'src/lib/link.ts')),
  }
  for (const [name, change] of Object.entries(changes)) {
    const root = await clone()
    change(root)
    assert.equal(builtOf(root), undefined, name)
  }
})
