import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { changeHolder } from '../server/auth/security-keys.ts'
import { judgeToken, tokensFile } from '../server/auth/tokens.ts'
import { usersFile } from '../server/auth/users.ts'
import { credentialFiles } from '../state/secrets.ts'
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

test('[S-42] somebody is invited to add a security key; keys are listed and removed by command', async () => {
  await croft('user', 'set', 'karl', '--role', 'admin')
  const invited = await croft('user', 'invite', 'karl')
  assert.match(invited.out, /^[\w-]{20}\n$/)
  assert.ok(!readFileSync(files.users, 'utf8').includes(invited.out.trim()), 'only its hash is kept')
  const users = usersFile(files.users)
  const key = { name: 'blue', rpId: 'croft.lan', publicKey: 'eA', algorithm: -7, signCount: 0, addedMs: 0 } as const
  const somebody = { issuer: 'https://id.example', subject: '2482', name: 'olga' }
  for (const [person, ids] of [
    [{ user: 'karl' }, ['abcd1', 'abcd2']],
    [somebody, ['efgh']],
  ] as const)
    await changeHolder(users, person, () => ({ keys: ids.map((id) => ({ ...key, id })) }))
  assert.match((await croft('user', 'list')).out, /karl +admin +password +2 keys/)
  assert.match((await croft('user', 'keys', 'karl')).out, /abcd1 +blue +croft\.lan .*never/)
  assert.equal((await croft('user', 'keys', 'karl', '--remove-key', 'abcd')).code, 1, 'it must be clear which')
  const before = (await users.read()).users.find(({ name }) => name === 'karl')?.generation
  assert.equal((await croft('user', 'keys', 'karl', '--remove-key', 'abcd1')).code, 0)
  const after = (await users.read()).users.find(({ name }) => name === 'karl')
  assert.deepEqual([after?.keys?.length, after?.generation === before], [1, false], 'open sessions end')
  const at = ['--oidc-issuer', somebody.issuer, '--oidc-subject', somebody.subject]
  assert.match((await croft('user', 'keys', ...at)).out, /efgh +blue/)
  assert.equal((await croft('user', 'invite', ...at)).code, 0)
  assert.equal((await croft('user', 'keys', ...at, '--remove-key', 'efgh')).code, 0)
  for (const what of ['keys', 'invite']) assert.equal((await croft('user', what, 'nobody')).code, 1)
})
