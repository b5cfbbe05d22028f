import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { HYPERVISORS } from '../src/model/hypervisors.ts'

const ROOT = join(import.meta.dirname, '..')

/** Existing files that a new hypervisor changes. */
const SHARED = [
  'src/kinds/descriptions/hypervisors.ts',
  'src/kinds/hypervisors/registry.ts',
  'src/main/drivers.ts',
  'src/model/hypervisors.ts',
]

function productFiles(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('/testing/'))
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}

test('a hypervisor costs its own files and four others', () => {
  const rows = HYPERVISORS.filter(({ reaches }) => reaches === 'host')
  assert.ok(rows.length > 0, 'no hypervisor is left to count')
  for (const { driver } of rows) {
    // Formats of other programs name their providers.
    const folders = `drivers/${driver}/|kinds/(?:hypervisors/|descriptions/)?${driver}`
    const own = new RegExp(`^src/(?:source/foreign/|${folders})`)
    const naming = productFiles('src').filter(
      (file) =>
        !own.test(file) && new RegExp(driver, 'i').test(withoutComments(readFileSync(join(ROOT, file), 'utf8'))),
    )
    assert.deepEqual(naming.sort(), SHARED, `only these files may name ${driver}`)
  }
})
