import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { openTlsWire } from './tls-wire.ts'
import { WireFailure } from './wire.ts'
import { createKeyPair, issueCertificate, privateKeyPem, type SignedCertificate } from './x509.ts'

const timeouts = { connectMs: 2_000, requestMs: 2_000 }
const GET = { method: 'GET', path: '/api2/json/version', headers: { authorization: 'PVEAPIToken=a@b!c=SECRET' } }

const peers: Peer[] = []

interface Peer {
  readonly endpoint: string
  readonly fingerprint: string
  /** Everything the server could decipher, over all connections. */
  received(): string
  connections(): number
  close(): void
}

/** Starts a real TLS server that sends raw answers. */
async function listen(
  answer: (request: string, socket: TLSSocket, count: number) => void,
  certificate = selfSigned('127.0.0.1'),
): Promise<Peer> {
  let received = ''
  let connections = 0
  let count = 0
  const sockets = new Set<Socket>()
  const server: Server = createServer({ key: certificate.key, cert: certificate.pem }, (socket) => {
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      received += data.toString('latin1')
      answer(data.toString('latin1'), socket, ++count)
    })
  })
  server.on('tlsClientError', () => {})
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert(address !== null && typeof address === 'object')
  const peer = {
    endpoint: `https://127.0.0.1:${address.port}`,
    fingerprint: certificate.fingerprint,
    received: () => received,
    connections: () => connections,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  peers.push(peer)
  return peer
}

function selfSigned(name: string, days = 30): SignedCertificate & { key: string } {
  const { privateKey, publicKey } = createKeyPair()
  const subject = { commonName: name }
  const day = 86_400_000
  const now = Date.now()
  const notAfter = new Date(now + days * day)
  const notBefore = new Date(Math.min(now, notAfter.getTime()) - day)
  const issued = issueCertificate(
    { subject, publicKey, altNames: [name], usages: ['serverAuth'], notBefore, notAfter },
    { subject, privateKey },
  )
  return { ...issued, key: privateKeyPem(privateKey) }
}

