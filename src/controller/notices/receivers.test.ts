import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { createServer as createTcp } from 'node:net'
import { after, test } from 'node:test'
import { notification, notificationSpec } from '../../kinds/notification.ts'
import { systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Message } from '../../model/notification.ts'
import { Secret } from '../../model/secret.ts'
import { openOutbox } from './outbox.ts'
import { send as sendOut } from './send-notice.ts'
import { sendMail } from './smtp.ts'

const NOTICE: Message = {
  id: 'check/x',
  sort: 'check',
  title: 'The check x fails',
  text: 'a <b> @everyone',
  resolved: false,
  sinceMs: 0,
  atMs: 60_000,
}

test('each receiver gets what it understands, over a real socket, with its secret where it belongs', async () => {
  const heard: { url: string; headers: Record<string, unknown>; body: string; method: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      heard.push({ url: request.url ?? '', headers: request.headers, body, method: request.method ?? '' })
      response
        .writeHead(request.url === '/teapot' ? 418 : request.url === '/away' ? 302 : 200, { location: '/elsewhere' })
        .end('{}')
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => server.close())
  const address = server.address()
  const base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  const held: Readonly<Record<string, string>> = {
    KEY: 'canary',
    SLACK: `${base}/slack/canary`,
    DISCORD: `${base}/discord/canary`,
    KUMA: `${base}/api/push/canary`,
    NOBODY: 'http://127.0.0.1:1/services/canary',
  }
  const outbox = openOutbox(
    systemClock,
    async (reference) => new Secret('env' in reference ? (held[reference.env] ?? assert.fail()) : assert.fail()),
  )
  const secret = { env: 'KEY' }
  const receiver = (written: object) => notificationSpec(notification.schema.parse(written)).to
  const send = (written: object, message = NOTICE) =>
    sendOut(receiver(written).notice?.(message) ?? assert.fail(), outbox)
  const last = () => {
    const one = heard.at(-1)
    assert.ok(one)
    return one
  }

  await send({ webhook: { url: `${base}/hook`, secret } })
  assert.equal(
    last().headers['x-croft-signature-256'],
    `sha256=${createHmac('sha256', 'canary').update(last().body).digest('hex')}`,
  )
  assert.equal((JSON.parse(last().body) as { status: string }).status, 'firing')
  await send({ webhook: { url: `${base}/hook`, secret } }, { ...NOTICE, resolved: true })
  assert.equal((JSON.parse(last().body) as { status: string }).status, 'resolved')
  await send({ ntfy: { url: base, topic: 'home', token: secret } })
  assert.equal(last().headers.authorization, 'Bearer canary')
  assert.match(last().body, /"topic":"home"/)
  await send({ slack: { address: { env: 'SLACK' } } })
  assert.match(last().body, /a &lt;b&gt; @everyone/)
  await send({ discord: { address: { env: 'DISCORD' } } })
  assert.match(last().body, /"allowed_mentions":\{"parse":\[\]\}/)
  await send({ gotify: { url: `${base}/g`, token: secret } })
  assert.equal(last().url, '/g/message')
  assert.equal(last().headers['x-gotify-key'], 'canary')
  const kuma = receiver({ uptimeKuma: { address: { env: 'KUMA' }, every: '0s' } })
  assert.equal(kuma.notice, undefined)
  assert.equal(kuma.heartbeat?.everyMs, 1_000)
  await sendOut(kuma.heartbeat?.of(['T']) ?? assert.fail(), outbox)
  assert.equal(last().url, '/api/push/canary?status=down&msg=T')
  await assert.rejects(send({ webhook: { url: `${base}/teapot`, secret } }), /answered 418/)
  await assert.rejects(send({ webhook: { url: `${base}/away`, secret } }), /answered 302/)
  assert.ok(!heard.some((one) => one.url === '/elsewhere'), 'a redirection was followed')
  await assert.rejects(
    send({ slack: { address: { env: 'NOBODY' } } }),
    (error: Error) => !error.message.includes('canary'),
  )
})

test('a mail is handed over line by line; a password never without TLS, and what the server says is not repeated', async () => {
  const lines: string[] = []
  let refuse = ''
  const server = createTcp((socket) => {
    socket.write('220 hello\r\n')
    let text = ''
    let data = false
    socket.on('data', (chunk) => {
      text += String(chunk)
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end)
        text = text.slice(end + 2)
        lines.push(line)
        if (data) {
          if (line !== '.') continue
          data = false
          socket.write('250 ok\r\n')
        } else if (refuse !== '' && line.startsWith(refuse)) socket.write('550 canary said the server\r\n')
        else if (line.startsWith('EHLO')) socket.write('250-here\r\n250 SIZE 1000\r\n')
        else if (line === 'DATA') {
          data = true
          socket.write('354 go on\r\n')
        } else if (line === 'STARTTLS') socket.write('502 canary said the server\r\n')
        else socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
      }
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const to = {
    host: '127.0.0.1',
    port,
    tls: 'none',
    from: 'croft@example.org',
    to: ['anna@example.org'],
  } as const
  const mail = { subject: 'croft: ä', text: 'hello\r\n.\r\nworld', atMs: 0, id: '1' }
  await sendMail(to, undefined, mail)
  assert.deepEqual(lines.slice(0, 4), [
    'EHLO croft.invalid',
    'MAIL FROM:<croft@example.org>',
    'RCPT TO:<anna@example.org>',
    'DATA',
  ])
  const body = lines.slice(lines.indexOf('') + 1, lines.lastIndexOf('.'))
  assert.deepEqual(body.slice(0, 3), ['hello', '..', 'world'], 'a dot in the text does not end the mail')
  assert.ok(lines.includes(`Subject: =?UTF-8?Q?croft=3A_=C3=A4?=`) && lines.includes('Message-ID: <1@croft.invalid>'))
  await assert.rejects(sendMail({ ...to, user: 'u' }, new Secret('p'), mail), /not sent without TLS/)
  await assert.rejects(sendMail({ ...to, tls: 'starttls' }, undefined, mail), /offers no STARTTLS/)
  refuse = 'RCPT TO:<bob@'
  await assert.rejects(sendMail({ ...to, to: [...to.to, 'bob@example.org'] }, undefined, mail), /answered 550 to RCPT/)
  refuse = 'RCPT'
  await assert.rejects(sendMail(to, undefined, mail), /^Error: the mail server answered 550 to RCPT TO$/)
  refuse = 'DATA'
  await assert.rejects(sendMail(to, undefined, mail), /^Error: the mail server answered 550 to DATA$/)
})

test('a mail server that says nothing is left at the deadline, one that never ends its line at the limit', async () => {
  let greeting = ''
  const server = createTcp((socket) => {
    socket.on('error', () => {})
    socket.write(greeting)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const to = { host: '127.0.0.1', port, tls: 'none', from: 'croft@example.org', to: ['anna@example.org'] } as const
  const mail = { subject: 'croft', text: 'hello', atMs: 0, id: '1' }
  await assert.rejects(sendMail(to, undefined, mail, { signal: AbortSignal.timeout(50) }), /server does not answer$/)
  greeting = `220 ${'x'.repeat(LIMITS.mailAnswerLength)}`
  await assert.rejects(sendMail(to, undefined, mail, { signal: AbortSignal.timeout(10_000) }), /used: EPROTOCOL$/)
})
