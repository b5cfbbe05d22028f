import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { findCommand } from '../scripts/packages.ts'

const root = path.dirname(import.meta.dirname)
const SHELLCHECK = findCommand('shellcheck')

test('shellcheck finds nothing in the programs that run on nodes', {
  skip: SHELLCHECK !== undefined || process.env.CI !== undefined ? false : 'shellcheck is missing',
}, () => {
  const programs = globSync('src/**/*.sh', { cwd: root }).toSorted()
  assert.deepEqual(programs, ['src/k3s/gates.sh', 'src/k3s/node-program.sh'])
  const checked = spawnSync(
    SHELLCHECK ?? 'shellcheck',
    ['--shell=sh', '--severity=warning', '--format=gcc', ...programs],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  assert.equal(checked.stdout, '')
  assert.equal(checked.status, 0, checked.stderr)
})