function json(body: string, reason = 'OK', status = 200, extra = ''): string {
  return `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\n${extra}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

async function failureOf(sending: Promise<unknown>): Promise<WireFailure> {
  const error = await sending.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert(error instanceof WireFailure, String(error))
  return error
}

describe('openTlsWire', () => {
  let peer: Peer
  before(async () => {
    peer = await listen((_request, socket) => socket.write(json('{"data":1}')))
  })
  after(() => {
    for (const one of peers) one.close()
  })

  it('sends a request and gives back status, reason line, headers and body', async () => {
    const odd = await listen((_request, socket) =>
      socket.write(json('{"data":null}', "VM is locked (clone) 'x'", 500, 'Date: Sun\r\n')),
    )
    const wire = openTlsWire({ ...odd, maxSockets: 1, timeouts })
    const answer = await wire.send(GET)
    assert.equal(answer.status, 500)
    assert.equal(answer.reason, "VM is locked (clone) 'x'")
    assert.equal(answer.headers.date, 'Sun')
    assert.equal(answer.body, '{"data":null}')
    await wire.close()
  })

  it('[S-04] sends no byte of a request to a host with another certificate, and shows both fingerprints', async () => {
    const other = selfSigned('127.0.0.1')
    const impostor = await listen((_request, socket) => socket.write(json('{}')))
    const wire = openTlsWire({ endpoint: impostor.endpoint, fingerprint: other.fingerprint, maxSockets: 2, timeouts })
    for (const method of ['GET', 'POST']) {
      const failure = await failureOf(wire.send({ ...GET, method, ...(method === 'POST' ? { body: 'a=b' } : {}) }))
      assert.equal(failure.sent, 'no')
      assert.equal(failure.code, 'ERR_CERT_FINGERPRINT')
      assert.ok(failure.message.includes(impostor.fingerprint), failure.message)
      assert.ok(failure.message.includes(other.fingerprint), failure.message)
    }
    assert.equal(impostor.connections(), 2)
    assert.equal(impostor.received(), '')
    await wire.close()
  })

  it('[S-04] pins the certificate itself: same name and expired do not matter, another certificate of that name does', async () => {
    const expired = selfSigned('127.0.0.1', -2)
    const old = await listen((_request, socket) => socket.write(json('{"data":"old"}')), expired)
    const pinned = openTlsWire({
      ...old,
      fingerprint: old.fingerprint.replaceAll(':', '').toLowerCase(),
      maxSockets: 1,
      timeouts,
    })
    assert.equal((await pinned.send(GET)).body, '{"data":"old"}')
    const wrong = openTlsWire({ endpoint: old.endpoint, fingerprint: peer.fingerprint, maxSockets: 1, timeouts })
    assert.equal((await failureOf(wrong.send(GET))).code, 'ERR_CERT_FINGERPRINT')
    await pinned.close()
    await wrong.close()
  })

  it('[S-04] without a fingerprint trusts only what the system trusts, and says what to pin', async () => {
    const wire = openTlsWire({ endpoint: peer.endpoint, maxSockets: 1, timeouts })
    const seen = peer.received()
    const failure = await failureOf(wire.send(GET))
    assert.equal(failure.sent, 'no')
    assert.equal(failure.code, 'ERR_CERT_UNTRUSTED')
    assert.ok(failure.message.includes(peer.fingerprint))
    assert.equal(peer.received(), seen)
    await wire.close()
  })

  it('refuses a fingerprint that is none, and an address without TLS, before anything is opened', async () => {
    const made = openTlsWire({ endpoint: peer.endpoint, fingerprint: 'AA:BB', maxSockets: 1, timeouts })
    assert.equal((await failureOf(made.send(GET))).code, 'ERR_CERT_FINGERPRINT')
    const plain = openTlsWire({ endpoint: 'http://127.0.0.1:8006', maxSockets: 1, timeouts })
    assert.deepEqual(
      [(await failureOf(plain.send(GET))).code, (await failureOf(plain.send(GET))).sent],
      ['ERR_NOT_HTTPS', 'no'],
    )
  })

  it('keeps connections alive, and never opens more than it may', async () => {
    const busy = await listen((_request, socket) => setTimeout(() => socket.write(json('{"data":1}')), 2))
    const wire = openTlsWire({ ...busy, maxSockets: 3, timeouts })
    const answers = await Promise.all(Array.from({ length: 40 }, () => wire.send(GET)))
    assert.equal(answers.length, 40)
    assert.equal(busy.connections(), 3)
    await wire.close()
  })

  it('opens a new connection after an answer that closes the old one', async () => {
    const closing = await listen((_request, socket) =>
      socket.end(json('{"data":1}', 'OK', 200, 'Connection: close\r\n')),
    )
    const wire = openTlsWire({ ...closing, maxSockets: 1, timeouts })
    for (let at = 0; at < 3; at++) assert.equal((await wire.send(GET)).status, 200)
    assert.equal(closing.connections(), 3)
    await wire.close()
  })

  const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx'
  for (const [why, text, reused] of [
    ['HTTP/1.1 by itself', whole, true],
    ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n', true],
    ['HTTP/1.0', whole.replace('1.1', '1.0'), false],
    ['HTTP/1.0 with keep-alive', whole.replace('1.1', '1.0').replace('\r\n', '\r\nConnection: keep-alive\r\n'), true],
  ] as const)
    it(`uses the connection again? ${why}: ${reused}`, async () => {
      const server = await listen((_request, socket) => socket.write(text))
      const wire = openTlsWire({ ...server, maxSockets: 1, timeouts })
      for (let at = 0; at < 3; at++) assert.equal((await wire.send(GET)).body, 'x')
      assert.equal(server.connections(), reused ? 1 : 3)
      await wire.close()
    })

  for (const [why, wait] of [
    ['in the same breath', 0],
    ['after the request has its answer', 20],
  ] as const)
    it(`[S-46] an answer that nobody asked for, sent ${why}, is never taken for that of the next request`, async () => {
      const server = await listen((request, socket) => {
        const answer = json(`"${/ \/(\w+) /.exec(request)?.[1]}"`)
        const forged = json('"forged"')
        if (wait === 0) socket.write(answer + forged)
        else {
          socket.write(answer)
          setTimeout(() => socket.write(forged), wait)
        }
      })
      const wire = openTlsWire({ ...server, maxSockets: 1, timeouts })
      for (const path of ['a', 'b', 'c']) {
        const answered = await wire.send({ ...GET, path: `/${path}` }).catch((error: unknown) => error)
        if (!(answered instanceof WireFailure)) assert.equal((answered as { body: string }).body, `"${path}"`)
        await new Promise((resolve) => setTimeout(resolve, 3 * wait))
      }
      assert.equal(server.connections(), 3)
      await wire.close()
    })

  it('says that nothing was sent when nobody listens', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    assert(address !== null && typeof address === 'object')
    server.close()
    const wire = openTlsWire({ endpoint: `https://127.0.0.1:${address.port}`, maxSockets: 1, timeouts })
    const failure = await failureOf(wire.send(GET))
    assert.deepEqual([failure.sent, failure.code], ['no', 'ECONNREFUSED'])
  })

  it('says that it may have been seen when the connection breaks or no answer comes', async () => {
    const silent = await listen(() => {})
    const slow = openTlsWire({ ...silent, maxSockets: 1, timeouts })
    const late = await failureOf(slow.send({ ...GET, method: 'POST', body: 'a=b' }))
    assert.deepEqual([late.sent, late.code], ['maybe', 'ETIMEDOUT'])

    const breaking = await listen((_request, socket) => socket.destroy())
    const broken = openTlsWire({ ...breaking, maxSockets: 1, timeouts })
    assert.equal((await failureOf(broken.send({ ...GET, method: 'POST' }))).sent, 'maybe')
  })

  it('a request that waited for a free connection until its time was up was not sent', async () => {
    const silent = await listen(() => {})
    const wire = openTlsWire({ ...silent, maxSockets: 1, timeouts })
    const [first, second] = await Promise.all([failureOf(wire.send(GET)), failureOf(wire.send(GET))])
    assert.equal(first.sent, 'maybe')
    assert.equal(second.sent, 'no')
    await wire.close()
  })

  it('sends a read again when an idle connection was closed under it, but never a write', async () => {
    const make = () =>
      listen((_request, socket, count) => (count === 2 ? socket.destroy() : socket.write(json(`{"data":${count}}`))))
    const forReads = await make()
    const reading = openTlsWire({ ...forReads, maxSockets: 1, timeouts })
    await reading.send(GET)
    assert.equal((await reading.send(GET)).body, '{"data":3}')
    await reading.close()

    const forWrites = await make()
    const writing = openTlsWire({ ...forWrites, maxSockets: 1, timeouts })
    await writing.send({ ...GET, method: 'PUT', body: 'a=1' })
    assert.equal((await failureOf(writing.send({ ...GET, method: 'PUT', body: 'a=1' }))).sent, 'maybe')
    assert.equal(forWrites.received().match(/PUT /g)?.length, 2)
    await writing.close()
  })

  it('gives up when asked to, and says whether it had been sent', async () => {
    const silent = await listen(() => {})
    const wire = openTlsWire({ ...silent, maxSockets: 1, timeouts })
    const already = await failureOf(wire.send(GET, AbortSignal.abort()))
    assert.deepEqual([already.sent, already.code], ['no', 'ABORTED'])
    const controller = new AbortController()
    const sending = failureOf(wire.send(GET, controller.signal))
    while (silent.received() === '') await new Promise((resolve) => setTimeout(resolve, 2))
    controller.abort()
    assert.deepEqual([(await sending).sent, (await sending).code], ['maybe', 'ABORTED'])
    await wire.close()
  })

  it('[S-16] refuses an answer that is larger than the limit, and one that is no HTTP', async () => {
    const huge = await listen((_request, socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n{'),
    )
    const wire = openTlsWire({ ...huge, maxSockets: 1, timeouts })
    assert.equal((await failureOf(wire.send(GET))).code, 'ERR_BODY_TOO_LARGE')
    const noise = await listen((_request, socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n\r\n'))
    const other = openTlsWire({ ...noise, maxSockets: 1, timeouts })
    assert.deepEqual([(await failureOf(other.send(GET))).code], ['ERR_HTTP'])
  })

  it('sends a body while it is read, and one that is refused before its end spoils no connection', async () => {
    const strict = await listen((request, socket) => {
      if (request.startsWith('GET')) socket.write(json('{"data":"read"}'))
      else if (request.startsWith('POST /refused')) socket.write(json('{"data":null}', 'no room', 403))
      else if (request.endsWith('the end')) socket.write(json('{"data":"whole"}'))
    })
    const wire = openTlsWire({ ...strict, maxSockets: 1, timeouts })
    const signal = new AbortController().signal
    const body = (count: number, last: string) => ({
      length: count * 100_000 + last.length,
      chunks: (async function* () {
        for (let at = 0; at < count; at++) {
          yield Buffer.alloc(100_000, 'x')
          await new Promise(setImmediate)
        }
        yield Buffer.from(last)
      })(),
    })
    const post = (path: string) => ({ ...GET, method: 'POST', path })
    assert.equal((await wire.upload?.(post('/taken'), body(20, 'the end'), signal))?.body, '{"data":"whole"}')
    assert.equal((await wire.upload?.(post('/refused'), body(500, 'the end'), signal))?.status, 403)
    assert.equal((await wire.send(GET)).body, '{"data":"read"}')
    assert.equal(strict.connections(), 2, 'the connection with half a body is not used again')
    await wire.close()
  })

  it('[S-01] refuses line breaks in path and headers, so that no second request can be smuggled in', async () => {
    const wire = openTlsWire({ ...peer, maxSockets: 1, timeouts })
    const seen = peer.received()
    for (const request of [
      { ...GET, path: '/x HTTP/1.1\r\nhost: y' },
      { ...GET, path: '/x\ny' },
      { ...GET, headers: { authorization: 'a\r\nx: y' } },
      { ...GET, headers: { 'a: b\r\nc': 'd' } },
      { ...GET, method: 'GET /' },
    ]) {
      assert.deepEqual([(await failureOf(wire.send(request))).code], ['ERR_INVALID_REQUEST'])
    }
    assert.equal(peer.received(), seen)
    await wire.close()
  })
})
