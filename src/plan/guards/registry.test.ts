import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { GUARDS } from './registry.ts'

test('docs/guards.md has every guard, in the order in which they are asked, with what it stops', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/guards.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|/gm)].map(([, name, stops]) => [name, stops])
  assert.deepEqual(
    rows,
    GUARDS.map(({ name, stops }) => [name, stops]),
  )
})
