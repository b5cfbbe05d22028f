import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { MAY_IMPORT } from './layers-rules.ts'

const root = dirname(import.meta.dirname)
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('ARCHITECTURE.md', () => {
  const text = read('ARCHITECTURE.md')

  test('names no path that is not there', () => {
    const paths = pathsIn(text)
    assert.ok(paths.length > 40, `only ${paths.length} paths were found`)
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(root, path))),
      [],
    )
  })

  test('has every folder of src/ and the simulator in its table, and no other', () => {
    const there = globSync('src/*/', { cwd: root }).map((path) => `src/${basename(path)}/`)
    assert.deepEqual(foldersIn(text).toSorted(), [...there, 'sim/'].toSorted())
  })

  test('says of each folder what the layers test enforces', () => {
    for (const [folder, mayKnow] of folderRows(text)) {
      const allowed = MAY_IMPORT[folder] ?? []
      const whole = allowed.filter((name) => !name.includes('/'))
      if (folder === 'cli' || folder === 'main') continue // "everything but implementations", and everything
      const said = mayKnow.replace(/;.*/, '').split(/,\s*|\s+and\s+|\s+/)
      assert.deepEqual(said.filter((word) => word in MAY_IMPORT).toSorted(), whole.toSorted(), folder)
    }
  })

  test('has nouns that the code has, each where the table says', () => {
    const nouns = nounsIn(text)
    assert.ok(nouns.length > 20, `only ${nouns.length} nouns were found`)
    const wrong = nouns.filter(({ noun, type, path }) => !type.includes(noun) || !exportsType(read(path), type))
    assert.deepEqual(wrong, [])
  })

  test('stays short: the house is told in no more words than before it grew', () => {
    assert.ok(text.split(/\s+/).filter((word) => word !== '').length <= 2780)
  })

  test('has a noun for every file of the model', () => {
    const homes = new Set(nounsIn(text).map(({ path }) => path))
    const models = globSync('src/model/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'))
    assert.deepEqual(
      models.filter((path) => !homes.has(path)),
      [],
    )
  })
})

for (const page of ['README.md', 'CONTRIBUTING.md']) {
  test(`${page} names no path and links to no file that is not there`, () => {
    const text = read(page)
    const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1] ?? '')
    const missing = [...pathsIn(text), ...links].filter((path) => !existsSync(join(root, path)))
    assert.deepEqual(missing, [])
  })
}

test('each decision has a number of its own and the four parts', () => {
  const pages = globSync('docs/decisions/[0-9]*.md', { cwd: root })
  assert.ok(pages.length >= 70)
  assert.equal(new Set(pages.map((page) => basename(page).slice(0, 4))).size, pages.length)
  for (const page of pages) {
    assert.match(basename(page), /^\d{4}-[a-z0-9-]+\.md$/)
    const headings = [...read(page).matchAll(/^## (.+)$/gm)].map((match) => match[1])
    assert.deepEqual(headings, ['Context', 'Decision', 'Consequences', 'What would change our mind'], page)
  }
})

test('[R30] drivers are our own: none is generated, and no package speaks to an outside system in our place', () => {
  const files = globSync('src/drivers/**/*.ts', { cwd: root })
  assert.ok(files.length > 100)
  for (const file of files)
    assert.doesNotMatch(read(file).slice(0, 500), /generated (?:by|from|code)|do not edit/i, file)
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
  for (const name of Object.keys(dependencies))
    assert.doesNotMatch(name, /proxmox|libvirt|kubernetes|terraform|pulumi|crossplane|ssh/, name)
})

describe('the checks themselves', () => {
  test('find paths in backticks, and nothing else', () => {
    assert.deepEqual(pathsIn('`src/a.ts` and `docs/` but not `npm test`, `a/b`, src/c.ts, `EnvironmentVM/web-1`'), [
      'src/a.ts',
      'docs/',
    ])
  })
  test('find rows of the tables', () => {
    assert.deepEqual(folderRows('| `src/plan/` | pure | model, lib |\n| x | y | z |'), [['plan', 'model, lib']])
    assert.deepEqual(nounsIn('| Event | it happened | `CroftEvent` in `src/model/event.ts` |'), [
      { noun: 'Event', type: 'CroftEvent', path: 'src/model/event.ts' },
    ])
  })
  test('tell an exported type from a mention', () => {
    assert.ok(exportsType('export interface Plan {', 'Plan'))
    assert.ok(exportsType('export type Plan =', 'Plan'))
    assert.ok(exportsType('export class Secret {', 'Secret'))
    assert.ok(!exportsType('import type { Plan } from', 'Plan'))
    assert.ok(!exportsType('export interface PlanEntry {', 'Plan'))
  })
})

/** Inline code that is a path from the root: it begins with one of our folders. */
function pathsIn(text: string): readonly string[] {
  return [...text.matchAll(/`((?:src|sim|docs|test|scripts|bench|bin|examples|web|deploy)\/[\w./-]*)`/g)].map(
    (match) => match[1] ?? '',
  )
}

function folderRows(text: string): readonly (readonly [string, string])[] {
  return [...text.matchAll(/^\| `(?:src\/)?(\w+)\/` \|[^|]*\| ([^|]*) \|$/gm)].map((match) => [
    match[1] ?? '',
    match[2] ?? '',
  ])
}

function foldersIn(text: string): readonly string[] {
  return folderRows(text).map(([folder]) => (folder === 'sim' ? 'sim/' : `src/${folder}/`))
}

function nounsIn(text: string): readonly { readonly noun: string; readonly type: string; readonly path: string }[] {
  return [...text.matchAll(/^\| (\w+) \|[^|]*\| `(\w+)` in `([\w./-]+)` \|$/gm)].map((match) => ({
    noun: match[1] ?? '',
    type: match[2] ?? '',
    path: match[3] ?? '',
  }))
}

function exportsType(source: string, type: string): boolean {
  return new RegExp(`^export (?:interface|type|class|const) ${type}\\b`, 'm').test(source)
}
