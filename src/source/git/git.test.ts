import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createParseCache } from '../files/parse-cache.ts'
import { readTree } from '../read-tree.ts'
import { told, vmManifest } from '../testing/fixture.ts'
import { readCommit, resolveCommit } from './git.ts'
import { refusedRef, refusedRemote } from './git-names.ts'
import { fetchMirror } from './mirror.ts'

const roots: string[] = []
after(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true })
})

function folder(): string {
  const root = mkdtempSync(join(tmpdir(), 'croft-git-'))
  roots.push(root)
  return root
}

function git(root: string, ...args: string[]): string {
  const identity = [
    '-c',
    'user.name=t',
    '-c',
    'user.email=t@example.org',
    '-c',
    'commit.gpgsign=false',
    '-c',
    'init.defaultBranch=main',
  ]
  return execFileSync('git', [...identity, '-C', root, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}

function repository(): string {
  const root = folder()
  git(root, 'init', '-q')
  mkdirSync(join(root, 'machines'))
  writeFileSync(join(root, 'machines/a.yaml'), vmManifest('vmId: 100', 'a'))
  writeFileSync(join(root, 'machines/b.yaml'), vmManifest('vmId: 101', 'b'))
  git(root, 'add', '.')
  git(root, 'commit', '-qm', 'one')
  return root
}

test('[S-02] addresses and names that git could take for something else are refused before it is started', () => {
  const refused = [
    'ext::sh -c touch% /tmp/p',
    '--upload-pack=touch /tmp/p',
    '-oProxyCommand=touch',
    'ssh://-oProxyCommand=touch/x',
    'file:///etc',
    '/etc',
    'git@-oProxyCommand=x:y',
    'http://example.org/x.git',
    'git://example.org/x.git',
    'https://user:pass@example.org/x.git',
    '',
    'https://a b/c',
    'fd::17',
    'ssh://host/-x',
    'https://example.org/x\n',
    '../x',
    'host:path',
  ]
  assert.deepEqual(
    refused.filter((url) => refusedRemote(url) === undefined),
    [],
  )
  const read = [
    'https://example.org/home.git',
    'https://example.org:8443/a/b',
    'ssh://git@example.org/home.git',
    'ssh://git@example.org:22/a/b',
    'git@example.org:home/iac.git',
  ]
  assert.deepEqual(
    read.filter((url) => refusedRemote(url) !== undefined),
    [],
  )
  assert.equal(refusedRemote('/srv/git/home.git', true), undefined)
  assert.notEqual(refusedRemote('ext::sh', true), undefined)
  assert.deepEqual(
    ['--output=x', '-x', 'a..b', 'a b', 'HEAD@{1}', 'a\nb', '', 'x.lock', ':/x', 'a^{/x}'].filter(
      (ref) => refusedRef(ref) === undefined,
    ),
    [],
  )
  assert.deepEqual(
    ['main', 'feature/x-1', 'v1.2.3', 'HEAD', '0123456789abcdef0123456789abcdef01234567'].filter(
      (ref) => refusedRef(ref) !== undefined,
    ),
    [],
  )
})

test('[S-02] a refused address or name reaches no program', async () => {
  const root = repository()
  const canary = join(root, 'canary')
  await assert.rejects(fetchMirror(`ext::sh -c touch% ${canary}`, folder()), /refused/)
  await assert.rejects(resolveCommit(root, `--output=${canary}`), /refused/)
  await assert.rejects(readCommit(root, `--output=${canary}`), /not a commit/)
  await assert.rejects(fetchMirror(root, folder()), /only https:\/\/ and ssh:\/\//)
  assert.equal(existsSync(canary), false)
})

test('a commit is read from the object store, whatever the work tree holds', async () => {
  const root = repository()
  const commit = await resolveCommit(root, 'HEAD')
  assert.equal(commit, git(root, 'rev-parse', 'HEAD'))
  writeFileSync(join(root, 'machines/a.yaml'), 'broken: [')
  const revision = await readCommit(root, commit)
  assert.deepEqual(
    revision.declarations.map(({ key, origin }) => `${key} ${origin.file} ${origin.commit}`),
    [`EnvironmentVM/a machines/a.yaml ${commit}`, `EnvironmentVM/b machines/b.yaml ${commit}`],
  )
  assert.equal(revision.id, commit)
  const below = await readCommit(root, commit, { path: 'machines' })
  assert.deepEqual(
    below.declarations.map(({ origin }) => origin.file),
    ['a.yaml', 'b.yaml'],
  )
  assert.equal((await readCommit(root, commit, { path: 'nowhere' })).declarations.length, 0)
  await assert.rejects(resolveCommit(root, 'nowhere'), /git rev-parse failed/)
})

test('the log of a directory shows the commit that removed a manifest, also where the directory is the whole repository', async () => {
  for (const path of ['', 'machines']) {
    const root = repository()
    rmSync(join(root, 'machines/a.yaml'))
    git(root, 'add', '--all')
    git(root, 'commit', '-q', '-m', 'remove a')
    const commit = await resolveCommit(root, 'HEAD')
    for (const revision of [await readTree(join(root, path)), await readCommit(root, commit, { path })]) {
      const log = revision.logs?.[0]?.log
      const around = await log?.around(commit)
      assert.deepEqual(
        around?.before.declarations.map(({ name }) => name),
        ['a', 'b'],
      )
      assert.deepEqual(
        around?.after.declarations.map(({ name }) => name),
        ['b'],
      )
    }
  }
})

test('a cache filled from a work tree serves commits: the hashes are those of Git', async () => {
  const root = repository()
  const cache = createParseCache()
  const first = await readTree(root, { cache })
  const commit = await resolveCommit(root, 'HEAD')
  const second = await readCommit(root, commit, { cache })
  assert.equal(second.declarations[0]?.spec, first.declarations[0]?.spec)
})

test('[S-07] hooks, filters, submodules and links of a repository are not run, fetched or followed', async () => {
  const origin = repository()
  const canary = join(origin, 'canary')
  writeFileSync(join(origin, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 })
  writeFileSync(join(origin, '.git/hooks/reference-transaction'), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 })
  writeFileSync(join(origin, '.gitattributes'), '*.yaml filter=evil\n')
  git(origin, 'config', 'filter.evil.smudge', `touch ${canary}`)
  symlinkSync('/etc/passwd', join(origin, 'machines/link.yaml'))
  git(origin, 'update-index', '--add', '--cacheinfo', `160000,${git(origin, 'rev-parse', 'HEAD')},module.yaml`)
  git(origin, 'add', 'machines/link.yaml', '.gitattributes')
  git(origin, '-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'two')
  const mirror = join(folder(), 'mirror')
  await fetchMirror(origin, mirror, { allowLocal: true })
  // A hook in our mirror is not run either.
  mkdirSync(join(mirror, 'hooks'), { recursive: true })
  writeFileSync(join(mirror, 'hooks/reference-transaction'), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 })
  git(origin, '-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'three', '--allow-empty')
  await fetchMirror(origin, mirror, { allowLocal: true })
  const commit = await resolveCommit(mirror, 'main').catch(() => resolveCommit(mirror, 'master'))
  const revision = await readCommit(mirror, commit)
  assert.equal(revision.declarations.length, 2)
  assert.deepEqual(told(revision.problems), [
    'symbolic-link 1:1 symbolic links are not followed (put the file itself here)',
    'not-read 1:1 a submodule: what it declares is not read, and what was declared before and is not found is kept (put the files themselves here)',
  ])
  assert.equal(existsSync(canary), false)
})

test('a repository that is not there is said so, without a question and without a password', async () => {
  await assert.rejects(resolveCommit(join(folder(), 'none'), 'main'), /git rev-parse failed/)
  const failed = await fetchMirror('https://127.0.0.1:1/x.git', join(folder(), 'm')).catch((error: unknown) => error)
  assert.ok(failed instanceof Error)
  assert.match(failed.message, /^git fetch failed/)
})
