import type { TestClient } from '../test-client.ts'

/** The answer to a login, from somebody who has nothing to show yet: its data, or status and reason. */
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
