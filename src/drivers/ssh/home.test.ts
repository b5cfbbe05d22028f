import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from './command.ts'
import { removeInHome, writeInHome } from './home.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root, to act as another user'
const NOBODY = 65_534

/** A user's home, and a folder of root's that the user wants. */
function home() {
  const folder = mkdtempSync(join(tmpdir(), 'croft-home-'))
  chmodSync(folder, 0o755)
  const [own, precious] = [join(folder, 'bob'), join(folder, 'precious')]
  for (const one of [own, precious]) mkdirSync(one)
  chownSync(own, NOBODY, NOBODY)
  writeFileSync(join(precious, 'authorized_keys'), "root's\n")
  const perform = (commands: readonly Command[]) =>
    commands.map((one) => {
      assert.ok(one.do === 'run')
      return spawnSync(one.argv[0] ?? '', one.argv.slice(1), { encoding: 'utf8' }).status
    })
  return { own, precious, ssh: join(own, '.ssh'), perform, done: () => rmSync(folder, { recursive: true }) }
}

const rights = (path: string) => [statSync(path).uid, (statSync(path).mode & 0o777).toString(8)]

test('keys are written as their user, with the rights that sshd asks for, and go again', { skip }, () => {
  const { ssh, perform, done } = home()
  assert.deepEqual(perform(writeInHome('nobody', ssh, 'authorized_keys', 'ssh-ed25519 AAAA\n')), [0, 0, 0])
  assert.equal(readFileSync(join(ssh, 'authorized_keys'), 'utf8'), 'ssh-ed25519 AAAA\n')
  assert.deepEqual(
    [rights(ssh), rights(join(ssh, 'authorized_keys'))],
    [
      [NOBODY, '700'],
      [NOBODY, '600'],
    ],
  )
  assert.deepEqual(perform([removeInHome('nobody', ssh, 'authorized_keys')]), [0])
  assert.ok(!existsSync(join(ssh, 'authorized_keys')))
  done()
})

test('a link in the place of the folder gives its user nothing of what it leads to', { skip }, () => {
  const { ssh, precious, perform, done } = home()
  symlinkSync(precious, ssh)
  const before = rights(precious)
  assert.notEqual(perform(writeInHome('nobody', ssh, 'authorized_keys', 'ssh-ed25519 AAAA\n')).at(-1), 0)
  assert.notDeepEqual(perform([removeInHome('nobody', ssh, 'authorized_keys')]), [0])
  assert.deepEqual(rights(precious), before)
  assert.equal(readFileSync(join(precious, 'authorized_keys'), 'utf8'), "root's\n")
  done()
})
