import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = dirname(dirname(import.meta.dirname))

const listed = [
  ...readFileSync(join(root, 'docs/requirements.md'), 'utf8').matchAll(/^\| ([RAFS]-?\d+) \| .+ \|$/gm),
].map(([, number = '']) => number)

const carried = new Set(
  globSync('{src,test,sim,web}/**/*.test.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\[((?:[RA]|[FS]-)\d+)\](?=[ '`])/g)].map(
      ([, number = '']) => number,
    ),
  ),
)

test('docs/requirements.md lists each number that a test carries', () => {
  assert.ok(carried.size > 150)
  assert.deepEqual(
    [...carried].filter((number) => !listed.includes(number)),
    [],
  )
})

test('each listed number is carried by a test, and listed once', () => {
  assert.deepEqual(
    listed.filter((number) => !carried.has(number)),
    [],
  )
  assert.equal(new Set(listed).size, listed.length)
})
