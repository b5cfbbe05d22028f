import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readText } from '../source/testing/fixture.ts'
import { nameEstate } from './estate-files.ts'
import type { LoadedEstate } from './runtime.ts'
import { fakeRuntime } from './testing/fake-runtime.ts'
import { CliError } from './verb.ts'

const NAMELESS = { declarations: [] } as unknown as LoadedEstate

test('[D-01] a directory whose last commit has its Estate gets no new one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'croft-lost-estate-'))
  try {
    const git = (...words: string[]) =>
      execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { stdio: 'pipe' })
    const written: string[] = []
    const runtime = {
      ...fakeRuntime({ cwd: directory }),
      writeFile: async (file: string) => {
        written.push(file)
        return true
      },
    }
    git('init', '-q')
    writeFileSync(join(directory, 'estate.yaml'), 'apiVersion: croft.dev/v1alpha1\nkind: Estate\n')
    git('add', '.')
    git('commit', '-qm', 'named')
    rmSync(join(directory, 'estate.yaml'))
    await assert.rejects(nameEstate(runtime, directory, NAMELESS, [], true), (error: unknown) => {
      assert.ok(error instanceof CliError)
      assert.match(error.message, /checkout HEAD -- estate\.yaml/)
      return true
    })
    assert.deepEqual(written, [])
    // A person who commits the removal means it.
    git('commit', '-qam', 'begin anew')
    assert.equal(await nameEstate(runtime, directory, NAMELESS, [], true), true)
    assert.deepEqual(written, [join(directory, 'estate.yaml')])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('a directory with the name of a number or a truth value gets an Estate that croft reads', async () => {
  for (const folder of ['000', '2024', '1e3', 'true', 'no', 'null', `a${'-'.repeat(70)}b`, 'web']) {
    const directory = join(mkdtempSync(join(tmpdir(), 'croft-name-')), folder)
    mkdirSync(directory)
    let text = ''
    const runtime = {
      ...fakeRuntime({ cwd: directory }),
      writeFile: async (_: string, given: string) => {
        text = given
        return true
      },
    }
    assert.equal(await nameEstate(runtime, directory, NAMELESS, [], true), true)
    const { problems, declarations } = readText(text)
    assert.deepEqual([problems, declarations.length], [[], 1], folder)
    rmSync(directory, { recursive: true, force: true })
  }
})
