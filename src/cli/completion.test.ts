import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import type { Kind } from '../kinds/kind.ts'
import { completionScript, SHELLS } from './completion-script.ts'
import { runCli } from './run.ts'
import { fakeRuntime } from './testing/fake-runtime.ts'

const home = mkdtempSync(path.join(tmpdir(), 'croft-completion-'))
after(() => rmSync(home, { recursive: true, force: true }))

for (const shell of SHELLS) {
  const there = spawnSync(shell, ['-c', 'exit 0']).status === 0
  const skip = there ? false : `${shell} is not installed`
  test(`the completion script for ${shell} is accepted by ${shell}`, { skip }, () => {
    const file = path.join(home, `croft.${shell}`)
    writeFileSync(file, completionScript(shell) ?? '')
    const checked = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
    assert.equal(checked.status, 0, checked.stderr)
    assert.equal(checked.stderr, '')
  })
}

async function completed(...words: readonly string[]): Promise<readonly string[]> {
  const kind = { kind: 'Machine', plural: 'machines', shortNames: ['m'], summary: 'a computer' } as unknown as Kind
  const runtime = fakeRuntime({ kinds: async () => [kind] })
  assert.equal(await runCli(['__complete', '--', ...words], runtime), 0)
  return runtime.written.out
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
    .filter((word) => word !== '')
}

test('verbs, options, choices and kinds are suggested', async () => {
  assert.deepEqual(await completed('de'), ['demo', 'delete', 'describe'])
  assert.deepEqual(await completed('plan', '--c'), ['--calls'])
  assert.deepEqual(await completed('get', '-o', ''), ['wide', 'name', 'json', 'yaml'])
  assert.deepEqual(await completed('get', ''), ['machines'])
  assert.deepEqual(await completed('plan', ''), [':files'])
  assert.deepEqual(await completed('completion', 'z'), ['zsh'])
  assert.equal((await completed('')).includes('__complete'), false)
})

test('a broken directory suggests nothing and breaks nothing', async () => {
  assert.deepEqual(await completed('get', 'machines', ''), [])
})
