import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import type { Role } from '../auth/roles.ts'
import { setUser, usersFile } from '../auth/users.ts'
import type { AuditRequest, ServerOptions } from '../options.ts'
import { startServer } from '../start.ts'
import { type FakeController, fakeController } from './fake-controller.ts'
import { smallEstate } from './fake-estate.ts'

export const PASSWORD = 'correct horse battery staple'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  json<T = Record<string, unknown>>(): T
}

export interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** A server on a free port with a fake controller, and how to ask it; everything is cleaned up with it. */
export async function testServer(parts: Partial<ServerOptions> & { users?: Readonly<Record<string, Role>> } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'croft-server-'))
  const paths = { users: join(directory, 'users.json'), tokens: join(directory, 'tokens.json') }
  const { users = {}, ...options } = parts
  if (Object.keys(users).length > 0) await writeFile(paths.users, await usersText(users), { mode: 0o600 })
  const controller: FakeController = (parts.controller as FakeController | undefined) ?? fakeController(smallEstate())
  const audit: AuditRequest[] = []
  const server = await startServer({
    clock: systemClock,
    version: '9.9.9',
    port: 0,
    page: directory,
    usersFile: paths.users,
    tokensFile: paths.tokens,
    audit: (entry) => audit.push(entry),
    ...options,
    controller,
  })
  const host = `127.0.0.1:${server.port}`
  const ask = (path: string, asking: Asking = {}) => askServer(server.port, path, asking)

  /** Posts like the page: JSON, with our own origin. */
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    ask(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', origin: `http://${host}`, ...headers },
    })

  /** Headers of a signed-in page. */
  async function signIn(name: string, password = PASSWORD): Promise<Readonly<Record<string, string>>> {
    const answer = await post('/api/sign-in', { name, password })
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
    const [cookie = ''] = answer.headers['set-cookie'] ?? []
    return { cookie: cookie.split(';')[0] ?? '', 'x-croft-csrf': answer.json<{ csrf: string }>().csrf }
  }

  return {
    server,
    controller,
    audit,
    host,
    paths,
    ask,
    post,
    signIn,
    async [Symbol.asyncDispose]() {
      await server.close()
      await rm(directory, { recursive: true })
    },
  }
}

const made = new Map<string, Promise<string>>()

/** The file of these users. Passwords are slow to make, by design: each set of users is made once for a test file. */
function usersText(users: Readonly<Record<string, Role>>): Promise<string> {
  const which = JSON.stringify(users)
  const text = made.get(which) ?? makeUsers(users)
  made.set(which, text)
  return text
}

async function makeUsers(users: Readonly<Record<string, Role>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'croft-users-'))
  const file = join(directory, 'users.json')
  for (const [name, role] of Object.entries(users)) await setUser(usersFile(file), name, role, PASSWORD)
  const text = await readFile(file, 'utf8')
  await rm(directory, { recursive: true })
  return text
}

export function askServer(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: Asking = {},
): Promise<Answer> {
  return new Promise((done, fail) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        done({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: <T>() => JSON.parse(text) as T,
        })
      })
    })
    asked.on('error', fail)
    asked.end(body)
  })
}
