import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { unifiedDiff } from './adopter.ts'

const LONG = Array.from({ length: 30 }, (_, at) => `  field${at}: ${at}\n`).join('')
const CASES: readonly [string, string, string][] = [
  ['one field', 'spec:\n  cores: 2\n  memory: 2048\n', 'spec:\n  cores: 4\n  memory: 2048\n'],
  ['two fields beside each other', 'spec:\n  cores: 2\n  memory: 2048\n', 'spec:\n  cores: 4\n  memory: 4096\n'],
  ['no line end at the end', 'spec:\n  cores: 2\n  memory: 2048', 'spec:\n  cores: 2\n  memory: 4096'],
  [
    'a change above a last line without a line end',
    'spec:\n  cores: 2\n  memory: 2048',
    'spec:\n  cores: 4\n  memory: 2048',
  ],
  ['CRLF', 'spec:\r\n  cores: 2\r\n', 'spec:\r\n  cores: 4\r\n'],
  ['empty lines at the end', 'spec:\n  cores: 2\n\n\n', 'spec:\n  cores: 4\n\n\n'],
  ['a file of one line', '{"cores": 2}', '{"cores": 4}'],
  // Distances around which the context of two changes meets.
  ...[1, 2, 5, 6, 7, 8, 9, 20].map((apart): [string, string, string] => [
    `two fields ${apart} lines apart`,
    LONG,
    LONG.replace('field3: 3\n', 'field3: x\n').replace(`field${3 + apart}: ${3 + apart}\n`, `field${3 + apart}: y\n`),
  ]),
]

for (const [what, before, after] of CASES)
  test(`git apply takes the patch of an adoption: ${what}`, (t) => {
    const room = mkdtempSync(join(tmpdir(), 'croft-patch-'))
    t.after(() => rmSync(room, { recursive: true }))
    writeFileSync(join(room, 'web.yaml'), before)
    writeFileSync(join(room, 'p.patch'), unifiedDiff('web.yaml', before, after))
    const run = spawnSync('git', ['apply', 'p.patch'], { cwd: room, encoding: 'utf8' })
    assert.equal(run.status, 0, run.stderr)
    assert.equal(readFileSync(join(room, 'web.yaml'), 'utf8'), after)
  })
