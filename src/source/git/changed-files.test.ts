import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import { changedFiles } from './changed-files.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-changed-'))
after(() => rmSync(root, { recursive: true }))

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-C', root, '-c', 'user.name=anna', '-c', 'user.email=anna@localhost', ...args], {
    encoding: 'utf8',
  }).trim()

function commit(files: Readonly<Record<string, string | Buffer | undefined>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    if (text === undefined) rmSync(join(root, path))
    else writeFileSync(join(root, path), text)
  }
  git('add', '-A')
  git('commit', '-qm', 'a change')
  return git('rev-parse', 'HEAD')
}

test('what differs between two commits: both sides, below the folder that is followed', async () => {
  git('init', '-q')
  const first = commit({ 'home/a.yaml': 'a: 1\n', 'home/gone.yaml': 'x: 1\n', 'other/b.yaml': 'b: 1\n' })
  symlinkSync('/etc/passwd', join(root, 'home/link.yaml'))
  const second = commit({
    'home/a.yaml': 'a: 2\n',
    'home/gone.yaml': undefined,
    'home/ü new.yaml': 'n: 1\n',
    'home/large.yaml': 'x'.repeat(LIMITS.diff.fileBytes + 1),
    'home/binary.yaml': Buffer.from([1, 0, 2]),
    'other/b.yaml': 'b: 2\n',
  })
  const found = await changedFiles(root, [first, second], { path: 'home/' })
  assert.deepEqual(
    found.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { path: 'a.yaml', before: 'a: 1\n', after: 'a: 2\n' },
      { path: 'binary.yaml', after: '', unread: 'binary' },
      { path: 'gone.yaml', before: 'x: 1\n' },
      { path: 'large.yaml', after: '', unread: 'too large' },
      { path: 'ü new.yaml', after: 'n: 1\n' },
    ],
  )
  assert.equal((await changedFiles(root, [first, second])).length, 6)
  assert.deepEqual(await changedFiles(root, [second, second]), [])
})

test('a name that is not a commit is never handed to git', async () => {
  await assert.rejects(changedFiles(root, ['HEAD', '--output=/tmp/x']), /not a commit/)
})
