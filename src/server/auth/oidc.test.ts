import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { askServer, testServer } from '../testing/client.ts'
import { fakeIssuer, type Twist } from '../testing/fake-issuer.ts'
import { setUser, usersFile } from './users.ts'

const SECRET = 'oidc-client-secret-canary'
const SETTINGS = {
  clientId: 'croft',
  clientSecret: () => SECRET,
  redirectUrl: 'http://127.0.0.1/api/sign-in/oidc/callback',
  roleClaim: 'groups',
  roles: { 'homelab-admins': 'admin', 'homelab-people': 'operator' },
} as const

type Issuer = Awaited<ReturnType<typeof fakeIssuer>>
type It = Awaited<ReturnType<typeof testServer>>

/** Acts as a browser: from us to the issuer, and back to us with the cookie. */
async function browse(it: It, issuer: Issuer, twist: Twist = {}) {
  issuer.state.twist = twist
  const begun = await it.ask('/api/sign-in/oidc')
  assert.equal(begun.status, 302)
  const [binding = ''] = begun.headers['set-cookie'] ?? []
  const there = new URL(String(begun.headers.location))
  const agreed = await askServer(Number(new URL(issuer.url).port), `${there.pathname}${there.search}`)
  const back = new URL(String(agreed.headers.location))
  const path = `/api/sign-in/oidc/callback${back.search}`
  const cookie = binding.split(';')[0] ?? ''
  return { path, cookie, there, come: () => it.ask(path, { headers: { cookie } }) }
}

async function scene() {
  const issuer = await fakeIssuer('croft', SECRET)
  const it = await testServer({ oidc: { ...SETTINGS, issuer: issuer.url } })
  return {
    issuer,
    it,
    async [Symbol.asyncDispose]() {
      await it[Symbol.asyncDispose]()
      await issuer[Symbol.asyncDispose]()
    },
  }
}

