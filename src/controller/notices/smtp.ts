import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { MailServer } from '../../model/notification.ts'
import type { Secret } from '../../model/secret.ts'

/** Hands one mail to a server: TLS from the first byte, or by STARTTLS, and never a password without it. */
export async function sendMail(
  to: MailServer,
  password: Secret | undefined,
  mail: { readonly subject: string; readonly text: string; readonly atMs: number; readonly id: string },
  options: { readonly ca?: string; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const trust = defined({ host: to.host, port: to.port, servername: to.host, ca: options.ca })
  let talk = openTalk(
    options.signal,
    to.tls === 'implicit' ? connectTls(trust) : connectPlain({ host: to.host, port: to.port }),
  )
  try {
    await talk.expect(220)
    let offers = await talk.say('EHLO croft.invalid', 250)
    if (to.tls === 'starttls') {
      // Without it everything that follows would be said in the open: then nothing is said.
      if (!/STARTTLS/i.test(offers)) throw new Error('the mail server offers no STARTTLS')
      await talk.say('STARTTLS', 220)
      talk = openTalk(
        options.signal,
        connectTls(defined({ socket: talk.release(), servername: to.host, ca: options.ca })),
      )
      offers = await talk.say('EHLO croft.invalid', 250)
    }
    if (to.user !== undefined && password !== undefined) {
      if (to.tls === 'none') throw new Error('a password is not sent without TLS')
      const plain = Buffer.from(`\0${to.user}\0${password.word()}`).toString('base64')
      await talk.say(`AUTH PLAIN ${plain}`, 235, 'AUTH')
    }
    await talk.say(`MAIL FROM:<${to.from}>`, 250)
    for (const address of to.to) await talk.say(`RCPT TO:<${address}>`, 250)
    await talk.say('DATA', 354)
    await talk.say(`${message(to, mail)}\r\n.`, 250, 'DATA')
    await talk.say('QUIT', 221)
  } finally {
    talk.end()
  }
}

function message(
  to: MailServer,
  {
    subject,
    text,
    atMs,
    id,
  }: { readonly subject: string; readonly text: string; readonly atMs: number; readonly id: string },
): string {
  const lines = [
    `From: <${to.from}>`,
    `To: ${to.to.map((address) => `<${address}>`).join(', ')}`,
    `Subject: =?UTF-8?B?${Buffer.from(subject.replaceAll(/[\r\n]/g, ' ').slice(0, 150)).toString('base64')}?=`,
    `Date: ${new Date(atMs).toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}@croft.invalid>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    'Auto-Submitted: auto-generated',
    '',
    ...(Buffer.from(text)
      .toString('base64')
      .match(/.{1,76}/g) ?? ['']),
  ]
  return lines.join('\r\n')
}

/** Says one line and waits for its answer. What the server says is shown by its number alone: it may repeat anything. */
function openTalk(signal: AbortSignal | undefined, socket: Socket) {
  let text = ''
  let failure: Error | undefined
  let wake: () => void = () => {}
  socket.setEncoding('utf8')
  const hear = (chunk: string | Buffer) => {
    text += String(chunk)
    if (text.length > LIMITS.mailAnswerLength) socket.destroy(new Error('the answer of the mail server is too long'))
    wake()
  }
  const fail = (error?: Error) => {
    failure ??= error instanceof Error ? error : new Error('the mail server closed the connection')
    wake()
  }
  signal?.addEventListener('abort', () => socket.destroy(new Error('the mail server does not answer')), { once: true })
  socket.on('data', hear)
  socket.on('error', fail)
  socket.on('close', () => fail())

  const expect = async (code: number, about = 'the greeting'): Promise<string> => {
    for (;;) {
      const end = /^(\d{3})(?: .*)?\r?\n/m.exec(text)
      if (end !== null && end[1] !== undefined) {
        const whole = text.slice(0, end.index + end[0].length)
        text = text.slice(whole.length)
        if (Number(end[1]) !== code) throw new Error(`the mail server answered ${end[1]} to ${about}`)
        return whole
      }
      if (failure !== undefined) throw failure
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    expect,
    async say(line: string, code: number, about = line.split(' ')[0] ?? ''): Promise<string> {
      // Whatever was said before its question was not an answer to it.
      text = ''
      socket.write(`${line}\r\n`)
      return expect(code, about)
    },
    /** Gives the connection away to be continued under TLS. */
    release(): Socket {
      socket.removeAllListeners()
      text = ''
      return socket
    },
    end: () => socket.destroy(),
  }
}
