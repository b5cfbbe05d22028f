import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { localCertificate } from './authority.ts'

const BACKEND = '/usr/lib/git-core/git-http-backend'

/** Git over https, with git's own program behind it. */
export interface GitServer {
  url(repository: string): string
  /** The certificate of the authority that vouches for it. */
  readonly ca: string
  /** The authorization header of each request. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

/** Returns why it cannot start here; undefined if it can. */
export function gitServerMissing(): string | undefined {
  return existsSync(BACKEND) || process.env.CI !== undefined ? undefined : `${BACKEND} is missing`
}

/** Serves a directory's bare repositories for fetch and push, with a token if given. With a name, on port 443. */
export async function startGitServer(directory: string, token?: string, name?: string): Promise<GitServer> {
  const { ca, cert, key } = localCertificate(...(name === undefined ? [] : [name]))
  const trusted = path.join(directory, 'ca.pem')
  writeFileSync(trusted, ca)
  const asked: string[] = []
  const wanted = `Basic ${Buffer.from(`git:${token}`).toString('base64')}`
  const server = createServer({ cert, key }, (request, response) => {
    asked.push(request.headers.authorization ?? '')
    if (token === undefined || request.headers.authorization === wanted) answer(directory, request, response)
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  await new Promise<void>((done) => server.listen(name === undefined ? 0 : 443, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: (repository) => `https://localhost:${port}/${repository}`,
    ca: trusted,
    asked,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((done) => server.close(() => done()))
    },
  }
}

function answer(directory: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'https://localhost')
  const settings = { 'safe.directory': '*', 'http.receivepack': 'true' }
  const child = spawn(BACKEND, {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      GIT_CONFIG_COUNT: String(Object.keys(settings).length),
      ...Object.fromEntries(
        Object.entries(settings).flatMap(([name, value], n) => [
          [`GIT_CONFIG_KEY_${n}`, name],
          [`GIT_CONFIG_VALUE_${n}`, value],
        ]),
      ),
    },
  })
  request.pipe(child.stdin)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.on('close', () => {
    const all = Buffer.concat(chunks)
    const end = all.indexOf('\r\n\r\n')
    for (const line of all.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ')
      if (name.toLowerCase() === 'status') response.statusCode = Number(value.slice(0, 3))
      else if (name !== '') response.setHeader(name, value)
    }
    response.end(all.subarray(end + 4))
  })
}
