import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, createServer as createTcp } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { openTlsWire } from './tls-wire.ts'
import { proxyFor } from './tunnel.ts'
import { type Wire, WireFailure } from './wire.ts'
import { createKeyPair, issueCertificate, privateKeyPem } from './x509.ts'

const [notBefore, notAfter] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)]
const timeouts = { connectMs: 5_000, requestMs: 5_000 }

function authority(commonName: string) {
  const { privateKey, publicKey } = createKeyPair()
  const issuer = { subject: { commonName }, privateKey }
  const { pem } = issueCertificate({ subject: issuer.subject, publicKey, authority: true, notBefore, notAfter }, issuer)
  return {
    pem,
    issue(subject: string, more: { altNames?: readonly string[]; usages: readonly ('serverAuth' | 'clientAuth')[] }) {
      const keys = createKeyPair()
      const made = issueCertificate(
        { subject: { commonName: subject }, publicKey: keys.publicKey, notBefore, notAfter, ...more },
        issuer,
      )
      return { certificate: made.pem, key: privateKeyPem(keys.privateKey) }
    },
  }
}

const [own, other, clients] = [authority('own'), authority('other'), authority('clients')]
const admin = clients.issue('admin', { usages: ['clientAuth'] })

describe('a wire with the CA of a cluster', () => {
  const servers: Server[] = []
  let [right, wrongName, foreign] = ['', '', '']
  const seen: string[] = []

  async function serve(leaf: { certificate: string; key: string }): Promise<string> {
    const server = createServer(
      { cert: leaf.certificate, key: leaf.key, ca: clients.pem, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const socket = request.socket as TLSSocket
        seen.push(`${request.url} ${socket.authorized}`)
        if (request.url === '/stream') {
          response.write('{"a":1}\n')
          setTimeout(() => response.end('{"b":"ü"}\n'), 20)
        } else response.end(JSON.stringify({ client: socket.authorized }))
      },
    )
    servers.push(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  before(async () => {
    right = await serve(own.issue('api', { altNames: ['127.0.0.1'], usages: ['serverAuth'] }))
    wrongName = await serve(own.issue('api', { altNames: ['10.0.0.1'], usages: ['serverAuth'] }))
    foreign = await serve(other.issue('api', { altNames: ['127.0.0.1'], usages: ['serverAuth'] }))
  })
  after(() => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })

  const open = (endpoint: string, more: { proxy?: string } = {}) =>
    openTlsWire({ endpoint, authority: own.pem, client: admin, maxSockets: 2, timeouts, ...more })

  async function failing(wire: Wire): Promise<WireFailure> {
    try {
      await wire.send({ method: 'GET', path: '/secret', headers: {} })
    } catch (error) {
      assert.ok(error instanceof WireFailure)
      return error
    } finally {
      await wire.close()
    }
    throw new Error('it answered')
  }

  test('shows our certificate to a server that the CA has signed', async () => {
    const wire = open(right)
    assert.equal((await wire.send({ method: 'GET', path: '/x', headers: {} })).body, '{"client":true}')
    await wire.close()
  })

  test('[S-04] sends nothing to a server of another CA, or to one that was signed for another address', async () => {
    for (const endpoint of [foreign, wrongName]) {
      const failure = await failing(open(endpoint))
      assert.deepEqual([failure.code, failure.sent], ['ERR_CERT_AUTHORITY', 'no'])
    }
    assert.ok(!seen.some((line) => line.includes('/secret')))
  })

  test('hands on what comes bit by bit', async () => {
    const wire = open(right)
    let text = ''
    const answer = await wire.stream?.(
      { method: 'GET', path: '/stream', headers: {} },
      (part) => {
        text += part
      },
      new AbortController().signal,
    )
    assert.deepEqual([answer?.status, answer?.body, text], [200, '', '{"a":1}\n{"b":"ü"}\n'])
    await wire.close()
  })

  test('goes through a proxy, which sees nothing but the address', async () => {
    let heads = ''
    const proxy = createTcp((socket) => {
      socket.on('error', () => {})
      socket.once('data', (chunk) => {
        heads += chunk.toString()
        const port = Number(/^CONNECT 127\.0\.0\.1:(\d+)/.exec(chunk.toString())?.[1])
        const through = connect(port, '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          socket.pipe(through).pipe(socket)
        })
        through.on('error', () => socket.destroy())
      })
    })
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
    const address = `http://user:pa%20ss@127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const wire = open(right, { proxy: address })
    assert.equal((await wire.send({ method: 'GET', path: '/x', headers: { authorization: 'secret' } })).status, 200)
    await wire.close()
    assert.match(heads, /^CONNECT 127\.0\.0\.1:\d+ HTTP\/1\.1\r\n/)
    assert.match(heads, /proxy-authorization: Basic dXNlcjpwYSBzcw==/)
    assert.doesNotMatch(heads, /secret/)
    // The certificate behind it is judged all the same.
    assert.equal((await failing(open(foreign, { proxy: address }))).code, 'ERR_CERT_AUTHORITY')
    proxy.close()
  })

  test('says what a proxy answers that refuses, is gone, or is no address', async () => {
    const proxy = createTcp((socket) =>
      socket
        .resume()
        .on('error', () => {})
        .end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    )
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
    const port = (proxy.address() as AddressInfo).port
    assert.match((await failing(open(right, { proxy: `http://127.0.0.1:${port}` }))).message, /refused the way.*407/)
    await new Promise((done) => proxy.close(done))
    assert.equal((await failing(open(right, { proxy: `http://127.0.0.1:${port}` }))).code, 'ECONNREFUSED')
    assert.equal((await failing(open(right, { proxy: 'socks5://x' }))).code, 'ERR_PROXY')
  })
})

describe('the proxy that the environment names', () => {
  const HTTPS_PROXY = 'http://proxy:3128'
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['https://192.168.4.79:6443', '', true],
    ['https://192.168.4.79:6443', '192.168.4.79', false],
    ['https://192.168.4.79:6443', '10.0.0.0/8, 192.168.0.0/16', false],
    ['https://192.168.4.79:6443', '192.168.4.79:443', true],
    ['https://k3s.example.org:6443', '.example.org', false],
    ['https://k3s.example.org:6443', 'example.org', false],
    ['https://badexample.org:6443', 'example.org', true],
    ['https://[fd00::1]:6443', 'fd00::/8', false],
    ['https://x:6443', '*', false],
    ['https://127.0.0.1:6443', '', false],
  ]
  for (const [endpoint, NO_PROXY, used] of rows) {
    test(`${endpoint} with NO_PROXY=${NO_PROXY}: ${used ? 'the proxy' : 'straight'}`, () => {
      assert.equal(proxyFor(endpoint, { HTTPS_PROXY, NO_PROXY }), used ? HTTPS_PROXY : undefined)
    })
  }
  test('without HTTPS_PROXY there is none', () => assert.equal(proxyFor('https://x', {}), undefined))
})
