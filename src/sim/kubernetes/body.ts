import { parse } from 'yaml'
import type { WireRequest } from '../../lib/wire.ts'
import { ApiStatus } from './status.ts'

/** The body as the client sent it: JSON, or YAML where that is said. */
export function bodyOf(request: WireRequest): unknown {
  const { body } = request
  const text = body === undefined ? '' : typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  if (text.trim() === '') return undefined
  try {
    return text.trimStart().startsWith('{') || text.trimStart().startsWith('[') ? JSON.parse(text) : parse(text)
  } catch {
    throw new ApiStatus(400, 'BadRequest', 'the body of the request could not be read')
  }
}
