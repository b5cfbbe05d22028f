import { uuid } from '../../../world/chance.ts'
import type { Token, User } from '../../../world/parts.ts'
import { badParameter, failed, forbidden } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { deletions } from '../collection.ts'

const AT = '/access/users/{userid}/token'

export const accessTokenRoutes: Routes = {
  [`GET ${AT}`]: (call) =>
    Object.entries(tokenTable(owner(call)) ?? {}).map(([tokenid, token]) => ({ tokenid, ...token })),
  [`POST ${AT}/{tokenid}`]: create,
  [`GET ${AT}/{tokenid}`]: (call) => tokenRow(needToken(call)),
  [`PUT ${AT}/{tokenid}`]: update,
  [`DELETE ${AT}/{tokenid}`]: (call) => {
    const { access } = call.world
    needToken(call)
    owner(call).tokens.delete(param(call, 'tokenid'))
    const left = access.acl.filter((entry) => entry.ugid !== fullId(call))
    access.acl.splice(0, access.acl.length, ...left)
    access.version += 1
    return null
  },
}

/** The tokens of a user who is not there are not missing, they are forbidden; but not to root. */
function owner(call: Call): User {
  const user = call.world.access.users.get(param(call, 'userid'))
  if (user !== undefined) return user
  if (call.who.id === 'root@pam') throw failed(`no such user ('${param(call, 'userid')}')`)
  throw forbidden('/access/groups, User.Modify')
}

function needToken(call: Call): Token {
  const id = param(call, 'tokenid')
  const token = owner(call).tokens.get(id)
  if (token === undefined) throw failed(`no such token '${id}' for user '${param(call, 'userid')}'`)
  return token
}

function fullId(call: Call): string {
  return `${param(call, 'userid')}!${param(call, 'tokenid')}`
}

function tokenRow(token: Token): Record<string, unknown> {
  const comment = token.comment === undefined ? {} : { comment: token.comment }
  return { expire: token.expireSeconds, privsep: token.privsep ? 1 : 0, ...comment }
}

export function tokenTable(user: User): Record<string, Record<string, unknown>> | null {
  if (user.tokens.size === 0) return null
  return Object.fromEntries(
    [...user.tokens].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, token]) => [id, tokenRow(token)]),
  )
}

/** Answers to a write carry what was sent as it was sent: as text. */
function sent(call: Call): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const key of ['comment', 'expire', 'privsep']) {
    if (call.params[key] !== undefined) result[key] = call.params[key]
  }
  return result
}

/** The secret is shown here and never again. */
function create(call: Call): Record<string, unknown> {
  const { params, world } = call
  const user = owner(call)
  const id = param(call, 'tokenid')
  if (user.tokens.has(id)) throw badParameter('tokenid', 'Token already exists.')
  const secret = uuid(world.random)
  user.tokens.set(id, {
    secret,
    privsep: params.privsep !== '0',
    expireSeconds: Number(params.expire ?? 0),
    ...(params.comment === undefined ? {} : { comment: params.comment }),
  })
  world.access.version += 1
  return { 'full-tokenid': fullId(call), value: secret, info: { privsep: 1, ...sent(call) } }
}

function update(call: Call): Record<string, unknown> {
  const { params, world } = call
  const token = needToken(call)
  if (params.expire !== undefined) token.expireSeconds = Number(params.expire)
  if (params.privsep !== undefined) token.privsep = params.privsep === '1'
  if (params.comment !== undefined) token.comment = params.comment
  for (const key of deletions(call)) {
    if (key !== 'comment')
      throw failed(`updating token info failed: 400 Parameter verification failed.\ndelete: unknown option '${key}'`)
    delete token.comment
  }
  if (token.comment === '') delete token.comment
  world.access.version += 1
  const answer = { ...tokenRow(token), ...sent(call) }
  if (!flag(call, 'regenerate')) return answer
  token.secret = uuid(world.random)
  return { ...answer, 'full-tokenid': fullId(call), value: token.secret }
}
