import type { WireRequest } from '../../src/lib/wire.ts'
import type { Identity } from '../world/access.ts'
import type { World } from '../world/types.ts'
import { header } from './decode.ts'

/** Who sent the request, or the text of the refusal. The body of such an answer is empty: only the status line tells. */
export function authenticate(world: World, request: WireRequest, method: string): Identity | string {
  const authorization = header(request, 'authorization')
  if (authorization !== undefined) return byToken(world, authorization) ?? 'Authentication failed!'
  const cookie = /(?:^|;\s*)PVEAuthCookie=([^;]*)/.exec(header(request, 'cookie') ?? '')?.[1]
  if (cookie === undefined) return 'No ticket'
  const ticket = world.access.tickets.get(decodeURIComponent(cookie))
  if (ticket === undefined || ticket.expiresMs <= world.clock.now()) return 'permission denied - invalid PVE ticket'
  if (method !== 'GET' && header(request, 'csrfpreventiontoken') !== ticket.csrf) {
    return 'Permission denied - invalid csrf token'
  }
  return { id: ticket.user, user: ticket.user, token: undefined }
}

function byToken(world: World, authorization: string): Identity | undefined {
  const match = /^PVEAPIToken=(([^!]+)!([^=]+))=(.+)$/.exec(authorization)
  if (match === null) return undefined
  const [, id = '', userId = '', name = '', secret] = match
  const user = world.access.users.get(userId)
  const token = user?.tokens.get(name)
  const nowSeconds = world.clock.now() / 1000
  if (user === undefined || token === undefined || !user.enable || token.secret !== secret) return undefined
  const expired = (at: number) => at > 0 && at <= nowSeconds
  if (expired(user.expireSeconds) || expired(token.expireSeconds)) return undefined
  return { id, user: userId, token }
}
