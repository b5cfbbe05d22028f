import { createHmac } from 'node:crypto'
import type { Receiver } from '../model/notification.ts'
import type { Secret, SecretReference } from '../model/secret.ts'
import type { Notice } from './troubles.ts'

/** One HTTP request on its way out, and the mail that goes another way. Injected: tests bring their own. */
export interface Outbox {
  post(request: {
    readonly url: string
    readonly method: 'POST' | 'GET'
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }): Promise<{ readonly status: number }>
  mail(
    to: Extract<Receiver, { by: 'smtp' }>,
    password: Secret | undefined,
    subject: string,
    text: string,
  ): Promise<void>
  resolveSecret(reference: SecretReference): Promise<Secret>
}

/** Tells one receiver of one notice. Rejects with a message that names no secret. */
export async function sendNotice(to: Receiver, notice: Notice, outbox: Outbox): Promise<void> {
  const resolved = notice.kind === 'resolved'
  const title = resolved ? `Resolved: ${notice.trouble.title}` : notice.trouble.title
  const text = resolved ? 'It is over.' : notice.trouble.text
  const json = async (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const sent = await outbox.post({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    accepted(sent.status)
  }
  switch (to.by) {
    case 'webhook': {
      const body = JSON.stringify({
        ...notice.trouble,
        status: resolved ? 'resolved' : 'firing',
        since: new Date(notice.sinceMs).toISOString(),
        time: new Date(notice.atMs).toISOString(),
      })
      const secret = (await outbox.resolveSecret(to.secret)).reveal()
      const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
      const sent = await outbox.post({
        url: to.url,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-croft-signature-256': signature },
        body,
      })
      return accepted(sent.status)
    }
    case 'ntfy': {
      const token = to.token === undefined ? undefined : (await outbox.resolveSecret(to.token)).reveal()
      return json(
        to.url.replace(/\/$/, ''),
        {
          topic: to.topic,
          title,
          message: text === '' ? title : text,
          priority: resolved ? 2 : 4,
          tags: [resolved ? 'white_check_mark' : 'warning'],
        },
        token === undefined ? {} : { authorization: `Bearer ${token}` },
      )
    }
    case 'slack':
      return json((await outbox.resolveSecret(to.address)).reveal(), { text: `*${escaped(title)}*\n${escaped(text)}` })
    case 'discord':
      // Nobody is called by name from what a host has said.
      return json((await outbox.resolveSecret(to.address)).reveal(), {
        content: `**${title}**\n${text}`.slice(0, 2000),
        allowed_mentions: { parse: [] },
      })
    case 'gotify': {
      const token = (await outbox.resolveSecret(to.token)).reveal()
      return json(
        `${to.url.replace(/\/$/, '')}/message`,
        { title, message: text === '' ? title : text, priority: resolved ? 2 : 7 },
        { 'x-gotify-key': token },
      )
    }
    case 'smtp': {
      const password = to.password === undefined ? undefined : await outbox.resolveSecret(to.password)
      return outbox.mail(
        to,
        password,
        `croft: ${title}`,
        `${text}\n\nSince ${new Date(notice.sinceMs).toISOString()}\n`,
      )
    }
    case 'uptime-kuma':
      // It hears of everything by its regular push.
      return
  }
}

/** The regular sign of life: up while nothing is wrong. */
export async function pushHeartbeat(
  to: Extract<Receiver, { by: 'uptime-kuma' }>,
  troubles: readonly { readonly title: string }[],
  outbox: Outbox,
): Promise<void> {
  const url = new URL((await outbox.resolveSecret(to.address)).reveal())
  url.searchParams.set('status', troubles.length === 0 ? 'up' : 'down')
  url.searchParams.set(
    'msg',
    troubles.length === 0
      ? 'OK'
      : troubles
          .map(({ title }) => title)
          .join('; ')
          .slice(0, 200),
  )
  accepted((await outbox.post({ url: url.toString(), method: 'GET', headers: {} })).status)
}

function accepted(status: number): void {
  if (status < 200 || status >= 300) throw new Error(`the receiver answered ${status}`)
}

/** Slack's three characters. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
