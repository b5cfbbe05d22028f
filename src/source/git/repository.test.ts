import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { vmManifest } from '../testing/fixture.ts'
import { type FollowOptions, followRepository } from './repository.ts'
import { takenApart } from './signatures.ts'

const root = mkdtempSync(join(tmpdir(), 'croft-follow-'))
after(() => rmSync(root, { recursive: true, force: true }))
const signal = new AbortController().signal
/** GnuPG home with the key that signs the next commit. */
let signingHome = ''
/** The day that the next commits name. */
let commitDate: string | undefined

function dated(): Readonly<Record<string, string>> {
  return commitDate === undefined ? {} : { GIT_COMMITTER_DATE: commitDate, GIT_AUTHOR_DATE: commitDate }
}

function key(name: string): string {
  const file = join(root, name)
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file])
  return file
}

function repository(name: string) {
  const remote = join(root, `${name}.git`)
  const tree = join(root, name)
  mkdirSync(tree)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=someone', '-c', 'user.email=anna@example.org', ...args], {
      cwd: tree,
      env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1', GNUPGHOME: signingHome, ...dated() },
      stdio: 'pipe',
    })
      .toString()
      .trim()
  git('init', '--quiet', '--bare', '--initial-branch=main', remote)
  git('init', '--quiet', '--initial-branch=main')
  git('remote', 'add', 'origin', remote)
  let count = 0
  const commit = (signer?: string, text = vmManifest(`vmId: ${100 + ++count}`, 'a')) => {
    writeFileSync(join(tree, 'a.yaml'), text)
    git('add', '-A')
    const sign = signer === undefined ? ['--no-gpg-sign'] : ['-S']
    const config = signer === undefined ? [] : ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${signer}`]
    git(...config, 'commit', '--quiet', '--allow-empty', ...sign, '-m', `change ${count}`)
    git('push', '--quiet', '--force', 'origin', 'HEAD:main')
    return git('rev-parse', 'HEAD')
  }
  const mirror = join(root, `${name}.mirror`)
  const follow = (options: Partial<FollowOptions> = {}) =>
    followRepository({ remote, mirror, ref: 'main', allowLocal: true, ...options })
  return { git, commit, follow, remote, mirror }
}

test('[S-27] unsigned and wrongly signed commits are refused; going back to an older signed one needs a person', async () => {
  const good = key('good')
  const bad = key('bad')
  const allowed = join(root, 'allowed_signers')
  const publicKey = execFileSync('ssh-keygen', ['-y', '-f', good]).toString().trim()
  writeFileSync(allowed, `anna@example.org namespaces="git" ${publicKey}\n`)
  const { git, commit, follow } = repository('signed')
  const granted = new Set<string>()
  const followed = follow({ signers: { allowedSigners: allowed }, mayReturnTo: (one) => granted.has(one) })
  const seen = async () => {
    const look = await followed.look(signal)
    return look.is === 'kept' ? look.reason : look.is
  }

  commit()
  assert.equal(await seen(), 'unsigned', 'the first is not signed')
  const first = commit(good)
  assert.equal(await seen(), 'new')
  commit(bad)
  assert.equal(await seen(), 'unsigned', 'signed by somebody else')
  git('reset', '--quiet', '--hard', first)
  const second = commit(good)
  assert.equal(await seen(), 'new')

  git('push', '--quiet', '--force', 'origin', `${first}:main`)
  assert.equal(await seen(), 'rewound', 'an older commit, signed as it should be')
  granted.add(first)
  assert.equal(await seen(), 'new', 'a person allowed it')
  git('push', '--quiet', '--force', 'origin', `${second}:main`)
  assert.equal(await seen(), 'new', 'forward again')

  const restarted = follow({ signers: { allowedSigners: allowed }, lastGood: second })
  git('push', '--quiet', '--force', 'origin', `${first}:main`)
  const look = await restarted.look(signal)
  assert.equal(look.is, 'new')
  assert.equal(look.is === 'new' ? look.revision.id : '', second, 'a restart does not forget what was in force')
  assert.equal(look.is === 'new' ? look.trouble?.reason : '', 'rewound')
})

test('[S-27] signatures of GnuPG: by a key of the keyring that was named, and by no other and in no other way', {
  skip: hasGpg() || process.env.CI !== undefined ? false : 'gpg is not installed',
}, async () => {
  const [anna, mallory] = [gpgHome('anna'), gpgHome('mallory')]
  const { git, commit, follow } = repository('gpg-signed')
  const followed = follow({ signers: { gnupgHome: anna } })
  const seen = async () => {
    const look = await followed.look(signal)
    return look.is === 'kept' ? look.reason : look.is
  }
  const signed = (home: string) => {
    signingHome = home
    const words = ['-c', 'gpg.format=openpgp', '-c', `user.signingKey=${basename(home)}@example.org`]
    git(...words, 'commit', '--quiet', '--allow-empty', '-S', '-m', 'signed')
    git('push', '--quiet', '--force', 'origin', 'HEAD:main')
  }
  commit()
  assert.equal(await seen(), 'unsigned')
  signed(mallory)
  assert.equal(await seen(), 'unsigned', 'signed by somebody else')
  commit(key('ssh-instead'))
  assert.equal(await seen(), 'unsigned', 'signed in another way')
  signed(anna)
  assert.equal(await seen(), 'new')
})

test('[S-27] a key that is not accepted any more signs nothing, whatever day the commit names', async () => {
  const [old, current] = [key('retired'), key('current')]
  const allowed = join(root, 'retired_signers')
  const line = (file: string, more = '') =>
    `anna@example.org namespaces="git"${more} ${execFileSync('ssh-keygen', ['-y', '-f', file]).toString().trim()}\n`
  writeFileSync(allowed, line(old, ',valid-before="20250101"') + line(current))
  const { commit, follow } = repository('with-retired')
  const followed = follow({ signers: { allowedSigners: allowed } })
  const seen = async () => {
    const look = await followed.look(signal)
    return look.is === 'kept' ? look.message : look.is
  }
  commit(current)
  assert.equal(await seen(), 'new')
  commit(old)
  assert.match(await seen(), /is not signed by an accepted key/, 'of today')
  commitDate = '2024-06-01T12:00:00Z'
  commit(old)
  assert.match(await seen(), /is signed by a key that is not accepted any more/, 'of a day when it was')
  commit(current)
  assert.equal(await seen(), 'new', 'a wrong clock is no crime')
  commitDate = undefined
})

test('[S-27] a key of GnuPG that has expired signs nothing', {
  skip: hasGpg() || process.env.CI !== undefined ? false : 'gpg is not installed',
}, async () => {
  const then = '20200101T000000!'
  const otto = gpgHome('otto', ['--faked-system-time', then], '2d')
  const wrapper = join(root, 'gpg-then')
  writeFileSync(wrapper, `#!/bin/sh\nexec gpg --faked-system-time '${then}' "$@"\n`, { mode: 0o755 })
  const { git, follow, commit } = repository('gpg-expired')
  commit()
  signingHome = otto
  const words = ['-c', 'gpg.format=openpgp', '-c', 'user.signingKey=otto@example.org', '-c', `gpg.program=${wrapper}`]
  git(...words, 'commit', '--quiet', '--allow-empty', '-S', '-m', 'signed')
  git('push', '--quiet', '--force', 'origin', 'HEAD:main')
  const look = await follow({ signers: { gnupgHome: otto } }).look(signal)
  assert.equal(look.is === 'kept' ? look.reason : look.is, 'unsigned')
})

