import type { TestClient } from '../test-client.ts'

/** The recorded site, asked with the ticket of root instead of the token. */
export const asRoot = (client: TestClient) => loggedIn(client, 'root@pam', 'rootpw123')

/** The same site, asked with a ticket. */
export async function loggedIn(client: TestClient, username: string, password: string): Promise<TestClient> {
  const answer = await client.clock.runUntil(
    client.datacentre.handle({
      method: 'POST',
      path: '/api2/json/access/ticket',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ username, password }).toString(),
    }),
  )
  const login = (JSON.parse(answer.body) as { data: { ticket: string; CSRFPreventionToken: string } }).data
  const send: TestClient['send'] = (method, path, params) =>
    client.datacentre.handle({
      method,
      path: `/api2/json${path}`,
      headers: {
        cookie: `PVEAuthCookie=${encodeURIComponent(login.ticket)}`,
        csrfpreventiontoken: login.CSRFPreventionToken,
        ...(params === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(params === undefined ? {} : { body: new URLSearchParams(params).toString() }),
    })
  const call: TestClient['call'] = (method, path, params) => client.clock.runUntil(send(method, path, params))
  return {
    ...client,
    send,
    call,
    async data<T>(method: string, path: string, params?: Readonly<Record<string, string>>) {
      return (JSON.parse((await call(method, path, params)).body) as { data: T }).data
    },
  }
}
