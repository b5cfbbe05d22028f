import type { TestClient } from '../test-client.ts'

/** Returns the answer to a login without a ticket: its data, or status and reason. */
export async function askForTicket(client: TestClient, params: Readonly<Record<string, string>>) {
  const answer = await client.clock.runUntil(
    client.datacentre.handle({
      method: 'POST',
      path: '/api2/json/access/ticket',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(params).toString(),
    }),
  )
  return answer.status === 200 ? JSON.parse(answer.body).data : `${answer.status} ${answer.reason}`
}
