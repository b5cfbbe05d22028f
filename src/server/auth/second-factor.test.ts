import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { testServer } from '../testing/client.ts'
import { createToken, tokensFile } from './tokens.ts'
import { base32, fromBase32, newTotpSecret, totpAt, totpStep, totpUri } from './totp.ts'
import { endSessions, setTotp, setUser, usersFile } from './users.ts'

const KEY = 'Machine/k3s-vm-still-fawn'
const APPROVE = { keys: [KEY] }
const SECRET = newTotpSecret()

/** A clock that a test sets. */
function handClock() {
  let nowMs = 1_760_000_000_000
  const clock: Clock = { ...systemClock, now: () => nowMs, monotonicMs: () => nowMs }
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { clock, pass, code: (steps = 0) => codeAt(nowMs + steps * 30_000) }
}

function codeAt(atMs: number): string {
  return totpAt(fromBase32(SECRET) ?? new Uint8Array(), Math.floor(atMs / 30_000))
}

describe('codes by time', () => {
  // Appendix B of RFC 6238, for SHA-1: eight digits.
  const key = Buffer.from('12345678901234567890')
  for (const [seconds, code] of [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ] as const)
    test(`at ${seconds} s it is ${code}`, () => assert.equal(totpAt(key, Math.floor(seconds / 30), 8), code))

  test('base32 is read as it is written', () => {
    assert.equal(base32(Buffer.from('foobar')), 'MZXW6YTBOI')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        assert.deepEqual(fromBase32(base32(bytes)), bytes)
      }),
    )
    assert.equal(fromBase32('A1'), undefined)
  })

  test('one step around now counts, a used one and an older one do not', () => {
    const nowMs = 1_760_000_000_000
    const now = Math.floor(nowMs / 30_000)
    for (const off of [-1, 0, 1]) assert.equal(totpStep(SECRET, codeAt(nowMs + off * 30_000), nowMs, 0), now + off)
    for (const off of [-2, 2]) {
      const code = codeAt(nowMs + off * 30_000)
      const near = [-1, 0, 1].map((one) => codeAt(nowMs + one * 30_000))
      if (!near.includes(code)) assert.equal(totpStep(SECRET, code, nowMs, 0), undefined)
    }
    assert.equal(totpStep(SECRET, codeAt(nowMs), nowMs, now), undefined)
    for (const wrong of ['', '12345', 'abcdef', '1234567', '１２３４５６'])
      assert.equal(totpStep(SECRET, wrong, nowMs, 0), undefined)
  })

  test('an app is given an address that it reads', () => {
    const uri = new URL(totpUri(SECRET, 'anna@home', 'croft'))
    assert.equal(`${uri.protocol}//${uri.host}`, 'otpauth://totp')
    assert.equal(decodeURIComponent(uri.pathname), '/croft:anna@home')
    assert.equal(uri.searchParams.get('secret'), SECRET)
  })
})

async function withApp(required = false) {
  const hand = handClock()
  const it = await testServer({
    users: { anna: 'operator', otto: 'admin' },
    clock: hand.clock,
    needsSecondFactor: required,
  })
  await setTotp(usersFile(it.paths.users), 'anna', SECRET)
  return { it, hand }
}

