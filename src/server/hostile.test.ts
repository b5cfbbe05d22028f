import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import { testServer } from './testing/client.ts'
import { fakeController } from './testing/fake-controller.ts'
import { richEstate } from './testing/rich-estate.ts'

/** Returns the answer to raw bytes that no library would send, until the server ends it or the test has enough. */
function raw(port: number, text: string, enough: (got: string) => boolean = (got) => got.includes('\r\n\r\n')) {
  return new Promise<string>((done) => {
    const socket = connect(port, '127.0.0.1')
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
      if (enough(got)) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => done(got))
    socket.write(Buffer.from(text, 'latin1'))
  })
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)

describe('requests that no browser sends', () => {
  test('[S-21] are refused at once, in one answer each, and nothing of it is told in the log', async () => {
    const warned: string[] = []
    await using it = await testServer({ warn: (message) => warned.push(message) })
    const host = `Host: ${it.host}\r\n`
    const deep = '['.repeat(30_000) + ']'.repeat(30_000)
    const post = `POST /api/wishes/suspend HTTP/1.1\r\n${host}Origin: http://${it.host}\r\nContent-Type: application/json\r\n`
    const cases: readonly (readonly [what: string, text: string, statuses: readonly number[]])[] = [
      ['an address that is none', `GET http://[ HTTP/1.1\r\n${host}\r\n`, [400]],
      ['another server in the address', `GET http://evil/api/me HTTP/1.1\r\n${host}\r\n`, [400]],
      ['a path that looks like another', `GET //evil/api/view HTTP/1.1\r\n${host}\r\n`, [400]],
      ['a way up', `GET /..%2f..%2fetc/passwd HTTP/1.1\r\n${host}\r\n`, [404]],
      ['a way up in plain', `GET /../../etc/passwd HTTP/1.1\r\n${host}\r\n`, [404]],
      ['an escape in the address', `GET /\x9b31m HTTP/1.1\r\n${host}\r\n`, [400]],
      ['two names', `GET /api/me HTTP/1.1\r\n${host}Host: evil\r\n\r\n`, [400]],
      ['two names, the other way round', `GET /api/me HTTP/1.1\r\nHost: evil\r\n${host}\r\n`, [400]],
      ['no name', 'GET /api/me HTTP/1.0\r\n\r\n', [421]],
      ['a user in the name', `GET /api/me HTTP/1.1\r\nHost: a@${it.host}\r\n\r\n`, [421]],
      ['two lengths', `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, [400]],
      ['a length and pieces', `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, [400]],
      ['pieces of another sort', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, [400]],
      ['lines without returns', `GET /api/me HTTP/1.1\nHost: ${it.host}\n\n`, [400]],
      ['a very deep body', `${post}Content-Length: ${deep.length}\r\n\r\n${deep}`, [400]],
      ['a header of 70 kB', `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(70_000)}\r\n\r\n`, [400, 431]],
      ['a tunnel', `CONNECT evil:80 HTTP/1.1\r\n${host}\r\n`, [0]],
    ]
    for (const [what, text, statuses] of cases) {
      const answer = await raw(it.server.port, text)
      assert.ok(statuses.includes(statusOf(answer)), `${what}: ${answer.slice(0, 60)}`)
      assert.equal(answer.match(/^HTTP\/1\.1 /gm)?.length ?? 0, statuses[0] === 0 ? 0 : 1, what)
    }
    assert.deepEqual(warned, [])
    assert.deepEqual(it.controller.asked, [])
  })

  test('[S-21] a request hidden in the body of another is not answered', async () => {
    await using it = await testServer()
    const hidden = `GET /api/me HTTP/1.1\r\nHost: ${it.host}\r\n\r\n`
    const text = `GET /healthz HTTP/1.1\r\nHost: ${it.host}\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}GET /readyz HTTP/1.1\r\nHost: ${it.host}\r\nConnection: close\r\n\r\n`
    const answers = await raw(it.server.port, text, () => false)
    assert.equal(answers.match(/^HTTP\/1\.1 200/gm)?.length, 2)
    assert.ok(!answers.includes('"scopes"'))
  })

  test('a wish to speak another protocol is not heard', async () => {
    await using it = await testServer()
    const headers = `Host: ${it.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n`
    assert.equal(statusOf(await raw(it.server.port, `GET /healthz HTTP/1.1\r\n${headers}`)), 200)
  })

  test('[S-21] a thousand listeners are not taken, and those who are cost no answer to others', async () => {
    await using it = await testServer({ trustedProxies: ['127.0.0.1'] })
    const sockets = Array.from({ length: LIMITS.streamClients + 50 }, () => connect(it.server.port, '127.0.0.1'))
    const answers = await Promise.all(
      sockets.map(
        (socket, index) =>
          new Promise<number>((done) => {
            socket.on('error', () => done(0))
            socket.once('data', (chunk) => done(statusOf(chunk.toString('latin1'))))
            socket.write(`GET /api/events HTTP/1.1\r\nHost: ${it.host}\r\nX-Forwarded-For: 10.0.0.${index}\r\n\r\n`)
          }),
      ),
    )
    assert.equal(answers.filter((status) => status === 200).length, LIMITS.streamClients)
    assert.equal(answers.filter((status) => status === 503).length, 50)
    assert.equal((await it.ask('/api/me')).status, 200)
    for (const socket of sockets) socket.destroy()
  })
})

