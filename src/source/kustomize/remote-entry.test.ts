import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRemote, remoteEntry } from './remote-entry.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'

test('an entry at a full commit is a repository and a directory of it', () => {
  for (const [entry, url, path] of [
    [`https://github.com/me/base//deploy/prod?ref=${COMMIT}`, 'https://github.com/me/base', 'deploy/prod'],
    [`github.com/me/base/deploy?ref=${COMMIT}`, 'https://github.com/me/base', 'deploy'],
    [`https://github.com/me/base/deploy/?timeout=120&ref=${COMMIT}`, 'https://github.com/me/base', 'deploy'],
    [`git::https://git.lan/group/sub/base//a?ref=${COMMIT}`, 'https://git.lan/group/sub/base', 'a'],
    [`https://git.lan/me/base.git/a/b?version=${COMMIT}`, 'https://git.lan/me/base.git', 'a/b'],
    [`https://github.com/me/base?ref=${COMMIT}`, 'https://github.com/me/base', ''],
    [
      `https://raw.githubusercontent.com/me/base/${COMMIT}/deploy/crd.yaml`,
      'https://github.com/me/base',
      'deploy/crd.yaml',
    ],
  ] as const) {
    assert.ok(isRemote(entry), entry)
    assert.deepEqual(remoteEntry(entry), { url, commit: COMMIT, path }, entry)
  }
})

test('what may change is not followed, and how to pin it is said', () => {
  for (const [entry, ref, command] of [
    ['github.com/me/base//deploy?ref=v1.2.3', 'v1.2.3', 'git ls-remote https://github.com/me/base v1.2.3'],
    ['https://github.com/me/base/deploy', 'its default branch', 'git ls-remote https://github.com/me/base HEAD'],
    [
      'https://raw.githubusercontent.com/me/base/main/crd.yaml',
      'main',
      'git ls-remote https://github.com/me/base main',
    ],
    [`github.com/me/base//deploy?ref=${COMMIT.slice(0, 12)}`, COMMIT.slice(0, 12), 'git ls-remote'],
  ] as const) {
    const found = remoteEntry(entry)
    assert.ok('unpinned' in found, entry)
    assert.equal(found.unpinned, ref)
    assert.ok(found.hint.includes(command), found.hint)
  }
})

test('files at an address, and ways in that croft does not take, are refused with what to do', () => {
  const why = (entry: string) => {
    const found = remoteEntry(entry)
    return 'why' in found ? `${found.why}; ${found.hint}` : ''
  }
  assert.match(why('https://github.com/me/base/releases/download/v1/all.yaml'), /may change .* url and sha256/)
  assert.match(why(`git@github.com:me/base//a?ref=${COMMIT}`), /over https alone/)
  assert.match(why(`ssh://git@git.lan/me/base//a?ref=${COMMIT}`), /over https alone/)
  assert.match(why('http://git.lan/me/base'), /not an address/)
})

test('a path of this repository is not remote', () => {
  for (const entry of ['../base', 'a.yaml', './sub.dir/b', 'deploy.d/x']) assert.equal(isRemote(entry), false, entry)
})
