import type { IncomingMessage } from 'node:http'
import { Declined } from './api/route.ts'

/** Returns the body, or 413 as soon as it is too long: by its announced or its real length. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLong = () => new Declined(413, 'too-large', `More than ${maxBytes} bytes are not taken.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
