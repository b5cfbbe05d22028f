import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { askForTicket } from '../../../testing/ask-for-ticket.ts'
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
  assert.equal(parseTotp('otpauth://totp/x?other=x'), "unknown otpauth uri parameter: 'other'")
  assert.equal(
    parseTotp('otpauth://totp/x?digits=300'),
    "failed to parse value 'digits': number too large to fit in target type",
  )
  assert.equal(parseTotp('otpauth://totp/x?period=x'), "failed to parse value 'period': invalid digit found in string")
  assert.equal(
    parseTotp('otpauth://totp/x?algorithm=md5'),
    "failed to parse value 'algorithm': unsupported algorithm: 'md5'",
  )
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
    [root, 'POST', own, { type: 'webauthn' }, "'description' is required for new entries"],
    [root, 'POST', own, { type: 'webauthn', description: 'x' }, 'no webauthn configuration available'],
    [root, 'POST', own, { type: 'u2f', challenge: 'c' }, "missing 'value' parameter (u2f challenge response missing)"],
    [root, 'POST', own, { type: 'yubico' }, 'no yubico otp configuration available for realm pve'],
    [root, 'PUT', `${own}/none`, { description: 'x' }, 'no such entry'],
    [admin, 'POST', own, { type: 'recovery', password: 'secret123' }, 'done'],
    // Recovery keys have no switch.
    [admin, 'PUT', `${own}/recovery`, { enable: '0', password: 'secret123' }, 'no such entry'],
  ]
  for (const [as, method, path, params, expected] of cases)
    assert.deepEqual(await as(method, path, params), expected, `${method} ${path} ${JSON.stringify(params)}`)
})

test('a login with a second factor has two steps, and a number of the time is good once', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await loggedIn(client, 'root@pam', 'rootpw123')
  const totp = parseTotp(URI)
  assert.ok(typeof totp !== 'string')
  const code = () => codeAt(totp, Math.floor(client.clock.now() / 30_000))
  assert.equal(
    await root('POST', 'tfa/admin@pve', { type: 'totp', description: 'x', totp: URI, value: code() }),
    'done',
  )
  assert.equal(await root('POST', 'tfa/admin@pve', { type: 'recovery' }), 'done')
  const first = { username: 'admin@pve', password: 'secret123' }
  const half = await askForTicket(client, first)
  assert.equal(half.NeedTFA, 1)
  assert.equal(half.cap, undefined)
  assert.match(half.ticket, /^PVE:!tfa!\{"totp"%3Atrue,"recovery"%3A\[0,1,2,3,4,5,6,7,8,9\]\}:/)
  const refused = '401 authentication failure'
  const second = { username: 'admin@pve', 'tfa-challenge': half.ticket }
  assert.equal(await askForTicket(client, { ...second, password: code() }), refused, 'the kind is missing')
  assert.equal(await askForTicket(client, { ...second, username: 'root@pam', password: `totp:${code()}` }), refused)
  const whole = await askForTicket(client, { ...second, password: `totp:${code()}` })
  assert.equal(whole.NeedTFA, undefined)
  assert.ok(whole.cap.vms['VM.Audit'])
  assert.equal(await askForTicket(client, { ...second, password: `totp:${code()}` }), refused, 'it was used')
  await client.pass(60_000)
  assert.equal((await askForTicket(client, { ...first, otp: `totp:${code()}` })).username, 'admin@pve')
})