test('a commit is taken apart into its signature and what was signed', () => {
  const commit = Buffer.from(
    'tree 1\nauthor Ä <a> 1 +0000\ngpgsig -----BEGIN\n line\n \n -----END\n\ngpgsig in the text\n x\n',
    'utf8',
  )
  const { signature, payload } = takenApart(commit)
  assert.equal(signature, '-----BEGIN\nline\n\n-----END\n')
  assert.equal(payload.toString('utf8'), 'tree 1\nauthor Ä <a> 1 +0000\n\ngpgsig in the text\n x\n')
  assert.equal(takenApart(payload).signature, undefined)
})

function hasGpg(): boolean {
  return spawnSync('gpg', ['--version']).status === 0
}

function gpgHome(name: string, first: readonly string[] = [], expires = 'never'): string {
  const home = mkdtempSync(join(tmpdir(), 'croft-gpg-'))
  const own = join(home, name)
  mkdirSync(own, { mode: 0o700 })
  const words = [
    ...first,
    '--batch',
    '--quiet',
    '--passphrase',
    '',
    '--quick-gen-key',
    `${name}@example.org`,
    'ed25519',
    'sign',
    expires,
  ]
  execFileSync('gpg', words, { env: { ...process.env, GNUPGHOME: own }, stdio: 'pipe' })
  after(() => {
    spawnSync('gpgconf', ['--homedir', own, '--kill', 'all'])
    rmSync(home, { recursive: true, force: true })
  })
  return own
}

test('[F-36] a restart while the repository is away, or broken, goes on from what was in force', async () => {
  const { commit, follow, remote } = repository('away')
  const good = commit()
  assert.equal((await follow().look(signal)).is, 'new')
  renameSync(remote, `${remote}.away`)
  const look = await follow({ lastGood: good }).look(signal)
  assert.equal(look.is === 'new' ? look.revision.id : look.is, good)
  assert.equal(look.is === 'new' ? look.trouble?.reason : '', 'unreachable')
  renameSync(`${remote}.away`, remote)
  commit(undefined, 'a: [broken\n')
  const broken = await follow({ lastGood: good }).look(signal)
  assert.equal(broken.is === 'new' ? broken.revision.id : broken.is, good)
  assert.equal(broken.is === 'new' ? broken.trouble?.reason : '', 'empty')
})

