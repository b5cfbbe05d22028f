import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { PASSWORD, testServer } from '../testing/client.ts'
import { createToken, revokeToken, tokensFile } from './tokens.ts'
import { removeUser, setUser, usersFile } from './users.ts'

const KEY = 'Machine/k3s-vm-still-fawn'

describe('signing in', () => {
  test('gives a cookie that scripts cannot read and other sites cannot send, and a CSRF token', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    const answer = await it.post('/api/sign-in', { name: 'anna', password: PASSWORD })
    assert.equal(answer.status, 200)
    const [cookie = ''] = answer.headers['set-cookie'] ?? []
    assert.match(cookie, /^croft_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    assert.equal(answer.json().role, 'operator')
    assert.match(String(answer.json().csrf), /^[\w-]{43}$/)
  })

  test('behind HTTPS the cookie is bound to the host and never sent in the clear', async () => {
    await using it = await testServer({ users: { anna: 'operator' }, publicUrl: 'https://croft.lan' })
    const answer = await it.post('/api/sign-in', { name: 'anna', password: PASSWORD }, { origin: 'https://croft.lan' })
    assert.match(String(answer.headers['set-cookie']), /^__Host-croft_session=.*; Secure$/)
  })

  test('a wrong name and a wrong password get the same answer, and the audit log has neither password', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    const wrong = await it.post('/api/sign-in', { name: 'anna', password: 'not-the-password-canary' })
    const nobody = await it.post('/api/sign-in', { name: 'otto', password: 'not-the-password-canary' })
    assert.deepEqual([wrong.status, nobody.status], [401, 401])
    assert.equal(wrong.text, nobody.text)
    assert.deepEqual(
      it.audit.map(({ what, about, result }) => [what, about, result]),
      [
        ['sign-in', '{"name":"anna"}', 'refused'],
        ['sign-in', '{"name":"otto"}', 'refused'],
      ],
    )
    assert.ok(!JSON.stringify(it.audit).includes('canary'))
  })

  test('guessing is slowed down', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    const statuses: number[] = []
    for (let attempt = 0; attempt < 8; attempt += 1)
      statuses.push((await it.post('/api/sign-in', { name: 'anna', password: `guess ${attempt}` })).status)
    assert.deepEqual([...new Set(statuses)], [401, 429])
  })

  test('signing out ends the session on the server as well', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    const session = await it.signIn('anna')
    assert.equal((await it.post('/api/sign-out', {}, session)).status, 200)
    assert.equal((await it.post('/api/wishes/reconcile', {}, session)).status, 401)
  })
})

describe('[S-22] who was somebody a moment ago is nobody now', () => {
  test('a removed user, at the very next request', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    const session = await it.signIn('anna')
    assert.equal((await it.post('/api/wishes/reconcile', {}, session)).status, 200)
    await removeUser(usersFile(it.paths.users), 'anna')
    assert.equal((await it.post('/api/wishes/reconcile', {}, session)).status, 401)
    assert.equal((await it.ask('/api/me', { headers: session })).json().name, undefined)
  })

  test('a user who was removed and made again is somebody else', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    const session = await it.signIn('anna')
    await removeUser(usersFile(it.paths.users), 'anna')
    await setUser(usersFile(it.paths.users), 'anna', 'operator', PASSWORD)
    assert.equal((await it.post('/api/wishes/reconcile', {}, session)).status, 401)
  })

  test('a changed password ends old sessions, a changed role counts at once', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    const session = await it.signIn('anna')
    await setUser(usersFile(it.paths.users), 'anna', 'viewer', undefined)
    assert.equal((await it.post('/api/wishes/reconcile', {}, session)).status, 403)
    await setUser(usersFile(it.paths.users), 'anna', 'operator', 'changed')
    assert.equal((await it.post('/api/wishes/reconcile', {}, session)).status, 401)
  })

  test('a session after its time', async () => {
    let aheadMs = 0
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }
    await using it = await testServer({ users: { anna: 'operator' }, clock })
    const session = await it.signIn('anna')
    aheadMs = 12 * 3_600_000 + 1
    assert.equal((await it.post('/api/wishes/reconcile', {}, session)).status, 401)
  })

  test('a token that is revoked, has expired, or was never there', async () => {
    await using it = await testServer()
    const tokens = tokensFile(it.paths.tokens)
    const nowMs = Date.now()
    const make = (name: string, expiresMs: number) =>
      createToken(tokens, { name, scopes: ['read', 'operate'], nowMs, expiresMs })
    const [good, old] = [await make('good', nowMs + 60_000), await make('old', nowMs - 1)]
    const ask = async (token: string) =>
      (await it.post('/api/wishes/reconcile', {}, { authorization: `Bearer ${token}` })).status
    assert.deepEqual([await ask(good), await ask(old)], [200, 401])
    assert.equal(await ask(`${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`), 401)
    assert.equal(await ask('croft_12345678_nonsense'), 401)
    await revokeToken(tokens, 'good')
    assert.equal(await ask(good), 401)
    assert.deepEqual(
      it.controller.asked.map(({ actor }) => actor),
      [{ name: 'token:good', from: 'api' }],
    )
  })

  test('a token has its scopes and no more; what cannot be read is an error, not an empty list', async () => {
    await using it = await testServer()
    const nowMs = Date.now()
    const reading = { name: 'r', scopes: ['read'] as const, nowMs, expiresMs: nowMs + 60_000 }
    const token = await createToken(tokensFile(it.paths.tokens), reading)
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await it.ask('/api/view', { headers })).status, 200)
    assert.equal((await it.post('/api/wishes/suspend', { key: KEY }, headers)).status, 403)
    assert.deepEqual(it.controller.asked, [])
    const { readFile } = await import('node:fs/promises')
    assert.ok(!(await readFile(it.paths.tokens, 'utf8')).includes(token.slice(15)), 'the file does not hold the token')
  })
})
