import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import { setUser, usersFile } from './auth/users.ts'
import { clientAddress } from './client-address.ts'
import { PASSWORD, testServer } from './testing/client.ts'

for (const [what, remote, forwarded, proxies, expected] of [
  ['nobody is trusted', '10.0.0.9', '1.2.3.4', [], '10.0.0.9'],
  ['a proxy that is named', '10.0.0.1', '1.2.3.4', ['10.0.0.1'], '1.2.3.4'],
  ['what the client wrote itself', '10.0.0.1', '9.9.9.9, 1.2.3.4', ['10.0.0.1'], '1.2.3.4'],
  ['two proxies', '10.0.0.1', '9.9.9.9, 1.2.3.4, 10.0.0.2', ['10.0.0.1', '10.0.0.2'], '1.2.3.4'],
  ['a proxy that says nothing', '::ffff:10.0.0.1', undefined, ['10.0.0.1'], '10.0.0.1'],
] as const)
  test(`[S-35] whose request it is: ${what}`, () => {
    assert.equal(clientAddress(remote, forwarded, proxies), expected)
  })

test('[S-35] a poller on a name does not keep its owner out', async () => {
  await using it = await testServer({ trustedProxies: ['127.0.0.1'] })
  await setUser(usersFile(it.paths.users), 'anna', 'operator', PASSWORD)
  const signIn = (password: string, from: string) =>
    it.post('/api/sign-in', { name: 'anna', password }, { 'x-forwarded-for': from })
  const told: number[] = []
  for (let at = 0; at < 8; at++) told.push((await signIn('wrong', '1.2.3.4')).status)
  assert.ok(told.includes(429), 'the poller is slowed down')
  assert.equal((await signIn(PASSWORD, '5.6.7.8')).status, 200)
})

test('[S-35] a path counts as it is written', async () => {
  await using it = await testServer({ metrics: () => 'up 1' })
  assert.equal((await it.ask('/metrics')).status, 200)
  for (const path of [
    '/\\x/../metrics',
    '/a/%2e%2e/metrics',
    '/a/../metrics',
    '/./metrics',
    '/%6detrics',
    '/metrics\\',
  ])
    assert.ok([400, 404].includes((await it.ask(path)).status), path)
})

test('[S-35] reading can need a session or a token: API, stream and metrics', async () => {
  await using it = await testServer({ metrics: () => 'up 1', signedInOnly: true })
  for (const path of ['/metrics', '/api/events', '/api/resources']) assert.equal((await it.ask(path)).status, 401, path)
  for (const path of ['/healthz', '/api/me']) assert.equal((await it.ask(path)).status, 200, path)
})

test('[S-35] behind TLS a browser is told to stay there', async () => {
  await using plain = await testServer({})
  assert.equal((await plain.ask('/healthz')).headers['strict-transport-security'], undefined)
  await using it = await testServer({ publicUrl: 'https://croft.example' })
  assert.match(String((await it.ask('/healthz')).headers['strict-transport-security']), /max-age=\d+/)
})

test('[S-35] a user who is disabled stays so, whatever else is set', async () => {
  await using it = await testServer({})
  const users = usersFile(it.paths.users)
  await setUser(users, 'anna', 'operator', PASSWORD)
  await users.change(({ users: all, people }) => ({ people, users: all.map((one) => ({ ...one, disabled: true })) }))
  await setUser(users, 'anna', 'admin', 'another password')
  assert.equal((await users.read()).users.find(({ name }) => name === 'anna')?.disabled, true)
})

test('[S-35] one address does not take the places of all listeners', async () => {
  await using it = await testServer({})
  const sockets = Array.from({ length: LIMITS.streamsPerAddress + 5 }, () => connect(it.server.port, '127.0.0.1'))
  const answers = await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<string>((done) => {
          socket.once('data', (chunk) => done(chunk.toString('latin1').slice(9, 12)))
          socket.write(`GET /api/events HTTP/1.1\r\nHost: ${it.host}\r\n\r\n`)
        }),
    ),
  )
  for (const socket of sockets) socket.destroy()
  assert.equal(answers.filter((status) => status === '200').length, LIMITS.streamsPerAddress)
  assert.equal(answers.filter((status) => status === '503').length, 5)
})
