import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import type { Outbox } from './send-notice.ts'
import { sendMail } from './smtp.ts'

/** The real way out: HTTP that follows no redirection, and mail. Errors name the host and never a path with a secret. */
export function openOutbox(clock: Clock, resolveSecret: (reference: SecretReference) => Promise<Secret>): Outbox {
  return {
    resolveSecret,
    async post({ url, method, headers, body }) {
      const patience = new AbortController()
      const late = clock.sleep(LIMITS.requestTimeoutMs, patience.signal).then(() => patience.abort())
      try {
        const answer = await fetch(url, {
          method,
          headers: { ...headers },
          redirect: 'manual',
          signal: patience.signal,
          ...(body === undefined ? {} : { body }),
        })
        await answer.body?.cancel()
        return { status: answer.status }
      } catch (error) {
        const why =
          error instanceof Error && error.cause instanceof Error && 'code' in error.cause
            ? String(error.cause.code)
            : 'no answer'
        throw new Error(`${new URL(url).host}: ${why}`)
      } finally {
        patience.abort()
        await late
      }
    },
    async mail(to, password, subject, text) {
      const atMs = clock.now()
      const id = createHash('sha256').update(`${atMs} ${subject} ${text}`).digest('hex').slice(0, 24)
      const patience = new AbortController()
      const late = clock.sleep(LIMITS.mailTimeoutMs, patience.signal).then(() => patience.abort())
      try {
        await sendMail(to, password, { subject, text, atMs, id }, { signal: patience.signal })
      } finally {
        patience.abort()
        await late
      }
    },
  }
}
