import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import type { Scope } from '../server/auth/roles.ts'
import { createToken, tokensFile } from '../server/auth/tokens.ts'
import { testServer } from '../server/testing/client.ts'
import { fakeController } from '../server/testing/fake-controller.ts'
import { smallEstate } from '../server/testing/fake-estate.ts'
import { richEstate } from '../server/testing/rich-estate.ts'
import { fakeRuntime } from './testing/fake-runtime.ts'
import { EXIT } from './verb.ts'
import { run } from './verbs/ask.ts'

async function scene(controller = fakeController(smallEstate())) {
  const it = await testServer({ controller, users: { anna: 'operator', otto: 'admin' } })
  const nowMs = systemClock.now()
  const tokenFor = (name: string, scopes: readonly Scope[]) =>
    createToken(tokensFile(it.paths.tokens), { name, scopes: [...scopes], nowMs, expiresMs: nowMs + 3_600_000 })
  const croft = async (token: string, args: readonly string[], options: Readonly<Record<string, unknown>> = {}) => {
    const runtime = fakeRuntime({ env: token === '' ? {} : { CROFT_TOKEN: token } })
    const code = await run(runtime, args, { url: it.server.url, ...options })
    return { code, ...runtime.written }
  }
  return { it, tokenFor, croft }
}

test('[S-43] open sessions are listed and ended from a terminal, by a token that may do everything', async () => {
  const { it, tokenFor, croft } = await scene()
  await using _ = it
  const [anna, otto] = [await it.signIn('anna'), await it.signIn('otto')]
  const admin = await tokenFor('keeper', ['read', 'admin'])
  const { out } = await croft(admin, ['sessions'])
  assert.match(out, /^ID +USER +ROLE +FROM +SIGNED IN\n/)
  assert.match(out, /^[0-9a-f]{16} +anna +operator +127\.0\.0\.1 +\d{4}-\d\d-\d\d \d\d:\d\d/m)
  const listed = JSON.parse((await croft(admin, ['sessions'], { output: 'json' })).out) as {
    readonly sessions: readonly { readonly id: string; readonly user: string }[]
  }
  const { id } = listed.sessions.find(({ user }) => user === 'anna') ?? { id: '' }
  assert.match((await croft(admin, ['end-session', id])).out, /The session has ended/)
  assert.equal((await it.post('/api/wishes/reconcile', {}, anna)).status, 401)
  assert.equal((await it.post('/api/wishes/reconcile', {}, otto)).status, 200)
  await assert.rejects(croft(admin, ['end-session', id]), /There is no such session/)
})

test('[S-43] another token lists and ends none, and without one it says which is needed', async () => {
  const { it, tokenFor, croft } = await scene()
  await using _ = it
  const otto = await it.signIn('otto')
  const reader = await tokenFor('reader', ['read', 'operate', 'approve'])
  assert.doesNotMatch((await croft(reader, ['sessions'])).out, /otto/)
  const { sessions } = (await it.ask('/api/sessions', { headers: otto })).json<{
    readonly sessions: readonly { readonly id: string }[]
  }>()
  await assert.rejects(croft(reader, ['end-session', sessions[0]?.id ?? '']), /There is no such session/)
  assert.equal((await it.post('/api/wishes/reconcile', {}, otto)).status, 200)
  await assert.rejects(croft('', ['sessions']), {
    code: EXIT.unauthorized,
    message: /needs a token\. Make one with croft token create NAME --scopes read,admin/,
  })
  await assert.rejects(croft(reader, ['end-session']), /croft ask sessions lists them/)
})

test('a plan that waits comes with the command that puts it into force', async () => {
  const { it, tokenFor, croft } = await scene(fakeController(richEstate()))
  await using _ = it
  const operator = await tokenFor('keeper', ['read', 'operate'])
  const { out, err } = await croft(operator, ['plan', 'Source/homelab'])
  assert.match(out, /Plan: /)
  assert.match(err, /^To put it into force: croft ask approve Source\/homelab@[0-9a-f]+$/m)
  const hash = await croft(operator, ['plan', 'Source/homelab'], { output: 'jsonpath={.plan}' })
  assert.ok(err.includes(`@${hash.out.trim()}\n`), hash.out)
  assert.match((await croft(operator, ['plan', 'Source/other'])).out, /No plan of other waits for approval/)
})
