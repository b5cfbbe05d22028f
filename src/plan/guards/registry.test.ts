import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { GUARDS } from './registry.ts'

const ROOT = join(import.meta.dirname, '../../..')

test('docs/guards.md has every guard, in the order in which they are asked, with what it stops', () => {
  const [page = ''] = readFileSync(join(ROOT, 'docs/guards.md'), 'utf8').split('\n## ')
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|/gm)].map(([, name, stops]) => [name, stops])
  assert.deepEqual(
    rows,
    GUARDS.map(({ name, stops }) => [name, stops]),
  )
})

test('every guard that a plan may name is in the docs, and the docs name no other', () => {
  const inCode = new Set(GUARDS.map(({ name }) => name))
  const files = globSync('src/{plan,engine,drivers,controller}/**/*.ts', { cwd: ROOT })
  for (const file of files.filter((one) => !/\.test\.ts$|\/testing\//.test(one)))
    for (const [, name = '', other] of readFileSync(join(ROOT, file), 'utf8').matchAll(
      /\bguard: (?:[\w.]+ \?\?? )?'([a-z-]+)'(?: : '([a-z-]+)')?/g,
    ))
      for (const one of other === undefined ? [name] : [name, other]) inCode.add(one)
  const inDocs = new Set<string>()
  for (const page of ['guards.md', 'k3s.md']) {
    const tables = readFileSync(join(ROOT, 'docs', page), 'utf8').matchAll(
      /^\| (?:Guard|Name) \|.*\n\|[-|]+\n((?:\|.*\n)+)/gm,
    )
    for (const [, rows = ''] of tables)
      for (const [, first = ''] of rows.matchAll(/^\| ([^|]+) \|/gm))
        for (const [, name = ''] of first.matchAll(/`([a-z-]+)`/g)) inDocs.add(name)
  }
  assert.deepEqual([...inDocs].toSorted(), [...inCode].toSorted())
})
