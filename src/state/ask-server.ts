import { readFile } from 'node:fs/promises'
import { CliError } from '../lib/exit.ts'
import { jsonIn } from '../lib/foreign-json.ts'
import { LIMITS } from '../lib/limits.ts'
import { exchange } from '../lib/outgoing.ts'
import type { Environment } from './state-file.ts'

/** The operator's settings: only the environment says which server is asked, and with which credentials. */
export interface ServerAccess {
  readonly env: Environment
  warn(message: string): void
}

export interface SecretServer {
  readonly name: string
  readonly origin: URL
  readonly authority?: string
  readonly headers: Readonly<Record<string, string>>
}

export interface ServerAnswer {
  readonly status: number
  readonly body: unknown
}

/** Makes one request to a secret server. */
export async function askServer(
  { name, origin, authority, headers }: SecretServer,
  method: 'GET' | 'POST',
  at: string,
  body?: unknown,
): Promise<ServerAnswer> {
  const sent = body === undefined ? undefined : JSON.stringify(body)
  try {
    const { status, bytes } = await exchange(new URL(`${origin.pathname.replace(/\/+$/, '')}${at}`, origin), {
      method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(sent === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(sent)}` }),
      },
      body: sent,
      ca: authority,
      mostBytes: LIMITS.secretAnswerBytes,
    })
    return { status, body: jsonIn(Buffer.from(bytes).toString('utf8')) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const hint =
      code === 'EPROTO' ? ' It does not speak TLS there: write http:// if that is meant, or its other port.' : ''
    throw new CliError(`${name} at ${origin.host} does not answer: ${code ?? message}.${hint}`)
  }
}

export function originOf(address: string, variable: string, { warn }: ServerAccess): URL {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CliError(`${variable} is not an address. Write it like https://vault.example.org:8200.`)
  if (url.protocol === 'http:' && !/^(?:localhost|127\..*|\[::1\])$/.test(url.hostname))
    warn(`${variable} is an http address: secrets pass the network in plain text; use https`)
  return url
}

export async function textOfFile(file: string, variable: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`The file ${file} of ${variable} cannot be read (${error.code ?? 'error'}). Correct the path.`)
  })
}

/** Encodes each segment of a path, so that no name leads to another part of the API. Empty segments are dropped. */
export function encodedPath(at: string): string {
  const parts = at.split('/').filter((part) => part !== '')
  // Encoding keeps these segments, which would change the path.
  if (parts.some((part) => part === '.' || part === '..'))
    throw new CliError(`${at} is not a name that a server of secrets has: it leads elsewhere. Correct it.`)
  return parts.map(encodeURIComponent).join('/')
}
