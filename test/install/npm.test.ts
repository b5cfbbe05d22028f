import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { cloneInto, must } from './clone.ts'
import { nodeVersions } from './node-versions.ts'
import { planAgainstSimulator } from './try-out.ts'

const room = mkdtempSync(join(tmpdir(), 'croft-npm-'))
after(() => rmSync(room, { recursive: true, force: true }))

/** Packed as README says, in a fresh clone, with this Node. */
function pack(name: string, env: Readonly<Record<string, string>>): string {
  const clone = cloneInto(join(room, name))
  const said = must('npm', ['pack', '--silent'], clone, env)
  return join(clone, said.trim().split('\n').at(-1) ?? '')
}

describe('npm pack', () => {
  let artefact = ''
  before(() => {
    artefact = pack('clone', { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` })
  })

  for (const [at, { major, env }] of nodeVersions().entries()) {
    test(`gives a package that installs into an empty prefix and works on Node ${major}`, async () => {
      const prefix = join(room, `prefix-${major}`)
      const home = join(room, `home-${major}`)
      for (const folder of [prefix, home]) mkdirSync(folder)
      // A dependency that asks for a newer Node would only warn here; a user's npm may be set to refuse it.
      const strictly = ['--engine-strict', '--prefer-offline', '--prefix', prefix]
      must('npm', ['install', '--global', ...strictly, artefact], room, env)
      const croft = join(prefix, 'bin', 'croft')
      const own = { ...env, HOME: home, XDG_CACHE_HOME: '', XDG_STATE_HOME: '', CROFT_STATE: '' }
      const call = (...args: readonly string[]) =>
        spawnSync(croft, args, { cwd: home, encoding: 'utf8', env: { ...process.env, ...own } })
      assert.match(call('--version').stdout, /^\d+\.\d+\.\d+\n$/)
      assert.match(call('--help').stdout, /^Usage: croft /)
      await planAgainstSimulator(croft, join(prefix, 'lib/node_modules/croft/examples/machines'), home, own)
      if (at > 0) return
      const tour = call('demo', '--once')
      assert.equal(tour.status, 0, `${tour.stdout}${tour.stderr}`)
    })
  }

  test('gives the same package when the Node in PATH needs the pinned one', () => {
    const other = pack('again', {})
    const listed = (file: string) => must('tar', ['-tzf', file], room)
    assert.equal(listed(other), listed(artefact))
    assert.match(listed(artefact), /^package\/dist\/web\/index\.html$/m)
  })
})
