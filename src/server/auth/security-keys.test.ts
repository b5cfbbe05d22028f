import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { askServer, testServer } from '../testing/client.ts'
import { fakeIssuer } from '../testing/fake-issuer.ts'
import { type KeyTwist, softwareKey } from '../testing/software-key.ts'
import type { Creation, Showing } from './key-port.ts'
import { changeHolder, inviteToKeys } from './security-keys.ts'
import { fromBase32, newTotpSecret, totpAt } from './totp.ts'
import { removeUser, setTotp, setUser, usersFile } from './users.ts'

type It = Awaited<ReturnType<typeof testServer>>
type Headers = Readonly<Record<string, string>>

const APPROVE = { keys: ['Machine/k3s-vm-still-fawn'] }

/** Asks as a page that was opened under a name: keys are for names. */
function named(it: It, session: Headers, name = 'localhost') {
  const origin = `http://${name}:${it.server.port}`
  const headers = { ...session, host: `${name}:${it.server.port}`, origin }
  const post = (at: string, body: unknown) => it.post(at, body, headers)
  const showing = async () => (await post('/api/second-factor/begin', {})).json<Showing>()
  return {
    origin,
    post,
    showing,
    approve: async () => (await post('/api/wishes/approve', APPROVE)).status,
    async add(key: ReturnType<typeof softwareKey>, invite?: string, called = 'blue') {
      const begun = await post('/api/keys/begin', invite === undefined ? {} : { invite })
      if (begun.status !== 200) return begun
      const asked = begun.json<Creation>()
      return post('/api/keys/add', { name: called, ...key.create({ ...asked, origin }) })
    },
    async show(key: ReturnType<typeof softwareKey>, twist: KeyTwist = {}) {
      const asked = (await showing()).key
      assert.ok(asked !== undefined, 'no key is asked')
      return post('/api/second-factor/key', key.answer({ ...asked, origin }, twist))
    },
  }
}