describe('[S-42] a second factor', () => {
  test('is asked of who has an app, before approving and switching off and for nothing else', async () => {
    const { it, hand } = await withApp()
    await using _ = it
    const anna = await it.signIn('anna')
    assert.equal((await it.post('/api/wishes/reconcile', {}, anna)).status, 200)
    const off = { target: 'home', order: 'off' }
    for (const [name, input] of [
      ['approve', APPROVE],
      ['power', off],
    ] as const) {
      const answer = await it.post(`/api/wishes/${name}`, input, anna)
      assert.deepEqual([answer.status, answer.json().error], [403, 'second-factor'])
    }
    assert.ok(!it.controller.asked.some(({ wish }) => wish.wish === 'approve' || wish.wish === 'power'))
    const code = hand.code()
    assert.equal((await it.post('/api/second-factor', { code }, anna)).status, 200)
    assert.equal((await it.post('/api/wishes/approve', APPROVE, anna)).status, 200)
    assert.ok(!JSON.stringify(it.audit).includes(code), 'no code in the audit log')
    // A user without a factor is not asked for one, unless all users must have one.
    assert.equal((await it.post('/api/wishes/approve', APPROVE, await it.signIn('otto'))).status, 200)
    hand.pass(LIMITS.secondFactorMs + 1)
    assert.equal((await it.post('/api/wishes/approve', APPROVE, anna)).status, 403, 'it counts for a while')
  })

  test('does not count twice, in another session, or without one', async () => {
    const { it, hand } = await withApp()
    await using _ = it
    const [one, other] = [await it.signIn('anna'), await it.signIn('anna')]
    const code = hand.code()
    assert.equal((await it.post('/api/second-factor', { code })).status, 401)
    assert.equal((await it.post('/api/second-factor', { code }, one)).status, 200)
    assert.equal((await it.post('/api/second-factor', { code }, other)).status, 403)
    assert.equal((await it.post('/api/wishes/approve', APPROVE, other)).status, 403)
  })

  test('cannot be guessed: a few wrong codes end the session', async () => {
    const { it, hand } = await withApp()
    await using _ = it
    const anna = await it.signIn('anna')
    const right = new Set([-1, 0, 1].map((step) => hand.code(step)))
    const wrong = ['000000', '111111', '222222', '333333', '444444', '555555', '666666', '777777'].filter(
      (one) => !right.has(one),
    )
    for (const code of wrong.slice(0, LIMITS.secondFactorFailures))
      assert.equal((await it.post('/api/second-factor', { code }, anna)).status, 403)
    assert.equal((await it.post('/api/second-factor', { code: hand.code() }, anna)).status, 401)
    assert.equal((await it.post('/api/wishes/reconcile', {}, anna)).status, 401)
  })

  test('cannot be guessed in many sessions either: codes of one user are counted', async () => {
    const { it, hand } = await withApp()
    await using _ = it
    let tried = 0
    // A day of an attacker who has the password and signs in again when a session ends.
    for (let session = 0; session < 6; session++) {
      hand.pass(30_000)
      const anna = await it.signIn('anna')
      const right = new Set([-1, 0, 1].map((step) => hand.code(step)))
      const [code = ''] = ['000000', '111111', '222222', '333333'].filter((one) => !right.has(one))
      for (let at = 1; at < LIMITS.secondFactorFailures; at++)
        if ((await it.post('/api/second-factor', { code }, anna)).status === 403) tried++
    }
    assert.ok(tried <= LIMITS.secondFactorRate.burst + 3, `${tried} codes in three minutes`)
    hand.pass(60_000)
    const own = await it.signIn('anna')
    assert.equal(
      (await it.post('/api/second-factor', { code: hand.code() }, own)).status,
      200,
      'its owner waits a minute',
    )
  })

  test('where it is required, who has none may not, and is told the way; a token is no person', async () => {
    const { it, hand } = await withApp(true)
    await using _ = it
    const answer = await it.post('/api/wishes/approve', APPROVE, await it.signIn('otto'))
    assert.equal(answer.status, 403)
    assert.match(answer.text, /croft user totp otto/)
    const token = await createToken(tokensFile(it.paths.tokens), {
      name: 'ci',
      scopes: ['read', 'approve'],
      nowMs: hand.clock.now(),
      expiresMs: hand.clock.now() + 1e9,
    })
    const byToken = { authorization: `Bearer ${token}` }
    assert.equal((await it.post('/api/wishes/approve', APPROVE, byToken)).status, 200)
  })

  test('survives another role and goes with a command; its secret is nowhere on the page', async () => {
    const { it, hand } = await withApp()
    await using _ = it
    const users = usersFile(it.paths.users)
    await setUser(users, 'anna', 'admin', undefined)
    const anna = await it.signIn('anna')
    assert.equal((await it.post('/api/wishes/approve', APPROVE, anna)).status, 403)
    await it.post('/api/second-factor', { code: hand.code() }, anna)
    for (const path of ['/api/me', '/api/sessions', '/api/view'])
      assert.ok(!(await it.ask(path, { headers: anna })).text.includes(SECRET))
    await setTotp(users, 'anna', undefined)
    assert.equal((await it.post('/api/wishes/reconcile', {}, anna)).status, 401, 'open sessions end with it')
  })
})

interface Listed {
  readonly sessions: readonly { readonly id: string; readonly user: string; readonly own: boolean }[]
}

describe('[S-43] sessions', () => {
  test('are listed to their own user, and to an admin all of them; nobody sees any', async () => {
    const { it } = await withApp()
    await using _ = it
    const [anna, otto] = [await it.signIn('anna'), await it.signIn('otto')]
    const list = async (headers: Readonly<Record<string, string>> = {}) =>
      (await it.ask('/api/sessions', { headers })).json<Listed>().sessions
    assert.deepEqual(await list(), [])
    assert.deepEqual(
      (await list(anna)).map(({ user, own }) => [user, own]),
      [['anna', true]],
    )
    assert.deepEqual(
      (await list(otto)).map(({ user, own }) => [user, own]),
      [
        ['anna', false],
        ['otto', true],
      ],
    )
    const cookies = [anna, otto].map(({ cookie = '' }) => cookie.split('=')[1] ?? '')
    for (const { id } of await list(otto)) assert.ok(!cookies.some((cookie) => cookie.includes(id)))
  })

  test('can be ended: one’s own by anybody, all by an admin, and those of a user by command', async () => {
    const { it } = await withApp()
    await using _ = it
    const [anna, second, otto] = [await it.signIn('anna'), await it.signIn('anna'), await it.signIn('otto')]
    const idOf = async (headers: Readonly<Record<string, string>>) =>
      (await it.ask('/api/sessions', { headers })).json<Listed>().sessions.find(({ own }) => own)?.id ?? ''
    const works = async (headers: Readonly<Record<string, string>>) =>
      (await it.post('/api/wishes/reconcile', {}, headers)).status === 200
    assert.equal((await it.post('/api/sessions/end', { id: await idOf(otto) }, anna)).status, 404, 'not one of others')
    assert.ok(await works(otto))
    assert.equal((await it.post('/api/sessions/end', { id: await idOf(second) }, anna)).status, 200)
    assert.ok((await works(anna)) && !(await works(second)))
    assert.equal((await it.post('/api/sessions/end', { id: await idOf(anna) }, otto)).status, 200)
    assert.ok(!(await works(anna)))
    await endSessions(usersFile(it.paths.users), 'otto')
    assert.ok(!(await works(otto)))
  })
})
