import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { Secret } from '../../model/secret.ts'
import { sshdMissing, startSshd } from '../../ssh/testing/sshd.ts'
import { ConfigError, readConfig } from '../config.ts'
import { gitServerMissing, startGitServer } from '../testing/git-server.ts'
import { accessOf, openSources } from './open-sources.ts'

const root = mkdtempSync(path.join(tmpdir(), 'croft-git-access-'))
after(() => rmSync(root, { recursive: true, force: true }))
const never = new AbortController().signal
const TOKEN = 'canary-git-token'

/** A bare repository with one commit that declares something. */
function repository(): string {
  const work = path.join(root, 'work')
  const bare = path.join(root, 'srv', 'home.git')
  if (existsSync(bare)) return bare
  mkdirSync(work, { recursive: true })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Anna', '-c', 'user.email=anna@example.org', ...words], {
      cwd: work,
      stdio: 'pipe',
    })
  writeFileSync(
    path.join(work, 'pool.yaml'),
    'apiVersion: croft.dev/v1alpha1\nkind: AddressPool\nmetadata: {name: lan}\nspec: {cidr: 10.0.0.0/24, ranges: [{from: 10.0.0.10, to: 10.0.0.20}]}\n',
  )
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-q', '-m', 'First')
  git('clone', '-q', '--bare', '.', bare)
  return bare
}

function sourceOf(settings: Readonly<Record<string, unknown>>) {
  const data = mkdtempSync(path.join(root, 'data-'))
  const { sources } = readConfig({ sources: [settings] }, {}, {})
  const deps = { data, cwd: root, resolveSecret: async () => new Secret(TOKEN) }
  const [source] = openSources(sources, deps)
  assert.ok(source !== undefined)
  return { data, followed: source.open({ mayReturnTo: () => false }) }
}

describe('a repository over https', {
  skip: gitServerMissing() ?? false,
}, () => {
  test('is read with a token that is in no argument and no file afterwards; another certificate or token is refused', async () => {
    repository()
    const server = await startGitServer(path.join(root, 'srv'), TOKEN)
    after(() => server.close())
    const { asked, ca: trusted } = server
    const url = server.url('home.git')

    const { data, followed } = sourceOf({ url, token: { env: 'X' }, ca: trusted })
    const seen = await followed.look(never)
    assert.ok(seen.is === 'new', JSON.stringify(seen))
    assert.deepEqual(
      seen.revision.declarations.map(({ key: name }) => name),
      ['AddressPool/lan'],
    )
    assert.equal(seen.facts?.author, 'Anna')
    const left = readdirSync(data, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(path.join(one.parentPath, one.name), 'latin1'))
    assert.ok(
      !left.some((text) => text.includes(TOKEN) || text.includes(Buffer.from(`git:${TOKEN}`).toString('base64'))),
    )

    const before = asked.length
    const distrusted = await sourceOf({ url, token: { env: 'X' } }).followed.look(never)
    assert.ok(distrusted.is === 'kept', 'a certificate that nobody vouches for was believed')
    assert.equal(asked.length, before, 'the token was sent to whoever answered')
    const other = await sourceOf({ url, ca: trusted }).followed.look(never)
    assert.ok(other.is === 'kept' && !other.message.includes(TOKEN))
  })
})

describe('a repository over ssh', { skip: sshdMissing() ?? false }, () => {
  test('is read with our key from a host that shows the pinned key, and from no other', async () => {
    const sshd = await startSshd()
    try {
      const url = `ssh://${sshd.user}@127.0.0.1:${sshd.port}${repository()}`
      const ssh = { key: sshd.privateKeyFile, hostKey: sshd.hostKey }
      const seen = await sourceOf({ url, ssh }).followed.look(never)
      assert.ok(seen.is === 'new', JSON.stringify(seen))
      const wrong = readFileSync(`${sshd.privateKeyFile}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')
      const refused = await sourceOf({ url, ssh: { ...ssh, hostKey: wrong } }).followed.look(never)
      assert.ok(refused.is === 'kept' && /host key|Host key|failed/i.test(refused.message), JSON.stringify(refused))
    } finally {
      await sshd.stop()
    }
  })
})

describe('the list of what may be followed', () => {
  const at = (url: string, more: object = {}) =>
    readConfig({ allow: ['https://git.example/me/'], sources: [{ url, ...more }] }, {}, {})
  test('lets in what begins with one of its addresses, and nothing else', () => {
    assert.equal(at('https://git.example/me/home.git').sources.length, 1)
    for (const url of ['https://git.example/you/home.git', 'https://git.example.evil/me/home.git', 'https://evil/'])
      assert.throws(() => at(url), ConfigError, url)
    assert.throws(() => at('https://git.example/me/../you/home.git'), ConfigError, 'a way out of the allowed place')
  })
})

test('the key of an SSH server is written before every fetch, also the second time and into a folder that is not there yet', async () => {
  const data = path.join(root, 'not', 'there')
  const deps = { data, cwd: root, resolveSecret: async () => new Secret('') }
  const access = accessOf(
    { name: 'home', url: 'git@git.example.org:a/b', ssh: { hostKey: 'ssh-ed25519 AAAA' } } as never,
    deps,
  )
  for (const _ of [1, 2]) await access.prepare?.()
  const known = path.join(data, 'sources', 'home.known-hosts')
  assert.match(readFileSync(known, 'utf8'), /git\.example\.org ssh-ed25519 AAAA/)
  assert.match(access.sshCommand ?? '', /StrictHostKeyChecking=yes/)
  assert.ok(access.sshCommand?.includes(known))
})