describe('OpenID Connect', () => {
  for (const alg of ['RS256', 'ES256'] as const) {
    test(`a good sign-in with ${alg} opens a session with the role of the groups`, async () => {
      await using all = await scene()
      const { it, issuer } = all
      const visit = await browse(it, issuer, { alg })
      assert.equal(visit.there.searchParams.get('code_challenge_method'), 'S256')
      const answer = await visit.come()
      assert.equal(answer.status, 302, answer.text)
      assert.equal(answer.headers.location, '/')
      const [session = ''] = answer.headers['set-cookie'] ?? []
      assert.match(session, /HttpOnly; SameSite=Strict; Max-Age=3600/)
      const me = (await it.ask('/api/me', { headers: { cookie: session.split(';')[0] ?? '' } })).json()
      assert.deepEqual([me.name, me.role], ['olga', 'admin'])
    })
  }

  const nowS = Math.floor(Date.now() / 1000)
  const refused: readonly [string, Twist, RegExp][] = [
    ['alg: none', { alg: 'none' }, /"alg"/],
    ['the public key as a symmetric secret', { alg: 'HS256' }, /"alg"/],
    ['a broken signature', { breakSignature: true }, /signature verification failed/],
    ['a key that is not the issuer’s', { foreignKey: true }, /signature verification failed/],
    ['an unknown key', { kid: 'other' }, /no applicable keys/],
    ['another audience', { claims: { aud: 'somebody-else' } }, /"aud"/],
    ['several audiences, issued to another party', { claims: { aud: ['croft', 'x'], azp: 'x' } }, /"azp"/],
    ['another issuer', { claims: { iss: 'https://evil.example' } }, /"iss"/],
    ['an expired token', { claims: { exp: nowS - 120 } }, /"exp"/],
    ['a token from the future', { claims: { iat: nowS + 3600 } }, /future/],
    ['a nonce of another login', { claims: { nonce: 'replayed' } }, /"nonce"/],
    ['no nonce', { claims: { nonce: undefined } }, /"nonce"/],
  ]
  test('[S-22] refuses what is wrong with a token, row by row', async (t) => {
    await using all = await scene()
    const { it, issuer } = all
    for (const [name, twist, message] of refused) {
      await t.test(name, async () => {
        const answer = await (await browse(it, issuer, twist)).come()
        assert.equal(answer.status, 401)
        assert.match(answer.text, message)
        assert.equal(answer.headers['set-cookie'], undefined)
      })
    }
  })

  test('a provider that does not answer is said to a person in words', async () => {
    const issuer = await fakeIssuer('croft', SECRET)
    const url = issuer.url
    await issuer[Symbol.asyncDispose]()
    await using it = await testServer({ oidc: { ...SETTINGS, issuer: url } })
    const answer = await it.ask('/api/sign-in/oidc')
    assert.equal(answer.status, 401)
    assert.match(answer.text, /^You are not signed in\. The provider/)
    assert.deepEqual(
      it.audit.map(({ what, result }) => [what, result]),
      [['sign-in', 'refused']],
    )
  })

  test('a state is good once, in the browser that began it, and an unknown one never', async () => {
    await using all = await scene()
    const { it, issuer } = all
    const first = await browse(it, issuer)
    assert.equal((await it.ask(first.path)).status, 401, 'without the cookie of the beginning')
    assert.equal((await first.come()).status, 302, 'nobody uses up what another browser began')
    const second = await browse(it, issuer)
    assert.equal((await second.come()).status, 302)
    assert.equal((await second.come()).status, 401, 'a replay')
    assert.equal((await it.ask('/api/sign-in/oidc/callback?state=x&code=y')).status, 401)
  })

  test('groups that mean nothing here give no right but to read; a disabled user stays outside', async () => {
    await using all = await scene()
    const { it, issuer } = all
    const answer = await (await browse(it, issuer, { claims: { groups: ['toString', 'others'] } })).come()
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? ''
    assert.equal((await it.ask('/api/me', { headers: { cookie } })).json().role, 'viewer')
    const users = usersFile(it.paths.users)
    await setUser(users, 'olga', 'admin', undefined)
    await users.change(({ users: all, people }) => ({ people, users: all.map((one) => ({ ...one, disabled: true })) }))
    assert.equal((await it.ask('/api/me', { headers: { cookie } })).json().role, undefined, 'the open session ends')
    assert.equal((await (await browse(it, issuer)).come()).status, 401)
  })

  test('[S-35] a name at the provider makes nobody the local user of that name; a link does', async () => {
    await using all = await scene()
    const { it, issuer } = all
    const users = usersFile(it.paths.users)
    await setUser(users, 'adm', 'admin', 'a good password')
    const twist = { claims: { preferred_username: 'adm', sub: 'stranger', groups: [] } }
    const refused = await (await browse(it, issuer, twist)).come()
    assert.equal(refused.status, 401)
    assert.match(refused.text, /adm is a user of this croft who is not linked with you.*--oidc-subject stranger/s)
    assert.equal(refused.headers['set-cookie'], undefined)
    await setUser(users, 'adm', 'admin', undefined, { issuer: issuer.url, subject: 'somebody' })
    assert.equal((await (await browse(it, issuer, twist)).come()).status, 401, 'linked with somebody else')
    const own = { claims: { preferred_username: 'another name', sub: 'somebody', groups: [] } }
    const answer = await (await browse(it, issuer, own)).come()
    assert.equal(answer.status, 302, answer.text)
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? ''
    const me = (await it.ask('/api/me', { headers: { cookie } })).json()
    assert.deepEqual([me.name, me.role], ['adm', 'admin'])
  })

  for (const name of ['adm ', 'ADM', 'a\u200bdm', 'adm\u00ad', 'аdm', 'ａｄｍ', ' adm\n'])
    test(`[S-35] a name that looks like a local user's makes nobody that user: ${JSON.stringify(name)}`, async () => {
      await using all = await scene()
      const { it, issuer } = all
      const users = usersFile(it.paths.users)
      await setUser(users, 'adm', 'admin', undefined)
      const twist = { claims: { preferred_username: name, sub: 'stranger', groups: ['homelab-people'] } }
      const refused = await (await browse(it, issuer, twist)).come()
      assert.equal(refused.status, 401)
      assert.match(refused.text, /adm(?: is|,) a user of this croft.*--oidc-subject stranger/s)
    })

  test('[S-35] a session ends when a local user of a like name is made', async () => {
    await using all = await scene()
    const { it, issuer } = all
    const twist = { claims: { preferred_username: 'Adm', sub: 'first', groups: ['homelab-people'] } }
    const answer = await (await browse(it, issuer, twist)).come()
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? ''
    assert.equal((await it.ask('/api/me', { headers: { cookie } })).json().name, 'Adm')
    await setUser(usersFile(it.paths.users), 'adm', 'admin', undefined)
    assert.equal((await it.ask('/api/me', { headers: { cookie } })).json().name, undefined)
  })

  test('[S-35] who asks for something is a subject, not a name: two people of one name are two', async () => {
    await using all = await scene()
    const { it, issuer } = all
    for (const sub of ['bob-1', 'bob-2']) {
      const twist = { claims: { preferred_username: 'bob\u200b', sub, groups: ['homelab-people'] } }
      const answer = await (await browse(it, issuer, twist)).come()
      const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? ''
      const { csrf, name } = (await it.ask('/api/me', { headers: { cookie } })).json<{ csrf: string; name: string }>()
      assert.equal(name, 'bob', 'nothing invisible is in it')
      await it.post('/api/wishes/reconcile', {}, { cookie, 'x-croft-csrf': csrf })
    }
    const actors = it.controller.asked.map(({ actor }) => actor.name)
    assert.deepEqual(actors, [`oidc:bob (bob-1 of ${issuer.url})`, `oidc:bob (bob-2 of ${issuer.url})`])
    const signedIn = it.audit.filter(({ what }) => what === 'sign-in').map(({ actor }) => actor.name)
    assert.deepEqual(signedIn, actors)
  })

  test('[S-35] two people of one name at the provider are two: neither sees or ends the sessions of the other', async () => {
    await using all = await scene()
    const { it, issuer } = all
    const comes = async (sub: string) => {
      const twist = { claims: { preferred_username: 'bob', sub, groups: ['homelab-people'] } }
      const answer = await (await browse(it, issuer, twist)).come()
      return { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' }
    }
    const [one, other, again] = [await comes('bob-1'), await comes('bob-2'), await comes('bob-1')]
    const list = async (headers: Readonly<Record<string, string>>) =>
      (await it.ask('/api/sessions', { headers })).json<{ readonly sessions: readonly { readonly id: string }[] }>()
        .sessions
    assert.equal((await list(one)).length, 2)
    assert.equal((await list(other)).length, 1)
    const [{ id } = { id: '' }] = await list(other)
    const { csrf } = (await it.ask('/api/me', { headers: again })).json<{ readonly csrf: string }>()
    const refused = await it.post('/api/sessions/end', { id }, { ...again, 'x-croft-csrf': csrf })
    assert.equal(refused.status, 404, refused.text)
    assert.equal((await list(other)).length, 1)
  })

  test('[S-35] whoever begins many sign-ins keeps nobody out, and a changed cookie opens nothing', async () => {
    await using all = await scene()
    const { it, issuer } = all
    const visit = await browse(it, issuer)
    for (let at = 0; at < 150; at++) assert.equal((await it.ask('/api/sign-in/oidc')).status, 302)
    const [name = '', value = ''] = visit.cookie.split('=')
    const changed = `${name}=${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`
    assert.equal((await it.ask(visit.path, { headers: { cookie: changed } })).status, 401)
    assert.equal((await visit.come()).status, 302)
  })

  test('neither the client secret nor a code appears in an answer or in the audit log', async () => {
    await using all = await scene()
    const { it, issuer } = all
    const visit = await browse(it, issuer, { alg: 'none' })
    const answer = await visit.come()
    const everything = JSON.stringify([answer.text, answer.headers, it.audit])
    assert.ok(!everything.includes(SECRET) && !everything.includes('code-'))
  })
})
