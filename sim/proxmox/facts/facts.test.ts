import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { readEvidenceLines } from '../../../test/evidence/read.ts'
import { AREAS, type AreaTable, areaOf } from './form.ts'

const MOST_BYTES = 400_000

interface SchemaLine {
  readonly method: string
  readonly path: string
  readonly parameters: { readonly properties?: Readonly<Record<string, unknown>> }
}

function table(area: string): AreaTable {
  return JSON.parse(readFileSync(new URL(`${area}.json`, import.meta.url), 'utf8'))
}

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...strings(inner)])
}

test('the tables are small', () => {
  const bytes = AREAS.map((area) => statSync(new URL(`${area}.json`, import.meta.url)).size)
  assert.ok(bytes.reduce((sum, one) => sum + one, 0) < MOST_BYTES)
})

test('every path stands in the table of its area', () => {
  for (const area of AREAS) {
    for (const path of Object.keys(table(area).operations)) assert.equal(areaOf(path), area, path)
  }
})

test('every reference leads somewhere', () => {
  for (const area of AREAS) {
    const { shapes, returns, permissions, operations } = table(area)
    for (const [path, methods] of Object.entries(operations)) {
      for (const one of Object.values(methods)) {
        assert.ok(returns[one.gives] !== undefined && permissions[one.may] !== undefined, path)
        for (const number of Object.values(one.takes ?? {})) assert.ok(shapes[number], path)
      }
    }
    for (const shape of shapes) {
      const inner = Object.values(shape.keys ?? {}).filter((one) => typeof one === 'number')
      for (const number of [...inner, ...(shape.of === undefined ? [] : [shape.of])]) assert.ok(shapes[number])
    }
  }
})

/** Permissions are words with spaces between them; everything else is a name, a pattern or a number. */
test('the tables hold facts and no sentences', () => {
  for (const area of AREAS) {
    const { permissions, ...rest } = table(area)
    for (const text of strings(rest))
      assert.doesNotMatch(text, /[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}/, `${area}: ${text}`)
    for (const text of permissions) assert.match(text, /^(?:all|world|root|\([a-z-]+ [^,;:]*\))$/, `${area}: ${text}`)
  }
})

test('every operation of the schema is there, with each of its parameters', () => {
  const tables = new Map(AREAS.map((area) => [area, table(area)]))
  const lines = readEvidenceLines<SchemaLine>('proxmox/api-schema-9.2.jsonl')
  for (const { method, path, parameters } of lines) {
    const area = areaOf(path)
    assert.ok(area, path)
    const written = tables.get(area)?.operations[path]?.[method]
    assert.ok(written, `${method} ${path}`)
    const names = new Set(
      Object.keys(written.takes ?? {}).map((name) => name.replace(/\?$/, '').replace(/\[\d+\]$/, '[n]')),
    )
    for (const name of Object.keys(parameters.properties ?? {})) assert.ok(names.has(name), `${method} ${path} ${name}`)
  }
  const held = [...tables.values()].flatMap(({ operations }) => Object.values(operations).flatMap(Object.keys)).length
  assert.equal(held, lines.length)
  assert.equal(held, 678)
})
