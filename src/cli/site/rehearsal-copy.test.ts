import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { edited, writeCopy } from './rehearsal-copy.ts'

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

test('several documents of one file are changed, each in its place', (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'croft-copy-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const [from, to] = [path.join(directory, 'from'), path.join(directory, 'to')]
  mkdirSync(from)
  writeFileSync(
    path.join(from, 'a.yaml'),
    'spec: {endpoint: "https://real", more: {a: 1}}\n---\nname: b\n---\nname: c\n',
  )
  const at = (line: number) => ({ file: 'a.yaml', line, column: 1 })
  writeCopy(
    from,
    to,
    [
      { origin: at(1), set: [...set, [['spec', 'token'], { env: 'TOKEN' }]] },
      { origin: at(5), set: [[['spec', 'checksums'], { v1: 'x' }]] },
    ],
    undefined,
  )
  const [, second, third] = readFileSync(path.join(to, 'a.yaml'), 'utf8').split('---\n')
  assert.equal(second, 'name: b\n')
  assert.match(third ?? '', /^name: c\nspec:\n {2}checksums:/)
})
