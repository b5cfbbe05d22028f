import { LIMITS } from '../lib/limits.ts'
import type { Send } from './forge.ts'

/** Calls a forge over the network: no redirection is followed, for the token would go along; answers are bounded. */
export const sendToForge: Send = async ({ method, url, headers, body }) => {
  const answer = await fetch(url, {
    method,
    headers: { ...headers },
    redirect: 'error',
    signal: AbortSignal.timeout(LIMITS.requestTimeoutMs),
    ...(body === undefined ? {} : { body }),
  }).catch((error: unknown): never => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const why = cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : 'no answer'
    throw new Error(`${new URL(url).host}: ${why}`)
  })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    const bytes = chunk as Uint8Array
    size += bytes.length
    if (size > LIMITS.forgeAnswerBytes) throw new Error(`${new URL(url).host}: the answer is too large`)
    chunks.push(bytes)
  }
  return { status: answer.status, body: Buffer.concat(chunks).toString('utf8') }
}
