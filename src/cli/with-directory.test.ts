import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type DirectoryOf, withDirectory } from './with-directory.ts'

const VERBS: DirectoryOf = new Map([
  ['plan', 'argument'],
  ['apply', 'argument'],
  ['get', 'option'],
  ['delete', 'option'],
  ['cluster', 'option'],
  ['pods', 'option'],
])

describe('commands in sentences work as printed', () => {
  for (const [said, completed] of [
    ['Run croft get to see what there is.', 'Run croft get --dir infra/ to see what there is.'],
    ['croft plan shows it, croft apply does it', 'croft plan infra/ shows it, croft apply infra/ does it'],
    ['run croft delete Machine/a; or commit', 'run croft delete --dir infra/ Machine/a; or commit'],
    ['Run croft cluster snapshots home.', 'Run croft cluster snapshots --dir infra/ home.'],
    ['Run croft get Machine/a --dir infra/ first', 'Run croft get Machine/a --dir infra/ first'],
    ['Run croft apply infra/ again, then croft get.', 'Run croft apply infra/ again, then croft get --dir infra/.'],
    ['where croft run keeps it, or croft ask approve a', 'where croft run keeps it, or croft ask approve a'],
    ['Perform exactly this plan with: croft apply first', 'Perform exactly this plan with: croft apply first'],
    ['Run croft plan --out first.', 'Run croft plan infra/ --out first.'],
    ['croft plan DIRECTORY --out first', 'croft plan DIRECTORY --out first'],
    ['Run croft pods CLUSTER to list them.', 'Run croft pods CLUSTER to list them.'],
    ['Run croft plan --help.', 'Run croft plan --help.'],
    ['croft plans nothing; croft-get is no command', 'croft plans nothing; croft-get is no command'],
  ] as const)
    test(said, () => assert.equal(withDirectory(said, 'infra/', VERBS), completed))

  test('a directory that a shell would split is quoted', () => {
    assert.equal(withDirectory('croft plan', 'my infra', VERBS), "croft plan 'my infra'")
  })
})
