import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import { createSecureContext, TLSSocket } from 'node:tls'
import { Secret } from '../../model/secret.ts'
import { networkProbes } from '../checks/probes.ts'
import { localCertificate } from '../testing/authority.ts'
import { sendMail } from './smtp.ts'

test('a mail goes by STARTTLS: the password only inside, and nothing to a server that nobody vouches for', async () => {
  const { ca, cert, key } = localCertificate()
  const plain: string[] = []
  const inside: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('220 hello\r\n')
    const talk = (on: { write(text: string): unknown }, lines: string[], offers: string) => {
      let text = ''
      let data = false
      return (chunk: Buffer | string) => {
        text += String(chunk)
        for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
          const line = text.slice(0, end)
          text = text.slice(end + 2)
          lines.push(line)
          if (data) {
            if (line === '.') on.write('250 ok\r\n')
            data = line !== '.'
          } else if (line.startsWith('EHLO')) on.write(`250-here\r\n250 ${offers}\r\n`)
          else if (line.startsWith('AUTH')) on.write('235 welcome\r\n')
          else if (line === 'DATA') {
            data = true
            on.write('354 go on\r\n')
          } else if (line === 'STARTTLS') {
            on.write('220 go\r\n')
            socket.removeAllListeners('data')
            const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ cert, key }) })
            secure.on('error', () => {})
            secure.on('data', talk(secure, inside, 'AUTH PLAIN'))
          } else on.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
        }
      }
    }
    socket.on('data', talk(socket, plain, 'STARTTLS'))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => server.close())
  const to = {
    host: 'localhost',
    port: (server.address() as AddressInfo).port,
    tls: 'starttls',
    from: 'croft@example.org',
    to: ['anna@example.org'],
    user: 'croft',
  } as const
  const mail = { subject: 'croft: a check fails', text: 'it does', atMs: 0, id: '1' }
  await sendMail(to, new Secret('canary'), mail, { ca })
  assert.deepEqual(plain, ['EHLO croft.invalid', 'STARTTLS'])
  assert.ok(inside.includes(`AUTH PLAIN ${Buffer.from('\0croft\0canary').toString('base64')}`))
  assert.ok(inside.includes('RCPT TO:<anna@example.org>'))
  assert.ok(inside.includes('it does'))
  const before = inside.length
  await assert.rejects(sendMail(to, new Secret('canary'), mail))
  assert.equal(inside.length, before, 'something was said to a server with an unknown certificate')
})

test('a name is asked for at the server that the check names, and its answer is compared', async () => {
  const asked: string[] = []
  const server = createSocket('udp4')
  server.on('message', (message, from) => {
    // One question: its name is a list of labels, each after its length.
    const labels: string[] = []
    let at = 12
    while ((message[at] ?? 0) > 0) {
      const length = message[at] ?? 0
      labels.push(message.subarray(at + 1, at + 1 + length).toString())
      at += length + 1
    }
    asked.push(labels.join('.'))
    const known = labels[0] === 'ingress'
    const header = Buffer.from([
      message[0] ?? 0,
      message[1] ?? 0,
      0x81,
      known ? 0x80 : 0x83,
      0,
      1,
      0,
      known ? 1 : 0,
      0,
      0,
      0,
      0,
    ])
    const question = message.subarray(12, at + 5)
    const answer = known ? Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 168, 4, 80]) : Buffer.alloc(0)
    server.send(Buffer.concat([header, question, answer]), from.port, from.address)
  })
  await new Promise<void>((done) => server.bind(0, '127.0.0.1', done))
  after(() => server.close())
  const ask = networkProbes(async () => new Secret(''))
  const probe = (name: string, expect?: string) =>
    ask(
      {
        ask: 'dns',
        name,
        type: 'A',
        server: `127.0.0.1:${server.address().port}`,
        ...(expect === undefined ? {} : { expect }),
      },
      new AbortController().signal,
    )
  assert.deepEqual(await probe('ingress.home.arpa', '192.168.4.80'), { passed: 'yes', output: '192.168.4.80' })
  assert.deepEqual(await probe('ingress.home.arpa', '10.0.0.1'), { passed: 'no', output: 'answered 192.168.4.80' })
  await assert.rejects(probe('gone.home.arpa'))
  assert.deepEqual([...new Set(asked)], ['ingress.home.arpa', 'gone.home.arpa'])
})