describe('the audit log', () => {
  test('cannot be pushed out by a stranger, and says of known people everything', async () => {
    // Time stands still, so this computer's speed does not matter.
    await using it = await testServer({ users: { anna: 'viewer' }, clock: { ...systemClock, monotonicMs: () => 0 } })
    const session = await it.signIn('anna')
    const before = it.audit.length
    const most = LIMITS.refusedAuditRate.burst
    const tries = most + 30
    for (let at = 0; at < tries; at += 1)
      assert.equal((await it.post('/api/wishes/suspend', { key: 'a/b', more: 'x'.repeat(5_000) })).status, 401)
    const written = it.audit.slice(before)
    assert.equal(written.length, most)
    for (const { about } of written) assert.ok(about.length < LIMITS.refusedAuditLength + 50)
    assert.equal((await it.post('/api/wishes/suspend', { key: 'a/b' }, session)).status, 403)
    assert.deepEqual(
      it.audit.slice(-1).map(({ actor, about }) => [actor.name, about]),
      [['page:anna', '{"key":"a/b"}']],
    )
  })
})

/** All parts as long as Kubernetes and croft allow. */
const LONGEST = `Addon/${'a'.repeat(253)}@${'K'.repeat(63)}.${'g'.repeat(253)}/${'n'.repeat(63)}/${'o'.repeat(253)}`

describe('a name as long as names may be', () => {
  const LONG: Readonly<Record<string, string>> = {
    'of an object': `Addon/${'a'.repeat(253)}@ConfigMap/${'n'.repeat(63)}/${'o'.repeat(253)}`,
    'of a kind of somebody': LONGEST,
  }
  for (const [what, key] of Object.entries(LONG))
    test(`takes the page from nobody: ${what}`, async () => {
      const estate = richEstate()
      const [first] = estate.resources
      assert.ok(first)
      const happened = { atMs: 0, type: 'Normal', reason: 'Applied', message: 'm', key } as const
      const resources = [...estate.resources, { ...first, key }]
      await using it = await testServer({
        users: { anna: 'operator' },
        controller: fakeController({ ...estate, resources }, [happened]),
      })
      const session = await it.signIn('anna')
      for (const path of ['/api/view', '/api/history', `/api/history?key=${encodeURIComponent(key)}`]) {
        const answer = await it.ask(path, { headers: session })
        assert.equal(answer.status, 200, `${path.slice(0, 30)}: ${answer.text.slice(0, 200)}`)
        assert.ok(answer.text.includes(key), path.slice(0, 30))
      }
      assert.equal((await it.post('/api/wishes/suspend', { key }, session)).status, 200)
    })

  test('and one that is longer is asked for by nobody', async () => {
    await using it = await testServer({ users: { anna: 'operator' } })
    const session = await it.signIn('anna')
    assert.equal((await it.post('/api/wishes/suspend', { key: 'a'.repeat(2_000) }, session)).status, 400)
  })
})
