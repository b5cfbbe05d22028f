import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isTestCode } from './layers-rules.ts'

const root = join(import.meta.dirname, '..')

/** Fields of the interfaces of a file. */
function fieldsOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/^\s+readonly (\w+)\??:/gm)].map(([, name = '']) => name))]
}

/** Reports whether the code reads a field: `thing.field`, or `{ field }` taken out of a thing. */
function reads(text: string, field: string): boolean {
  return new RegExp(`\\.${field}\\b|[{,]\\s*${field}(?:: \\w+)?(?: = [^,}]+)?\\s*[,}][^;]*?(?:[=)]|=>)`).test(text)
}

/** Fields that Git fills and nothing outside `src/kinds/` reads: what a person declares there has no effect. */
function unread(model: string, code: readonly string[]): readonly string[] {
  return fieldsOf(model).filter((field) => !code.some((text) => reads(text, field)))
}

const code = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !isTestCode(path) && !path.startsWith('src/kinds/') && !path.startsWith('src/model/'))
  .map((path) => readFileSync(join(root, path), 'utf8'))

test('every field of a declared Power is read by the code that keeps it', () => {
  const model = readFileSync(join(root, 'src/model/power.ts'), 'utf8')
  assert.deepEqual(unread(model, code), [])
})

test('a field without a reader is found', () => {
  const model = 'export interface Box {\n  readonly fedByNothing?: string\n  readonly level: number\n}'
  assert.deepEqual(unread(model, [...code, 'const made = { fedByNothing: 1 }']), ['fedByNothing'])
})
