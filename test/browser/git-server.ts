import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { localCertificate } from '../../src/controller/testing/authority.ts'

const BACKEND = '/usr/lib/git-core/git-http-backend'

/** Why there can be no Git server here; undefined when there can. Under CI nothing is skipped. */
export function whyNoGitServer(): string | undefined {
  if (existsSync(BACKEND) || (process.env.CI ?? '') !== '') return undefined
  return `${BACKEND} is missing (apt-get install git)`
}

/** A repository over https on this machine that can be read and pushed to, with a work tree that pushes into it. */
export async function serveRepository(directory: string) {
  const [work, bare, ca] = ['work', 'srv/home.git', 'ca.pem'].map((name) => path.join(directory, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(work, { recursive: true })
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Anna', '-c', 'user.email=anna@example.org', ...words], {
      cwd: work,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  git('init', '-q', '--bare', '-b', 'main', bare)
  git('--git-dir', bare, 'config', 'http.receivepack', 'true')
  git('init', '-q', '-b', 'main')
  const certificate = localCertificate()
  writeFileSync(ca, certificate.ca)
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'https://localhost')
    const child = spawn(BACKEND, {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: path.dirname(bare),
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
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
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/home.git`,
    ca,
    /** Writes files, commits them and pushes; answers the commit. */
    push(files: Readonly<Record<string, string>>, message: string): string {
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(work, name), text)
      git('add', '.')
      git('commit', '-q', '-m', message)
      git('push', '-q', bare, 'main')
      return git('rev-parse', 'HEAD').trim()
    },
    /** What is in the repository: its branches, or a file of one. */
    branches: () => git('--git-dir', bare, 'branch', '--format=%(refname:short)').trim().split('\n'),
    file: (branch: string, name: string) => git('--git-dir', bare, 'show', `${branch}:${name}`),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}
