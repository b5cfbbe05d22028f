import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { seededRandom } from '../lib/random.ts'
import { ShellFailure } from '../lib/shell.ts'
import { programShell } from './program-shell.ts'

/** Makes a shell whose login prints a greeting, as a startup file of root's may do. */
function greeting() {
  return programShell(
    {
      name: 'cow',
      become: 'none',
      words: async (argv) => ['sh', '-c', 'echo Welcome to cow; printf "no line end"; exec "$@"', 'sh', ...argv],
      env: { PATH: process.env.PATH ?? '' },
      group: true,
      failure: () => new ShellFailure('no', 'unstarted', 'it did not begin'),
      close: async () => {},
    },
    { clock: systemClock, random: seededRandom(1) },
  )
}

test('what a login shell says before a program is no part of what the program says, or of a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'croft-chatter-'))
  const [shell, path] = [greeting(), join(folder, 'a')]
  assert.deepEqual(await shell.run(['echo', 'done 1']), { code: 0, stdout: 'done 1\n', stderr: '' })
  await shell.writeFile(path, 'new\n')
  assert.equal(readFileSync(path, 'utf8'), 'new\n')
  assert.equal(Buffer.from((await shell.readFile(path)) ?? []).toString(), 'new\n')
  assert.equal((await shell.run(['true'])).stdout, '')
  await shell.close()
  rmSync(folder, { recursive: true })
})
