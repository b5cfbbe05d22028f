import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { judgeToken, tokensFile } from '../server/auth/tokens.ts'
import { credentialFiles } from './credentials.ts'
import { runCli } from './run.ts'
import { fakeRuntime } from './testing/fake-runtime.ts'

const home = mkdtempSync(join(tmpdir(), 'croft-credentials-'))
after(() => rmSync(home, { recursive: true }))
const env = { XDG_CONFIG_HOME: home }
const files = credentialFiles(env)

async function croft(...argv: readonly string[]) {
  const runtime = fakeRuntime({ env, cwd: home })
  const code = await runCli(argv, runtime)
  return { code, ...runtime.written }
}

test('a token is created, listed without its secret, used and revoked', async () => {
  const made = await croft('token', 'create', 'ci', '--scopes', 'read,operate', '--expires', '30d')
  assert.equal(made.code, 0, made.err)
  const token = made.out.trim()
  assert.match(token, /^croft_\w{8}_[\w-]{43}$/)
  assert.equal(statSync(files.tokens).mode & 0o777, 0o600)
  const listed = await croft('token', 'list')
  assert.match(listed.out, /ci .*read,operate/)
  assert.ok(!listed.out.includes(token.slice(15)) && !readFileSync(files.tokens, 'utf8').includes(token.slice(15)))
  const judged = await judgeToken(tokensFile(files.tokens), token, Date.now())
  assert.ok(typeof judged === 'object' && judged.name === 'ci')
  assert.equal((await croft('token', 'create', 'ci')).code, 1, 'a name is given once')
  assert.equal((await croft('token', 'revoke', 'ci')).code, 0)
  assert.equal(await judgeToken(tokensFile(files.tokens), token, Date.now()), 'unknown')
  assert.equal((await croft('token', 'revoke', 'ci')).code, 1)
})

test('a token must end some day and may only have known scopes', async () => {
  for (const argv of [
    ['token', 'create', 'x', '--expires', '10y'],
    ['token', 'create', 'x', '--expires', '0d'],
    ['token', 'create', 'x', '--scopes', 'root'],
    ['token', 'create'],
    ['token', 'dance'],
  ]) {
    assert.equal((await croft(...argv)).code, 64, argv.join(' '))
  }
})

test('a user gets a password that is shown once, or one from a file, and is removed', async () => {
  const made = await croft('user', 'set', 'anna', '--role', 'operator')
  assert.match(made.out, /^[\w-]{20}\n$/, made.err)
  writeFileSync(join(home, 'pw'), 'a long enough password\n')
  const quiet = await croft('user', 'set', 'otto', '--role', 'viewer', '--password-file', 'pw')
  assert.deepEqual([quiet.code, quiet.out], [0, ''])
  assert.match((await croft('user', 'list')).out, /anna +operator +password +none\notto +viewer/)
  assert.ok(!readFileSync(files.users, 'utf8').includes('long enough'))
  assert.equal((await croft('user', 'set', 'anna', '--role', 'admin')).out, '', 'another role, the same password')
  assert.equal((await croft('user', 'remove', 'anna')).code, 0)
  assert.equal((await croft('user', 'remove', 'anna')).code, 1)
  assert.equal((await croft('user', 'set', 'x')).code, 64, 'without a role')
})

test('[S-42] a user gets an authenticator app whose secret is shown once, and loses it; sessions end by command', async () => {
  await croft('user', 'set', 'emma', '--role', 'admin')
  const generation = () => /"name": ?"emma"[^}]*"generation": ?"([^"]*)"/s.exec(readFileSync(files.users, 'utf8'))?.[1]
  const first = generation()
  const made = await croft('user', 'totp', 'emma')
  assert.match(made.out, /^otpauth:\/\/totp\/croft:emma\?secret=[A-Z2-7]{32}&issuer=croft\n$/)
  assert.match((await croft('user', 'list')).out, /emma +admin +password +app/)
  const second = generation()
  assert.equal((await croft('user', 'sign-out', 'emma')).code, 0)
  const third = generation()
  assert.equal((await croft('user', 'totp', 'emma', '--remove')).code, 0)
  assert.match((await croft('user', 'list')).out, /emma +admin +password +none/)
  assert.equal(new Set([first, second, third, generation()]).size, 4, 'open sessions end each time')
  for (const what of ['totp', 'sign-out']) assert.equal((await croft('user', what, 'nobody')).code, 1)
})
