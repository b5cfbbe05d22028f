import { LIMITS } from '../../lib/limits.ts'
import { whyFetchFailed } from '../../lib/why-fetch-failed.ts'
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
    throw new Error(`${new URL(url).host}: ${whyFetchFailed(error)}`)
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
