import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = dirname(dirname(import.meta.dirname))

/** Targets of the links of a page that lead to files below `folder`, as paths below it. */
function linkedFrom(page: string): readonly string[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([\w./-]+\.md)\)/g)].map(([, path = '']) => path)
}

test('docs/README.md links every page of docs/ but those of a kind, an importer or a decision', () => {
  const linked = new Set(linkedFrom('docs/README.md'))
  const pages = globSync(['*.md', 'drivers/*.md'], { cwd: join(root, 'docs') }).filter((page) => page !== 'README.md')
  assert.ok(pages.length > 30)
  assert.deepEqual(
    pages.filter((page) => !linked.has(page)),
    [],
  )
})

test('the index of decisions has each decision once', () => {
  const files = globSync('*.md', { cwd: join(root, 'docs/decisions') }).filter((file) => file !== 'README.md')
  assert.deepEqual(linkedFrom('docs/decisions/README.md').toSorted(), files.toSorted())
})

test('a decision that another one overtook says so', () => {
  const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8')
  const overtaken = [...index.matchAll(/\((\d{4}-[\w-]+\.md)\) [^,|]*\(overtaken (?:in part )?by (\d{4})\)/g)]
  assert.ok(overtaken.length > 0)
  for (const [, file = '', by = ''] of overtaken)
    assert.match(readFileSync(join(root, 'docs/decisions', file), 'utf8'), new RegExp(`Overtaken .*${by}`), file)
})

test('SECURITY.md denies no factor that the server takes', () => {
  const security = readFileSync(join(root, 'SECURITY.md'), 'utf8')
  const has = (path: string) => globSync(path, { cwd: root }).length > 0
  for (const [word, files] of [
    ['WebAuthn', 'src/server/auth/webauthn*.ts'],
    ['TOTP', 'src/server/auth/*totp*.ts'],
  ] as const)
    assert.equal(has(files), new RegExp(`${word}\\)? (?:or|\\()|\\(${word}\\)`).test(security), word)
  assert.doesNotMatch(security, /security keys?[^.]* not supported/i)
})
