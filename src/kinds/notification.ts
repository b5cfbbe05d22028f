import { z } from 'zod'
import { type NotificationSpec, type Receiver, TROUBLE_SORTS } from '../model/notification.ts'
import { annotatedPolicy, checkAnnotations } from './fields/annotations.ts'
import { defined } from './fields/defined.ts'
import { duration, milliseconds } from './fields/duration.ts'
import { whole } from './fields/number.ts'
import { secretReference, secretReferenceOf } from './fields/ssh.ts'
import { line } from './fields/text.ts'
import type { Kind } from './kind.ts'

const url = z
  .string()
  .max(1000)
  .regex(/^https?:\/\/[^\s@]+$/, {
    error: 'an address that begins with https:// (or http://), without user or password',
  })
const mail = z
  .string()
  .max(254)
  .regex(/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+$/, { error: 'a mail address' })

const schema = z
  .strictObject({
    description: line.optional(),
    about: z.array(z.enum(TROUBLE_SORTS)).max(TROUBLE_SORTS.length).default([]),
    after: duration.default('30s'),
    webhook: z.strictObject({ url, secret: secretReference }).optional(),
    ntfy: z
      .strictObject({
        url: url.default('https://ntfy.sh'),
        topic: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/),
        token: secretReference.optional(),
      })
      .optional(),
    slack: z.strictObject({ address: secretReference }).optional(),
    discord: z.strictObject({ address: secretReference }).optional(),
    gotify: z.strictObject({ url, token: secretReference }).optional(),
    uptimeKuma: z.strictObject({ address: secretReference, every: duration.default('60s') }).optional(),
    smtp: z
      .strictObject({
        host: z
          .string()
          .max(253)
          .regex(/^[A-Za-z0-9:][A-Za-z0-9.:-]*$/),
        port: whole(1, 65_535).default(465),
        tls: z.enum(['implicit', 'starttls', 'none']).default('implicit'),
        from: mail,
        to: z.array(mail).min(1).max(50),
        user: z
          .string()
          .max(254)
          .regex(/^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$/, { error: 'the name of a user' })
          .optional(),
        password: secretReference.optional(),
      })
      .refine(
        ({ tls, host, password }) =>
          tls !== 'none' || (password === undefined && /^(?:localhost|127\.|::1$)/.test(host)),
        {
          error: 'tls: none only to this very computer, and without a password',
        },
      )
      .optional(),
  })
  .refine((spec) => receivers(spec).length === 1, {
    error: 'one of webhook, ntfy, slack, discord, gotify, uptimeKuma and smtp',
  })

type Written = z.output<typeof schema>

function receivers(spec: object): readonly unknown[] {
  const { webhook, ntfy, slack, discord, gotify, uptimeKuma, smtp } = spec as Partial<Written>
  return [webhook, ntfy, slack, discord, gotify, uptimeKuma, smtp].filter((one) => one !== undefined)
}

/** Whom to tell when something is wrong, and when it is over. */
export const notification: Kind<Written> = {
  kind: 'Notification',
  apiVersion: 'croft.dev/v1alpha1',
  accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
  plural: 'notifications',
  shortNames: [],
  summary: 'Whom to tell when something is wrong, and when it is over again.',
  schema,
  check: (_spec, manifest) => checkAnnotations(manifest),
  policy: (_spec, manifest) => annotatedPolicy(manifest),
  expand: () => ({ role: 'fact' }),
}

/** What was written, as the controller uses it. */
export function notificationSpec(written: unknown): NotificationSpec {
  const spec = written as Written
  return { about: spec.about, afterMs: milliseconds(spec.after), to: receiverOf(spec) }
}

function receiverOf({ webhook, ntfy, slack, discord, gotify, uptimeKuma, smtp }: Written): Receiver {
  if (webhook !== undefined) return { by: 'webhook', url: webhook.url, secret: secretReferenceOf(webhook.secret) }
  if (ntfy !== undefined) {
    const { token, ...rest } = ntfy
    return { by: 'ntfy', ...rest, ...(token === undefined ? {} : { token: secretReferenceOf(token) }) }
  }
  if (slack !== undefined) return { by: 'slack', address: secretReferenceOf(slack.address) }
  if (discord !== undefined) return { by: 'discord', address: secretReferenceOf(discord.address) }
  if (gotify !== undefined) return { by: 'gotify', url: gotify.url, token: secretReferenceOf(gotify.token) }
  if (uptimeKuma !== undefined)
    return {
      by: 'uptime-kuma',
      address: secretReferenceOf(uptimeKuma.address),
      everyMs: Math.max(1_000, milliseconds(uptimeKuma.every)),
    }
  const { host = '', port = 465, tls = 'implicit', from = '', to = [], user, password } = smtp ?? {}
  return defined<Extract<Receiver, { by: 'smtp' }>>({
    by: 'smtp',
    host,
    port,
    tls,
    from,
    to,
    user,
    password: password === undefined ? undefined : secretReferenceOf(password),
  })
}
