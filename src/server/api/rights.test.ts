import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { ROLES, SCOPES, type Scope } from '../auth/roles.ts'
import { createToken, tokensFile } from '../auth/tokens.ts'
import { PASSWORD, testServer } from '../testing/client.ts'
import { questionOf, WISHES } from '../testing/questions.ts'
import { rightsTable } from './rights.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'

/** Well formed input for every other route that takes some. */
const BYTES = 'aWQ'
const INPUTS: Readonly<Record<string, unknown>> = {
  ...WISHES,
  '/api/second-factor': { code: '123456' },
  '/api/second-factor/key': { id: BYTES, clientData: BYTES, authenticatorData: BYTES, signature: BYTES },
  '/api/keys/add': {
    name: 'x',
    id: BYTES,
    clientData: BYTES,
    authenticatorData: BYTES,
    publicKey: BYTES,
    algorithm: -7,
  },
  '/api/keys/remove': { id: BYTES },
  '/api/sessions/end': { id: 'none' },
}
/** Input of the parts that need more. */
const FURTHER: Readonly<Record<string, object>> = {
  'order replace': { cluster: 'homelab', order: 'replace', node: 'n' },
  'order remove-member': { cluster: 'homelab', order: 'remove-member', member: 'm' },
  'order abort': { cluster: 'homelab', order: 'abort' },
  ignoreHolds: { target: 'homelab', order: 'off', ignoreHolds: true },
}

/** Each request of the table: the route, and what is sent. */
const REQUESTS = ROUTES.filter(({ path }) => !path.startsWith('/api/sign-')).flatMap((route) => [
  { route, input: INPUTS[route.path] ?? {} },
  ...(route.raises ?? []).map(({ when }) => ({ route, input: FURTHER[when] ?? assert.fail(`no input with ${when}`) })),
])
const ROWS = rightsTable(ROUTES.filter(({ path }) => !path.startsWith('/api/sign-')))

type Headers = Readonly<Record<string, string>>

test('[S-35] every route with every role and with a token of every scope: the table says who may', async () => {
  await using it = await testServer({ users: { viewer: 'viewer', operator: 'operator', admin: 'admin' } })
  const tokens = tokensFile(it.paths.tokens)
  const nowMs = systemClock.now()
  const bearer = async (...scopes: readonly Scope[]): Promise<Headers> => {
    const wanted = { name: scopes.join('-'), scopes, nowMs, expiresMs: nowMs + 600_000 }
    return { authorization: `Bearer ${await createToken(tokens, wanted)}` }
  }
  const who = new Map<string, Headers>([['nobody', {}]])
  for (const role of ROLES) who.set(role, await it.signIn(role))
  const held: readonly (readonly Scope[])[] = [...SCOPES.map((one) => [one]), ['operate', 'admin'], ['power', 'admin']]
  for (const scopes of held) who.set(`token ${scopes.join()}`, await bearer(...scopes))
  const send = async ({ method, path }: Route, input: unknown, headers: Headers) => {
    const answer = method === 'GET' ? await it.ask(questionOf(path), { headers }) : await it.post(path, input, headers)
    if (answer.status < 400) return true
    const { error } = answer.json<{ error: string }>()
    return error !== 'unauthorized' && error !== 'forbidden'
  }
  assert.equal(REQUESTS.length, ROWS.length)
  for (const [index, { route, input }] of REQUESTS.entries()) {
    const row = ROWS[index]
    assert.ok(row !== undefined)
    for (const [name, headers] of who) {
      const scopes = name.startsWith('token ') ? name.slice(6).split(',') : undefined
      const may: boolean =
        scopes !== undefined
          ? row.token?.every((one) => scopes.includes(one)) === true
          : name === 'nobody'
            ? row.nobody
            : row.roles[name as 'viewer']
      assert.equal(await send(route, input, headers), may, `${name}: ${row.what}`)
    }
  }
  // Routes that must be open to everybody.
  const signedIn = await it.post('/api/sign-in', { name: 'viewer', password: PASSWORD })
  assert.equal(signedIn.status, 200)
})

test('a part that needs more applies to nothing else', () => {
  for (const { raises = [], path } of ROUTES)
    for (const { when, applies } of raises) {
      assert.equal(applies(INPUTS[path] as never), false, when)
      assert.equal(applies(FURTHER[when] as never), true, when)
    }
})

test('[S-35] the table of rights in docs/api.md is that of the routes', () => {
  const file = new URL('../../../docs/api.md', import.meta.url)
  const text = readFileSync(file, 'utf8')
  const mark = (may: boolean) => (may ? 'yes' : '')
  const table = [
    '| Request | Nobody | viewer | operator | admin | Token |',
    '|---|---|---|---|---|---|',
    ...rightsTable(ROUTES).map(
      ({ what, nobody, roles, token }) =>
        `| \`${what}\` | ${mark(nobody)} | ${ROLES.map((role) => mark(roles[role])).join(' | ')} | ${token?.map((one) => `\`${one}\``).join(' and ') ?? ''} |`,
    ),
  ].join('\n')
  const [, before = '', after = ''] =
    /^(.*## Who may do what\n.*?\n\n)(?:\|[^\n]*\n)*\n?(.*)$/s.exec(text) ??
    assert.fail('docs/api.md has no such chapter')
  const wanted = `${before}${table}\n\n${after}`
  if (process.env.CROFT_UPDATE === '1') writeFileSync(file, wanted)
  assert.equal(readFileSync(file, 'utf8'), wanted, 'run this test once with CROFT_UPDATE=1')
})
