import assert from 'node:assert/strict'
import { exitOf, type TestClient } from '../test-client.ts'

export type Params = Readonly<Record<string, string>>
/** A call and what it is answered. */
export type AnsweredRow = readonly [method: string, path: string, params: Params | undefined, expected: unknown]

/** The errors of a 400, the status and the text of another refusal, or how the task ended that the call began. */
export async function outcome(client: TestClient, method: string, path: string, params?: Params): Promise<unknown> {
  const query = params && method === 'DELETE' ? `?${new URLSearchParams(params)}` : ''
  const answer = await client.call(method, path + query, method === 'DELETE' ? undefined : params)
  const { data, errors } = JSON.parse(answer.body) as { data: unknown; errors?: unknown }
  if (answer.status === 400) return errors
  if (answer.status !== 200) return `${answer.status} ${answer.reason}`
  return typeof data === 'string' && data.startsWith('UPID:') ? `task: ${await exitOf(client, data)}` : 'done'
}

/** The calls, one after the other on the same site, are answered as their rows say. */
export async function holds(client: TestClient, rows: readonly AnsweredRow[], ask = outcome): Promise<void> {
  for (const [method, path, params, expected] of rows)
    assert.deepEqual(await ask(client, method, path, params), expected, `${method} ${path} ${JSON.stringify(params)}`)
}
