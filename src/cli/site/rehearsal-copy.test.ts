import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edited } from './rehearsal-copy.ts'

const set = [[['spec', 'endpoint'], 'https://127.0.0.1:1']] as const
const edit = (text: string, line: number) => edited(text, { origin: { file: 'a.yaml', line, column: 1 }, set })

test('only the document at the place is changed, wherever it stands in its file', () => {
  const one = (name: string, endpoint = 'https://real:8006') =>
    `# ${name}\nname: ${name}\nspec:\n  endpoint: ${endpoint}\n`
  const file = `${one('a')}---\n${one('b')}---\n${one('c')}`
  const changed = (name: string) => one(name, '"https://127.0.0.1:1"')
  assert.equal(edit(file, 1), file.replace(one('a'), changed('a')))
  assert.equal(edit(file, 7), file.replace(one('b'), changed('b')))
  assert.equal(edit(file, 12), file.replace(one('c'), changed('c')))
})

test('a spec in braces is changed as well', () => {
  assert.match(edit('spec: {endpoint: "https://real", token: {env: T}}\n', 1), /endpoint: "https:\/\/127\.0\.0\.1:1"/)
})
