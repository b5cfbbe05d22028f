import { boundedBytes } from '../../lib/bounded-bytes.ts'
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
  const whole = boundedBytes(LIMITS.forgeAnswerBytes)
  try {
    for await (const part of answer.body ?? []) whole.take(part as Uint8Array)
  } catch (error) {
    throw new Error(`${new URL(url).host}: the answer cannot be taken: ${whyFetchFailed(error)}`)
  }
  return { status: answer.status, body: whole.whole().toString('utf8') }
}
