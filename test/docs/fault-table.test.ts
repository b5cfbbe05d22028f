import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/operator.md'), 'utf8')

/** `file: beginning of a name`, as the last column of the table says it. */
function namedIn(text: string): readonly { readonly file: string; readonly name: string }[] {
  const [, table = ''] = /## When something fails\n([^#]*)/.exec(text) ?? []
  return table
    .split('\n')
    .filter((row) => row.startsWith('| ') && !row.startsWith('| Fault'))
    .flatMap((row) => (row.split(' | ')[2] ?? '').replace(/ \|$/, '').split('; '))
    .map((one) => {
      const [, file = '', name = ''] = /^`([^`]+)`: (.+)$/.exec(one) ?? assert.fail(`${one} names no test`)
      return { file, name }
    })
}

test('every row of the table of faults names tests that exist', () => {
  const named = namedIn(page)
  assert.ok(named.length > 15)
  for (const { file, name } of named) {
    assert.ok(existsSync(join(ROOT, file)), `${file} is not there`)
    const text = readFileSync(join(ROOT, file), 'utf8')
    const titles = [...text.matchAll(/test\(\s*(['"`])([^\n]*?)\1/g)].map(([, , title = '']) =>
      title.replace(/\\(.)/g, '$1'),
    )
    assert.ok(
      titles.some((title) => title.includes(name)),
      `${file} has no test "${name}"`,
    )
  }
})
