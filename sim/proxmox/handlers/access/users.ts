import { may } from '../../../world/access.ts'
import type { User } from '../../../world/parts.ts'
import { failed, forbidden } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { confirm } from './confirm.ts'
import { tokenTable } from './tokens.ts'

const AT = '/access/users/{userid}'

export const accessUserRoutes: Routes = {
  'GET /access/users': list,
  'POST /access/users': create,
  [`GET ${AT}`]: (call) => {
    const user = needUser(call)
    return { ...shown(user), groups: groupsOf(call, param(call, 'userid')), tokens: tokenTable(user) }
  },
  [`PUT ${AT}`]: update,
  [`DELETE ${AT}`]: remove,
  'PUT /access/password': (call) => {
    const user = needUser(call)
    const userid = param(call, 'userid')
    confirm(call, 'confirmation-password')
    // Only root and the user itself may change an account of the host.
    if (userid.endsWith('@pam') && call.who.id !== 'root@pam' && call.who.id !== userid) throw forbidden()
    refuseUnknownAccount(userid, '')
    user.password = param(call, 'password')
    return null
  },
}

function list(call: Call): unknown[] {
  const { world, who, params } = call
  const at = (path: string) => ['User.Modify', 'Sys.Audit'].some((privilege) => may(world, who, path, privilege))
  // All users, or the members of groups that the caller may modify.
  const all = at('/access/groups')
  const sees = (userid: string) =>
    userid === who.id || all || groupsOf(call, userid).some((group) => at(`/access/groups/${group}`))
  return [...world.access.users]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .filter(([userid, user]) => sees(userid) && (params.enabled === undefined || user.enable === flag(call, 'enabled')))
    .map(([userid, user]) => ({
      userid,
      ...realmType(call, userid.replace(/^.*@/, '')),
      ...shown(user),
      ...(flag(call, 'full') ? { groups: groupsOf(call, userid).join(','), tokens: tokenList(user) } : {}),
    }))
}

/** A user may be of a realm that is not there. */
function realmType(call: Call, realm: string): { 'realm-type'?: string } {
  const type = call.world.shelves.get('realms')?.get(realm)?.type ?? (/^(pam|pve)$/.test(realm) ? realm : undefined)
  return typeof type === 'string' ? { 'realm-type': type } : {}
}

function tokenList(user: User): unknown {
  const table = tokenTable(user)
  return table === null ? null : Object.entries(table).map(([tokenid, token]) => ({ tokenid, ...token }))
}

export function groupsOf(call: Call, userid: string): string[] {
  return [...call.world.access.groups].filter(([, group]) => group.users.has(userid)).map(([id]) => id)
}

const DETAILS = ['comment', 'email', 'firstname', 'lastname', 'keys'] as const

function shown(user: User): Record<string, unknown> {
  const { comment, keys } = user.details
  // A line of the file says nothing about an address, but for what stands behind it.
  const behind = comment !== undefined || keys !== undefined
  return { enable: user.enable ? 1 : 0, expire: user.expireSeconds, ...(behind ? { email: '' } : {}), ...user.details }
}

export function needUser(call: Call, prefix = ''): User {
  const user = call.world.access.users.get(param(call, 'userid'))
  if (user === undefined) throw failed(`${prefix}no such user ('${param(call, 'userid')}')`)
  return user
}

/** Words about a person are kept as they come; an empty one takes the old one away. */
function setDetails(call: Call, user: User): void {
  for (const key of DETAILS) {
    const value = call.params[key]
    if (value === undefined) continue
    if (value === '') delete user.details[key]
    else user.details[key] = value
  }
}

function setGroups(call: Call, userid: string, refusal: string): void {
  const { groups } = call.world.access
  if (call.params.groups === undefined) return
  const wanted = call.params.groups.split(/[,;\s]+/).filter((id) => id !== '')
  for (const id of wanted) if (!groups.has(id)) throw failed(`${refusal}no such group '${id}'`)
  for (const [id, group] of groups) {
    if (wanted.includes(id)) group.users.add(userid)
    else if (!flag(call, 'append')) group.users.delete(userid)
  }
}

function create(call: Call): null {
  const { world, params } = call
  const id = param(call, 'userid')
  if (world.access.users.has(id)) throw failed(`create user failed: user '${id}' already exists`)
  const user: User = {
    password: params.password,
    enable: params.enable !== '0',
    expireSeconds: Number(params.expire ?? 0),
    tokens: new Map(),
    details: {},
  }
  if (params.password !== undefined) {
    refuseForeignPassword(call, id.replace(/^.*@/, ''), 'create user failed: ')
    refuseUnknownAccount(id, 'create user failed: ')
  }
  setGroups(call, id, 'create user failed: ')
  setDetails(call, user)
  world.access.users.set(id, user)
  world.access.version += 1
  return null
}

/** Passwords of people whom another system knows are kept there. */
function refuseForeignPassword(call: Call, realm: string, prefix: string): void {
  const type = realmType(call, realm)['realm-type']
  if (type === undefined) throw failed(`${prefix}auth domain '${realm}' does not exist`)
  if (type !== 'pam' && type !== 'pve') throw failed(`${prefix}can't set password on auth type '${type}'`)
}

/** Passwords of the realm `pam` are those of the host's own accounts, and root's is the only one there. */
function refuseUnknownAccount(userid: string, prefix: string): void {
  const account = /^(.*)@pam$/.exec(userid)?.[1]
  if (account !== undefined && account !== 'root')
    throw failed(`${prefix}change password failed: user '${account}' does not exist`)
}

function update(call: Call): null {
  // Root needs no right on the user, so no earlier check found that the user is missing.
  const user = needUser(call, call.who.id === 'root@pam' ? 'update user failed: ' : '')
  setGroups(call, param(call, 'userid'), 'update user failed: ')
  setDetails(call, user)
  if (call.params.enable !== undefined) user.enable = call.params.enable === '1'
  if (call.params.expire !== undefined) user.expireSeconds = Number(call.params.expire)
  call.world.access.version += 1
  return null
}

/** Deletes a user with its rights and tokens. A call that deletes root succeeds and changes nothing. */
function remove(call: Call): null {
  const { access } = call.world
  const id = param(call, 'userid')
  if (call.who.id !== 'root@pam') needUser(call)
  for (const group of access.groups.values()) group.users.delete(id)
  const left = access.acl.filter((entry) => entry.ugid !== id && !entry.ugid.startsWith(`${id}!`))
  access.acl.splice(0, access.acl.length, ...left)
  if (id !== 'root@pam') access.users.delete(id)
  access.version += 1
  return null
}
