import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { codeAt, isCodeOf, parseTotp } from './totp.ts'

/** As somebody with a ticket: no token may change a second factor. */
async function loggedIn(client: TestClient, username: string, password: string) {
  const send = (method: string, path: string, params: Readonly<Record<string, string>>, headers = {}) =>
    client.clock.runUntil(
      client.datacentre.handle({
        method,
        path: `/api2/json/access/${path}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams(params).toString(),
      }),
    )
  const { ticket, CSRFPreventionToken } = JSON.parse((await send('POST', 'ticket', { username, password })).body).data
  const headers = {
    cookie: `PVEAuthCookie=${encodeURIComponent(ticket)}`,
    csrfpreventiontoken: CSRFPreventionToken,
  }
  return async (method: string, path: string, params: Readonly<Record<string, string>> = {}) => {
    const answer = await send(method, path, params, headers)
    return answer.status === 400 ? JSON.parse(answer.body).errors : answer.status === 200 ? 'done' : answer.reason
  }
}

const URI = 'otpauth://totp/site:ann?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8'

test('numbers of the time are those of RFC 6238', () => {
  const totp = parseTotp(URI)
  assert.ok(typeof totp !== 'string')
  assert.equal(codeAt(totp, Math.floor(59 / 30)), '94287082')
  assert.ok(isCodeOf(totp, '94287082', 89_000), 'the step before counts, too')
  assert.ok(!isCodeOf(totp, '94287082', 120_000))
  assert.equal(parseTotp('https://x'), 'not an otpauth uri')
  assert.equal(parseTotp('otpauth://totp/x'), "missing '?' in otp uri")
  assert.equal(parseTotp('otpauth://totp/x?secret=1'), 'failed to decode otp secret in otpauth url')
  assert.equal(parseTotp('otpauth://totp/x?issuer=x'), 'missing secret in otpauth url')
})

test('who changes a second factor shows again who they are', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await loggedIn(client, 'root@pam', 'rootpw123')
  const admin = await loggedIn(client, 'admin@pve', 'secret123')
  const own = 'tfa/admin@pve'
  const totp = parseTotp(URI)
  assert.ok(typeof totp !== 'string')
  const value = codeAt(totp, Math.floor(client.clock.now() / 30_000))
  const cases: readonly (readonly [typeof root, string, string, Readonly<Record<string, string>>, unknown])[] = [
    [admin, 'POST', own, { type: 'recovery' }, { password: 'password is required to modify user' }],
    [admin, 'POST', 'tfa/nobody@pve', { type: 'recovery', password: 'secret123' }, 'Permission check failed'],
    [
      root,
      'POST',
      own,
      { type: 'recovery', value: '1' },
      'generating recovery tokens does not allow additional parameters',
    ],
    [root, 'POST', own, { type: 'totp' }, "'description' is required for new entries"],
    [root, 'POST', own, { type: 'totp', description: 'x' }, "'totp' type requires both 'totp' and 'value' parameters"],
    [
      root,
      'POST',
      own,
      { type: 'totp', description: 'x', totp: URI, value: '00000000' },
      'failed to verify TOTP challenge',
    ],
    [root, 'POST', own, { type: 'totp', description: 'x', totp: URI, value }, 'done'],
    [root, 'POST', own, { type: 'webauthn' }, 'no webauthn configuration available'],
    [root, 'PUT', `${own}/none`, { description: 'x' }, 'no such entry'],
    [admin, 'POST', own, { type: 'recovery', password: 'secret123' }, 'done'],
    [admin, 'PUT', `${own}/recovery`, { enable: '0', password: 'secret123' }, 'done'],
  ]
  for (const [as, method, path, params, expected] of cases)
    assert.deepEqual(await as(method, path, params), expected, `${method} ${path} ${JSON.stringify(params)}`)
})
