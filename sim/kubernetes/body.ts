import type { WireRequest } from '../../src/lib/wire.ts'
import { yamlLibrary } from '../../src/lib/yaml-library.ts'
import { objectFromProtobuf } from './protobuf.ts'
import { ApiStatus } from './status.ts'

const PROTOBUF = 'application/vnd.kubernetes.protobuf'

/** The media type of what was sent, without its parameters. */
export function mediaTypeOf({ headers }: WireRequest): string {
  return (headers['content-type'] ?? headers['Content-Type'] ?? '').split(';')[0]?.trim() ?? ''
}

/** The body as the client sent it: JSON, YAML, or Protocol Buffers where that is said. */
export function bodyOf(request: WireRequest): unknown {
  const { body } = request
  const type = mediaTypeOf(request)
  if (body === undefined || body.length === 0) return undefined
  if (type === PROTOBUF) return objectFromProtobuf(Buffer.from(body)) ?? unknownFormat(READ)
  if (!/^$|json|yaml/.test(type)) return unknownFormat(READ)
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  if (text.trim() === '') return undefined
  try {
    return text.trimStart().startsWith('{') || text.trimStart().startsWith('[')
      ? JSON.parse(text)
      : yamlLibrary().parse(text)
  } catch {
    throw new ApiStatus(400, 'BadRequest', 'the body of the request could not be read')
  }
}

const READ = ['application/json', 'application/yaml', PROTOBUF]

/** In the words of the real server. */
export function unknownFormat(accepted: readonly string[]): never {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  throw new ApiStatus(415, 'UnsupportedMediaType', message, {})
}
