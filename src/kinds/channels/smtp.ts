import { z } from 'zod'
import { defined } from '../../lib/defined.ts'
import { headline, type MailServer } from '../../model/notification.ts'
import { whole } from '../fields/number.ts'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { matching } from '../fields/text.ts'
import { channel } from './channel.ts'

const mail = matching(/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+$/, 'a mail address', 254)

const schema = z
  .strictObject({
    host: z
      .string()
      .max(253)
      .regex(/^[A-Za-z0-9:][A-Za-z0-9.:-]*$/),
    port: whole(1, 65_535).default(465),
    tls: z.enum(['implicit', 'starttls', 'none']).default('implicit'),
    from: mail,
    to: z.array(mail).min(1).max(50),
    user: matching(/^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$/, 'the name of a user', 254).optional(),
    password: secretReference.optional(),
  })
  .refine(
    ({ tls, host, password }) => tls !== 'none' || (password === undefined && /^(?:localhost|127\.|::1$)/.test(host)),
    { error: 'tls: none only to this very computer, and without a password' },
  )

const texts = {
  sends: 'Sends a mail.',
  fields: {
    host: 'DNS name or IP address of the mail server.',
    port: 'TCP port of the mail server.',
    tls: 'implicit for TLS from the start, starttls, or none; none only to localhost and without a password.',
    from: 'Mail address of the sender.',
    to: 'Mail addresses of the recipients.',
    user: 'User name at the mail server; without it croft does not log in.',
  },
  secrets: { password: 'Password of that user.' },
}

export const smtp = channel('smtp', schema, texts, ({ password, ...to }) => {
  const server = defined<MailServer>({
    ...to,
    password: password === undefined ? undefined : secretReferenceOf(password),
  })
  return {
    notice: (message) => ({
      by: 'mail',
      server,
      subject: `croft: ${headline(message)}`,
      text: `${message.text}\n\nSince ${new Date(message.sinceMs).toISOString()}\n`,
    }),
  }
})
