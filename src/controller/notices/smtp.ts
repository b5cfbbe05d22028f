import { once } from 'node:events'
import { connect } from 'node:net'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { MailServer } from '../../model/notification.ts'
import type { Secret } from '../../model/secret.ts'

export interface Mail {
  readonly subject: string
  readonly text: string
  readonly atMs: number
  readonly id: string
}

/** Sends one mail over TLS, from the first byte or by STARTTLS. Never sends a password without TLS. */
export async function sendMail(
  to: MailServer,
  password: Secret | undefined,
  mail: Mail,
  options: { readonly ca?: string; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const login = to.user === undefined || password === undefined ? undefined : { user: to.user, pass: password.word() }
  if (login !== undefined && to.tls === 'none') throw new Error('a password is not sent without TLS')
  const { createTransport } = await import('nodemailer')
  // nodemailer's own lookup asks DNS past /etc/hosts and caches for the whole process.
  const socket = connect({ host: to.host, port: to.port })
  try {
    await once(socket, 'connect', defined({ signal: options.signal }))
    const transport = createTransport({
      host: to.host,
      name: 'croft.invalid',
      connection: socket,
      secure: to.tls === 'implicit',
      requireTLS: to.tls === 'starttls',
      ignoreTLS: to.tls === 'none',
      tls: defined({ ca: options.ca, servername: to.host }),
      maxResponseSize: LIMITS.mailAnswerLength,
      // A server that offers no AUTH must not turn a mail with a password into one without.
      forceAuth: login !== undefined,
      ...defined({ auth: login }),
    })
    const sent = await transport.sendMail({
      from: { name: '', address: to.from },
      to: to.to.map((address) => ({ name: '', address })),
      subject: mail.subject.slice(0, 150),
      text: mail.text,
      date: new Date(mail.atMs),
      messageId: `<${mail.id}@croft.invalid>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      ...defined({ signal: options.signal }),
    })
    const [refused] = sent.rejectedErrors ?? []
    if (refused !== undefined) throw refused
  } catch (error) {
    throw new Error(options.signal?.aborted === true ? 'the mail server does not answer' : reasonOf(error))
  } finally {
    socket.destroy()
  }
}

/** Names the failed command and the server's code. Leaves out the server's text: it may repeat a password. */
function reasonOf(error: unknown): string {
  const { code, originalCode, responseCode, command } = error as NodeJS.ErrnoException & {
    readonly originalCode?: string
    readonly responseCode?: number
    readonly command?: string
  }
  if (responseCode !== undefined && command === 'STARTTLS') return 'the mail server offers no STARTTLS'
  if (responseCode !== undefined) return `the mail server answered ${responseCode} to ${command ?? 'the greeting'}`
  return `the mail server cannot be used: ${originalCode ?? code ?? 'no reason given'}`
}
