import { createHmac } from 'node:crypto'
import type { MailServer, Outgoing } from '../../model/notification.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'

/** Sends HTTP requests and mail. Injected: tests bring their own. */
export interface Outbox {
  post(request: {
    readonly url: string
    readonly method: 'POST' | 'GET'
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }): Promise<{ readonly status: number }>
  mail(to: MailServer, password: Secret | undefined, subject: string, text: string): Promise<void>
  resolveSecret(reference: SecretReference): Promise<Secret>
}

/** Sends one request with its secrets filled in. Rejects with a message that contains no secret. */
export async function send(outgoing: Outgoing, outbox: Outbox): Promise<void> {
  const reveal = async (reference: SecretReference) => (await outbox.resolveSecret(reference)).word()
  if (outgoing.by === 'mail') {
    const { server, subject, text } = outgoing
    const password = server.password === undefined ? undefined : await outbox.resolveSecret(server.password)
    return outbox.mail(server, password, subject, text)
  }
  const { query, json, credential, signature } = outgoing
  const url = typeof outgoing.url === 'string' ? outgoing.url : await reveal(outgoing.url)
  const body = json === undefined ? undefined : JSON.stringify(json)
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  if (credential !== undefined) headers[credential.header] = `${credential.before}${await reveal(credential.value)}`
  if (signature !== undefined) {
    const made = createHmac('sha256', await reveal(signature.key)).update(body ?? '')
    headers[signature.header] = `sha256=${made.digest('hex')}`
  }
  const { status } = await outbox.post({
    url: query === undefined ? url : withQuery(url, query),
    method: query === undefined ? 'POST' : 'GET',
    headers,
    ...(body === undefined ? {} : { body }),
  })
  if (status < 200 || status >= 300) throw new Error(`the receiver answered ${status}`)
}

function withQuery(address: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.toString()
}