function handClock() {
  let nowMs = 1_760_000_000_000
  const clock: Clock = { ...systemClock, now: () => nowMs, monotonicMs: () => nowMs }
  return {
    clock,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

const USERS = { anna: 'operator', otto: 'admin' } as const

describe('[S-42] security keys', () => {
  test('who added one shows it before approving, in every session; it counts for ten minutes in that one', async () => {
    const hand = handClock()
    await using it = await testServer({ users: USERS, clock: hand.clock })
    const first = named(it, await it.signIn('anna'))
    const key = softwareKey()
    assert.equal((await first.add(key)).status, 200)
    assert.equal(await first.approve(), 200, 'who has just made it was at it')
    const page = named(it, await it.signIn('anna'))
    assert.equal(await page.approve(), 403)
    assert.equal((await page.post('/api/wishes/reconcile', {})).status, 200, 'the everyday is as quick as before')
    const shown = await page.show(key)
    assert.equal(shown.status, 200, shown.text)
    assert.equal(await page.approve(), 200)
    hand.pass(LIMITS.secondFactorMs + 1)
    assert.equal(await page.approve(), 403)
    assert.equal(await named(it, await it.signIn('otto')).approve(), 200, 'who has none is asked for none')
    const listed = (await it.ask('/api/keys', { headers: await it.signIn('anna') })).text
    assert.match(listed, /"name":"blue"/)
    assert.doesNotMatch(listed, /publicKey/)
  })

  test('an answer counts once, in its session, for its question, within its time', async () => {
    const hand = handClock()
    await using it = await testServer({ users: USERS, clock: hand.clock })
    const [page, other] = [named(it, await it.signIn('anna')), named(it, await it.signIn('anna'))]
    const key = softwareKey()
    await page.add(key)
    hand.pass(LIMITS.secondFactorMs + 1)
    const ask = async () => {
      const { key: asked } = await page.showing()
      assert.ok(asked !== undefined)
      return { ...asked, origin: page.origin }
    }
    const statusOf = async (of: typeof page, answer: unknown) =>
      (await of.post('/api/second-factor/key', answer)).status
    const answer = key.answer(await ask())
    assert.equal(await statusOf(other, answer), 403, 'another session')
    assert.equal(await statusOf(page, answer), 200)
    hand.pass(LIMITS.secondFactorMs + 1)
    assert.equal(await statusOf(page, answer), 403, 'a replay')
    const old = key.answer(await ask())
    await ask()
    assert.equal(await statusOf(page, old), 403, 'a question that was asked anew')
    const late = key.answer(await ask())
    hand.pass(LIMITS.securityKeyMs + 1)
    assert.equal(await statusOf(page, late), 403, 'too late')
    const both = key.answer(await ask())
    const statuses = await Promise.all([statusOf(page, both), statusOf(page, both)])
    assert.deepEqual(statuses.toSorted(), [200, 403], 'two at once')
    assert.equal(await other.approve(), 403)
  })

  test('what is wrong with an answer is refused, and five of them end the session', async () => {
    await using it = await testServer({ users: USERS })
    const key = softwareKey()
    await named(it, await it.signIn('anna')).add(key)
    const page = named(it, await it.signIn('anna'))
    const twists: readonly KeyTwist[] = [
      { flags: 0x01 },
      { client: { origin: 'https://evil.example' } },
      { rpId: 'evil.example' },
      { signed: Buffer.from('x') },
    ]
    for (const twist of twists) assert.equal((await page.show(key, twist)).status, 403)
    assert.equal(await page.approve(), 403)
    assert.equal((await page.show(softwareKey())).status, 403, 'a key of nobody')
    assert.equal((await page.post('/api/wishes/reconcile', {})).status, 401)
  })

  test('a key that counts backwards is a copy: refused, also after a restart', async () => {
    await using it = await testServer({ users: USERS })
    const key = softwareKey()
    await named(it, await it.signIn('anna')).add(key)
    const page = named(it, await it.signIn('anna'))
    assert.equal((await page.show(key, { signCount: 9 })).status, 200)
    await using again = await testServer({ usersFile: it.paths.users })
    const later = named(again, await again.signIn('anna'))
    assert.equal((await later.show(key, { signCount: 9 })).status, 403)
    assert.equal((await later.show(key, { signCount: 10 })).status, 200)
  })

  test('whoever finds a session open adds no key to a person who has a second factor', async () => {
    const hand = handClock()
    await using it = await testServer({ users: USERS, clock: hand.clock })
    const key = softwareKey()
    const page = named(it, await it.signIn('anna'))
    await page.add(key)
    const found = named(it, await it.signIn('anna'))
    assert.equal((await found.add(softwareKey())).status, 403)
    assert.equal((await found.post('/api/keys/remove', { id: key.id })).status, 403)
    await found.show(key)
    assert.equal((await found.add(softwareKey(), undefined, 'second')).status, 200)
    assert.equal((await found.post('/api/keys/remove', { id: key.id })).status, 200)
    assert.equal((await found.post('/api/keys/remove', { id: key.id })).status, 404)
    // An app is a second factor, too.
    const secret = newTotpSecret()
    await setTotp(usersFile(it.paths.users), 'otto', secret)
    const otto = named(it, await it.signIn('otto'))
    assert.equal((await otto.add(softwareKey())).status, 403)
    const code = totpAt(fromBase32(secret) ?? new Uint8Array(), Math.floor(hand.clock.now() / 30_000))
    await otto.post('/api/second-factor', { code })
    assert.equal((await otto.add(softwareKey())).status, 200)
  })

  test('where a second factor is required the first key needs an invitation, which is good once and for a day', async () => {
    const hand = handClock()
    await using it = await testServer({ users: USERS, clock: hand.clock, needsSecondFactor: true })
    const users = usersFile(it.paths.users)
    const page = named(it, await it.signIn('anna'))
    const refused = await page.add(softwareKey())
    assert.deepEqual([refused.status, refused.json().error], [403, 'invite'])
    assert.match(refused.text, /croft user invite anna/)
    assert.equal((await page.add(softwareKey(), 'guessed')).status, 403)
    const expired = await inviteToKeys(users, { user: 'anna' }, hand.clock.now())
    hand.pass(LIMITS.keyInviteMs + 1)
    const later = named(it, await it.signIn('anna'))
    assert.equal((await later.add(softwareKey(), expired)).status, 403)
    const word = await inviteToKeys(users, { user: 'anna' }, hand.clock.now())
    assert.ok(!JSON.stringify(await users.read()).includes(word))
    assert.equal((await named(it, await it.signIn('otto')).add(softwareKey(), word)).status, 403, 'of another')
    assert.equal((await later.post('/api/keys/begin', { invite: word })).status, 200)
    assert.equal(await later.approve(), 403, 'an invitation is no second factor')
    assert.equal((await later.add(softwareKey(), word)).status, 200)
    assert.equal(await later.approve(), 200)
    const again = named(it, await it.signIn('anna'))
    assert.equal((await again.add(softwareKey(), word)).status, 403, 'used')
    assert.ok(!JSON.stringify(it.audit).includes(word), 'no invitation in the audit log')
  })

  test('a key belongs to one person and to one name of the page; under another name it is still owed', async () => {
    await using it = await testServer({ users: USERS, names: ['croft.lan'] })
    const key = softwareKey()
    assert.equal((await named(it, await it.signIn('anna'), 'croft.lan').add(key)).status, 200)
    const otto = named(it, await it.signIn('otto'), 'croft.lan')
    assert.equal((await otto.add(key)).status, 409)
    const elsewhere = named(it, await it.signIn('anna'))
    assert.equal(await elsewhere.approve(), 403)
    assert.deepEqual(await elsewhere.showing(), { code: false, elsewhere: ['croft.lan'] })
    const address = named(it, await it.signIn('anna'), '127.0.0.1')
    assert.equal(await address.approve(), 403)
    const refused = await named(it, await it.signIn('otto'), '127.0.0.1').add(softwareKey())
    assert.deepEqual([refused.status, /a name and not for an address/.test(refused.text)], [422, true])
  })

  test('a token, a page without a session and nobody get nowhere', async () => {
    await using it = await testServer({ users: USERS })
    for (const at of ['/api/keys/begin', '/api/second-factor/begin'])
      assert.equal((await it.post(at, {})).status, 401, at)
    assert.deepEqual((await it.ask('/api/keys')).json(), { keys: [] })
  })

  test('there are at most ten; they stay with another role and password and go with their user', async () => {
    const hand = handClock()
    await using it = await testServer({ users: { anna: 'operator' }, clock: hand.clock })
    const users = usersFile(it.paths.users)
    const page = named(it, await it.signIn('anna'))
    for (let at = 0; at < LIMITS.securityKeys; at++)
      assert.equal((await page.add(softwareKey(-8), undefined, `key ${at}`)).status, 200)
    assert.equal((await page.add(softwareKey(-8))).status, 422)
    await setUser(users, 'anna', 'admin', 'another password')
    assert.equal((await users.read()).users[0]?.keys?.length, LIMITS.securityKeys)
    assert.equal(await named(it, await it.signIn('anna', 'another password')).approve(), 403)
    await removeUser(users, 'anna')
    await setUser(users, 'anna', 'admin', 'another password')
    assert.equal(await named(it, await it.signIn('anna', 'another password')).approve(), 200, 'another person now')
  })

  test('a users file that cannot be written is said, and nothing counts', async () => {
    await using it = await testServer({ users: USERS })
    const page = named(it, await it.signIn('anna'))
    await writeFile(`${it.paths.users}.lock`, '')
    const answer = await page.add(softwareKey())
    assert.deepEqual([answer.status, /cannot write its users file/.test(answer.text)], [503, true])
    assert.deepEqual(
      (await usersFile(it.paths.users).read()).users.filter(({ keys }) => keys !== undefined),
      [],
    )
  })

  test('somebody of a provider has keys of his own, by issuer and subject; a link takes them along', async () => {
    await using issuer = await fakeIssuer('croft', 's')
    await using it = await testServer({
      oidc: {
        issuer: issuer.url,
        clientId: 'croft',
        clientSecret: () => 's',
        redirectUrl: 'http://127.0.0.1/api/sign-in/oidc/callback',
        roleClaim: 'groups',
        roles: { 'homelab-admins': 'admin' },
      },
    })
    const signIn = async (subject: string) => {
      issuer.state.twist = { claims: { sub: subject } }
      const begun = await it.ask('/api/sign-in/oidc')
      const there = new URL(String(begun.headers.location))
      const agreed = await askServer(Number(new URL(issuer.url).port), `${there.pathname}${there.search}`)
      const binding = begun.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
      const back = new URL(String(agreed.headers.location))
      const come = await it.ask(`/api/sign-in/oidc/callback${back.search}`, { headers: { cookie: binding } })
      const cookie = come.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
      const { csrf = '' } = (await it.ask('/api/me', { headers: { cookie } })).json<{ csrf?: string }>()
      return named(it, { cookie, 'x-croft-csrf': csrf })
    }
    const key = softwareKey()
    const olga = await signIn('1')
    assert.equal((await olga.add(key)).status, 200)
    const again = await signIn('1')
    assert.equal(await again.approve(), 403)
    assert.equal(await (await signIn('2')).approve(), 200, 'another person of the same name')
    assert.equal((await again.show(key)).status, 200)
    assert.equal(await again.approve(), 200)
    const users = usersFile(it.paths.users)
    const person = { issuer: issuer.url, subject: '1', name: 'olga' }
    await changeHolder(users, person, (holder) => holder, true)
    assert.equal(await again.approve(), 401, 'a change by command ends the sessions')
    await setUser(users, 'olga', 'admin', undefined, { issuer: issuer.url, subject: '1' })
    const { people, users: all } = await users.read()
    assert.deepEqual([people.length, all[0]?.keys?.map(({ id }) => id)], [0, [key.id]])
    const linked = await signIn('1')
    assert.equal(await linked.approve(), 403)
    assert.equal((await linked.show(key)).status, 200)
  })
})
