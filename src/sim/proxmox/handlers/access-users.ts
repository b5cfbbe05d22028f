import { may } from '../../world/access.ts'
import { uuid } from '../../world/chance.ts'
import type { Token, User } from '../../world/types.ts'
import { badParameter, failed, forbidden } from '../api-error.ts'
import { type Call, param, type Routes } from '../call.ts'

const AT = '/access/users/{userid}'

export const accessUserRoutes: Routes = {
  'GET /access/users': (call) =>
    [...call.world.access.users]
      .filter(
        ([userid]) =>
          userid === call.who.id ||
          may(call.world, call.who, '/access/groups', 'User.Modify') ||
          may(call.world, call.who, '/access/groups', 'Sys.Audit'),
      )
      .map(([userid, user]) => ({
        userid,
        'realm-type': userid.replace(/^.*@/, ''),
        ...shown(user),
      })),
  'POST /access/users': create,
  [`GET ${AT}`]: (call) => ({ ...shown(needUser(call)), groups: [], tokens: tokenTable(needUser(call)) }),
  [`PUT ${AT}`]: (call) => {
    const user = needUser(call)
    if (call.params.enable !== undefined) user.enable = call.params.enable === '1'
    if (call.params.expire !== undefined) user.expireSeconds = Number(call.params.expire)
    return null
  },
  [`DELETE ${AT}`]: (call) => {
    const id = param(call, 'userid')
    needUser(call)
    // Root can be deleted; it stays all the same.
    if (id !== 'root@pam') call.world.access.users.delete(id)
    changed(call)
    return null
  },
  [`GET ${AT}/token`]: (call) =>
    Object.entries(tokenTable(tokenOwner(call))).map(([tokenid, token]) => ({ tokenid, ...token })),
  [`POST ${AT}/token/{tokenid}`]: createToken,
  [`GET ${AT}/token/{tokenid}`]: (call) => tokenRow(needToken(call)),
  [`PUT ${AT}/token/{tokenid}`]: (call) => {
    const token = needToken(call)
    if (call.params.expire !== undefined) token.expireSeconds = Number(call.params.expire)
    if (call.params.privsep !== undefined) token.privsep = call.params.privsep === '1'
    changed(call)
    return tokenRow(token)
  },
  [`DELETE ${AT}/token/{tokenid}`]: (call) => {
    needToken(call)
    needUser(call).tokens.delete(param(call, 'tokenid'))
    changed(call)
    return null
  },
}

function changed(call: Call): void {
  call.world.access.version += 1
}

function shown(user: User): Record<string, unknown> {
  return {
    enable: user.enable ? 1 : 0,
    expire: user.expireSeconds,
    ...(user.comment === undefined ? {} : { comment: user.comment }),
  }
}

function needUser(call: Call): User {
  const user = call.world.access.users.get(param(call, 'userid'))
  if (user === undefined) throw failed(`no such user ('${param(call, 'userid')}')`)
  return user
}

function create(call: Call): null {
  const { world, params } = call
  const id = param(call, 'userid')
  if (world.access.users.has(id)) throw failed(`create user failed: user '${id}' already exists`)
  world.access.users.set(id, {
    password: params.password,
    enable: params.enable !== '0',
    expireSeconds: Number(params.expire ?? 0),
    tokens: new Map(),
    ...(params.comment === undefined ? {} : { comment: params.comment }),
  })
  changed(call)
  return null
}

/** The tokens of a user who is not there are not missing, they are forbidden. */
function tokenOwner(call: Call): User {
  const user = call.world.access.users.get(param(call, 'userid'))
  if (user === undefined) throw forbidden(`/access/groups, User.Modify`)
  return user
}

function needToken(call: Call): Token {
  const id = param(call, 'tokenid')
  const token = tokenOwner(call).tokens.get(id)
  if (token === undefined) throw failed(`no such token '${id}' for user '${param(call, 'userid')}'`)
  return token
}

function tokenRow(token: Token): Record<string, unknown> {
  const comment = token.comment === undefined ? {} : { comment: token.comment }
  return { expire: token.expireSeconds, privsep: token.privsep ? 1 : 0, ...comment }
}

function tokenTable(user: User): Record<string, Record<string, unknown>> {
  return Object.fromEntries([...user.tokens].map(([id, token]) => [id, tokenRow(token)]))
}

/** The secret is shown here and never again. */
function createToken(call: Call): Record<string, unknown> {
  const { params, world } = call
  const user = tokenOwner(call)
  const id = param(call, 'tokenid')
  if (user.tokens.has(id)) throw badParameter('tokenid', 'Token already exists.')
  const secret = uuid(world.random)
  const privsep = params.privsep ?? '1'
  user.tokens.set(id, {
    secret,
    privsep: privsep === '1',
    expireSeconds: Number(params.expire ?? 0),
    ...(params.comment === undefined ? {} : { comment: params.comment }),
  })
  changed(call)
  const info = { privsep, ...(params.expire === undefined ? {} : { expire: Number(params.expire) }) }
  return { 'full-tokenid': `${param(call, 'userid')}!${id}`, value: secret, info }
}