test('too many wrong numbers lock a user out of them, until somebody lets it in', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await loggedIn(client, 'root@pam', 'rootpw123')
  const totp = parseTotp(URI)
  assert.ok(typeof totp !== 'string')
  const code = () => codeAt(totp, Math.floor(client.clock.now() / 30_000))
  await root('POST', 'tfa/admin@pve', { type: 'totp', description: 'x', totp: URI, value: code() })
  const wrong = { username: 'admin@pve', password: 'secret123', otp: 'totp:00000001' }
  for (let times = 0; times < 8; times += 1)
    assert.equal(await askForTicket(client, wrong), '401 authentication failure')
  const users = await client.data<Record<string, unknown>[]>('GET', '/access/users')
  assert.equal(users.find(({ userid }) => userid === 'admin@pve')?.['totp-locked'], 1)
  assert.equal((await client.data<Record<string, unknown>[]>('GET', '/access/tfa'))[0]?.['totp-locked'], 1)
  assert.equal(await askForTicket(client, { ...wrong, otp: `totp:${code()}` }), '401 authentication failure')
  assert.equal(await client.data('PUT', '/access/users/admin@pve/unlock-tfa'), 1)
  assert.equal(await client.data('PUT', '/access/users/admin@pve/unlock-tfa'), 0)
  assert.equal((await askForTicket(client, { ...wrong, otp: `totp:${code()}` })).username, 'admin@pve')
  assert.equal((await client.call('PUT', '/access/users/root@pam/unlock-tfa')).reason, 'no such user')
})

test('what is told of second factors: kinds in old words, a mark on the user, nothing once they are gone', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await loggedIn(client, 'root@pam', 'rootpw123')
  const kinds = (query = '') => client.call('GET', `/access/users/admin@pve/tfa${query}`)
  const marked = async () => (await client.data<{ keys?: string }>('GET', '/access/users/admin@pve')).keys
  assert.equal(await marked(), undefined)
  await root('POST', 'tfa/admin@pve', { type: 'recovery' })
  assert.equal(await marked(), 'x')
  assert.equal((await kinds()).body, '{"data":{"user":"incompatible"}}')
  assert.equal(
    (await kinds('?multiple=1')).reason,
    'Not an ARRAY reference at /usr/share/perl5/PVE/API2/User.pm line 640.',
  )
  const totp = parseTotp(URI)
  assert.ok(typeof totp !== 'string')
  const value = codeAt(totp, Math.floor(client.clock.now() / 30_000))
  await root('POST', 'tfa/admin@pve', { type: 'totp', description: 'x', totp: URI, value })
  assert.equal((await kinds()).body, '{"data":{"user":"oath"}}')
  const entries = await client.data<{ id: string; type: string }[]>('GET', '/access/tfa/admin@pve')
  assert.deepEqual(
    entries.map(({ type }) => type),
    ['recovery', 'totp'],
  )
  assert.equal(await root('DELETE', 'tfa/admin@pve/recovery'), 'done')
  assert.equal((await kinds('?multiple=1')).body, '{"data":{"user":["totp"]}}')
  assert.equal(await root('DELETE', `tfa/admin@pve/${entries[1]?.id}`), 'done')
  assert.equal(await marked(), undefined)
  assert.deepEqual(await client.data('GET', '/access/tfa'), [])
})

test('keys of the browser: once the site is named, a challenge is given, and nothing but its answer is taken', async () => {
  const client = createTestClient({ preset: 'recording' })
  const root = await askForTicket(client, { username: 'root@pam', password: 'rootpw123' })
  const add = async (params: Readonly<Record<string, string>>) => {
    const answer = await client.clock.runUntil(
      client.datacentre.handle({
        method: 'POST',
        path: '/api2/json/access/tfa/admin@pve',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          cookie: `PVEAuthCookie=${encodeURIComponent(root.ticket)}`,
          csrfpreventiontoken: root.CSRFPreventionToken,
        },
        body: new URLSearchParams(params).toString(),
      }),
    )
    return answer.status === 200 ? JSON.parse(answer.body).data : answer.reason
  }
  const key = { type: 'webauthn', description: 'key' }
  assert.equal(await add(key), 'no webauthn configuration available')
  await client.data('PUT', '/cluster/options', {
    webauthn: 'id=pve.example.org,origin=https://pve.example.org,rp=home',
  })
  const { id, challenge } = await add(key)
  assert.equal(id, null)
  assert.deepEqual(JSON.parse(challenge).publicKey.rp, { name: 'home', id: 'pve.example.org' })
  assert.equal(
    await add({ type: 'webauthn', challenge, value: 'x' }),
    'error parsing challenge response: expected value at line 1 column 1',
  )
  assert.deepEqual(await client.data('GET', '/access/tfa'), [{ userid: 'admin@pve', entries: [] }])
})
