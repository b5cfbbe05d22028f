import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { knownFields } from '../kinds/fields/explain.ts'
import type { Lookup } from '../kinds/kind.ts'
import { findKind, KINDS, kindNamed, kindWords } from '../kinds/registry.ts'
import { SETTING_KINDS } from '../kinds/settings/registry.ts'
import { EVERYWHERE } from '../lib/egress.ts'
import type { Declaration } from '../model/declaration.ts'
import { withFetched } from './files/fetched.ts'
import type { Revision } from './git/revision.ts'
import { readTree } from './read-tree.ts'
import { errorsOf, ROOT, readText, told } from './testing/fixture.ts'

/** `EnvironmentDownloadFile` → `environment-download-file`. */
function fileNameOf(kind: string): string {
  return kind
    .replace(/VM$/, 'Vm')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-')
    .toLowerCase()
}

const names = KINDS.map((kind) => fileNameOf(kind.kind)).sort()
const NOT_KINDS = ['kind.ts', 'registry.ts', 'json-schema.ts', 'ssh-target.ts']

test('every kind has its file, its registry line and its page', () => {
  const files = readdirSync(join(ROOT, 'src/kinds'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !NOT_KINDS.includes(name))
    .map((name) => name.slice(0, -3))
  // Settings are table rows, not files: their kinds and pages are made from the definitions.
  const rows = SETTING_KINDS.map((kind) => fileNameOf(kind.kind))
  assert.deepEqual([...files, ...rows].sort(), names)
  assert.deepEqual(
    readdirSync(join(ROOT, 'docs/kinds'))
      .map((name) => name.replace(/\.md$/, ''))
      .sort(),
    names,
  )
})

test('words for kinds lead to one kind each', () => {
  const words = KINDS.flatMap((kind) => kindWords(kind))
  assert.equal(new Set(words).size, words.length, words.join(' '))
  assert.equal(kindNamed('machines')?.kind, 'Machine')
  assert.equal(kindNamed('M')?.kind, 'Machine')
  assert.equal(kindNamed('EnvironmentVM')?.kind, 'EnvironmentVM')
  assert.equal(kindNamed('nothing'), undefined)
})

function problemsOfExpansion(revision: Revision): readonly string[] {
  const lookup: Lookup = {
    all: (kind) => revision.declarations.filter((declaration) => declaration.kind === kind),
    declaration: (kind, name) => revision.declarations.find((one) => one.kind === kind && one.name === name),
    objectsAt: (place, of) => revision.objectsAt?.(place, of),
  }
  return revision.declarations.flatMap((declaration: Declaration) => {
    const expanded = findKind(declaration.apiVersion, declaration.kind)?.expand(declaration, lookup)
    assert.ok(expanded)
    return 'problems' in expanded ? expanded.problems.map(({ message }) => message) : []
  })
}

for (const kind of KINDS) {
  test(`the page of ${kind.kind} names every field and its example loads`, () => {
    const page = readFileSync(join(ROOT, 'docs/kinds', `${fileNameOf(kind.kind)}.md`), 'utf8')
    const provider = knownFields(kind.schema, ['forProvider'])
    // A page may leave a subject to another one that it links to. Fields of all kinds are on one page.
    const pages = [...page.matchAll(/\]\(\.\.\/([\w-]+\.md)/g)].map(([, name = '']) => name)
    const linked = [...pages, ...(kind.orderedBy === undefined ? [] : ['order.md'])].map((name) =>
      readFileSync(join(ROOT, 'docs', name), 'utf8'),
    )
    for (const field of [...knownFields(kind.schema, []), ...provider])
      assert.ok(
        [page, ...linked].some((text) => text.includes(`\`${field}\``)),
        `${field} is not on the page`,
      )
    const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => readText(text))
    assert.equal(examples.length, 1)
    for (const revision of examples) {
      assert.deepEqual(told(errorsOf(revision)), [])
      assert.ok(revision.declarations.some((declaration) => declaration.kind === kind.kind))
      assert.deepEqual(problemsOfExpansion(revision), [])
    }
  })
}

for (const example of readdirSync(join(ROOT, 'examples'))) {
  test(`the example ${example} is valid throughout`, async () => {
    const read = await readTree(join(ROOT, 'examples', example))
    const revision = await withFetched(read, {
      fetched: new Map(),
      egress: EVERYWHERE,
      chart: async () => ({ objects: [] }),
    })
    assert.deepEqual(told(errorsOf(revision)), [])
    assert.ok(revision.declarations.length > 3)
    assert.deepEqual(problemsOfExpansion(revision), [])
  })
}
