import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { PageFile } from './page-files.ts'
import { shownJson } from './shown-json.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
const compress = promisify(gzip)
/** Below this a compressed answer is no smaller on the wire. */
const WORTH_COMPRESSING = 1400

export async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  value: unknown,
): Promise<void> {
  await sendText(request, response, status, shownJson(value), JSON_TYPE)
}

export async function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): Promise<void> {
  let body = Buffer.from(text)
  response.setHeader('content-type', type)
  response.setHeader('cache-control', 'no-store')
  response.setHeader('vary', 'accept-encoding, cookie, authorization')
  if (body.length > WORTH_COMPRESSING && accepts(request, 'gzip')) {
    body = await compress(body, { level: 5 })
    response.setHeader('content-encoding', 'gzip')
  }
  response.setHeader('content-length', body.length)
  response.writeHead(status).end(request.method === 'HEAD' ? undefined : body)
}

export function sendFile(request: IncomingMessage, response: ServerResponse, file: PageFile): void {
  response.setHeader('content-type', file.type)
  response.setHeader('etag', file.etag)
  response.setHeader('vary', 'accept-encoding')
  response.setHeader('cache-control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
  if (request.headers['if-none-match'] === file.etag) {
    response.writeHead(304).end()
    return
  }
  const encoding = accepts(request, 'br') ? 'br' : accepts(request, 'gzip') ? 'gzip' : undefined
  const body = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : file.plain
  if (encoding !== undefined) response.setHeader('content-encoding', encoding)
  response.setHeader('content-length', body.length)
  response.writeHead(200).end(request.method === 'HEAD' ? undefined : body)
}

function accepts(request: IncomingMessage, encoding: string): boolean {
  const header = request.headers['accept-encoding']
  return String(header ?? '')
    .split(',')
    .some((part) => part.trim().toLowerCase().split(';')[0] === encoding)
}