test('[D-05] a restart finds a newer commit: what was in force comes with it, should the newer one not be whole', async () => {
  const { commit, follow } = repository('restart-newer')
  const good = commit()
  await follow().look(signal)
  const newer = commit(undefined, vmManifest('nonsense: 1', 'a'))
  const look = await follow({ lastGood: good }).look(signal)
  assert.ok(look.is === 'new')
  assert.deepEqual([look.revision.id, look.before?.revision.id], [newer, good])
})

test('a tag is followed, and the facts of a commit are safe to show', async () => {
  const { git, commit, follow } = repository('tagged')
  const first = commit()
  git('tag', 'v1')
  git('push', '--quiet', 'origin', 'v1')
  commit()
  const look = await follow({ ref: 'v1', tags: true }).look(signal)
  assert.equal(look.is === 'new' ? look.revision.id : look.is, first)
  assert.deepEqual(look.is === 'new' ? { ...look.facts, committedMs: 0 } : {}, {
    commit: first,
    subject: 'change 1',
    author: 'someone',
    committedMs: 0,
  })
})

/** Ways in which a power cut, or a git that was killed, leaves a mirror. */
const BROKEN: Readonly<Record<string, (mirror: string, head: string) => void>> = {
  'an empty branch': (mirror) => writeFileSync(join(mirror, 'refs/heads/main'), ''),
  'a branch of nonsense': (mirror) => writeFileSync(join(mirror, 'refs/heads/main'), 'x'.repeat(40)),
  'the lock of a branch': (mirror) => writeFileSync(join(mirror, 'refs/heads/main.lock'), ''),
  'the lock of packed branches': (mirror) => {
    execFileSync('git', ['-C', mirror, 'pack-refs', '--all'])
    writeFileSync(join(mirror, 'packed-refs.lock'), '')
  },
  'an empty object': (mirror, head) => {
    const object = join(mirror, 'objects', head.slice(0, 2), head.slice(2))
    rmSync(object, { force: true })
    writeFileSync(object, '')
  },
  'no objects': (mirror) => rmSync(join(mirror, 'objects'), { recursive: true }),
  'an empty configuration': (mirror) => writeFileSync(join(mirror, 'config'), ''),
  'an empty HEAD': (mirror) => writeFileSync(join(mirror, 'HEAD'), ''),
}

for (const [what, harm] of Object.entries(BROKEN)) {
  test(`a mirror with ${what} is fetched anew, and its source goes on`, async () => {
    const name = `broken-${what.replaceAll(' ', '-')}`
    const { commit, follow, mirror, git } = repository(name)
    const first = commit()
    git('push', '--quiet', 'origin', 'HEAD:refs/heads/other')
    const followed = follow()
    await followed.look(signal)
    harm(mirror, first)
    git('push', '--quiet', 'origin', ':refs/heads/other')
    const second = commit()
    const seen = await followed.look(signal)
    assert.equal(seen.is === 'new' ? seen.revision.id : seen, second)
    harm(mirror, second)
    const third = commit()
    const restarted = await follow({ lastGood: second }).look(signal)
    assert.equal(restarted.is === 'new' ? restarted.revision.id : restarted, third)
    assert.deepEqual(
      readdirSync(root).filter((one) => one.startsWith(`${name}.mirror.`)),
      [],
    )
  })
}

test('a remote that is away costs no mirror', async () => {
  const { commit, follow, mirror, remote } = repository('away-not-broken')
  const first = commit()
  const followed = follow()
  await followed.look(signal)
  renameSync(remote, `${remote}.away`)
  const look = await followed.look(signal)
  assert.equal(look.is === 'kept' && look.reason, 'unreachable')
  const kept = await follow({ lastGood: first }).look(signal)
  assert.equal(kept.is === 'new' ? kept.revision.id : kept, first, 'what was in force is read from the mirror')
  assert.ok(existsSync(join(mirror, 'HEAD')))
})

test('a commit that never came into force may be amended', async () => {
  const anna = key('anna-amends')
  const signers = { allowedSigners: join(root, 'amends') }
  writeFileSync(signers.allowedSigners, `anna@example.org ${readFileSync(`${anna}.pub`, 'utf8')}`)
  const { commit, follow, git } = repository('amended')
  const first = commit(anna)
  const followed = follow({ signers, inForce: () => first })
  await followed.look(signal)
  const refused = commit(anna, vmManifest('vmId: nonsense', 'a'))
  await followed.look(signal)
  git('reset', '--quiet', '--hard', first)
  const amended = commit(anna)
  assert.notEqual(amended, refused)
  const look = await followed.look(signal)
  assert.equal(look.is === 'new' ? look.revision.id : look, amended)
})
