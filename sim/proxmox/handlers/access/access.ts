import { type Identity, inheritedBelow, may, privilegesAt } from '../../../world/access.ts'
import { hexDigits } from '../../../world/chance.ts'
import type { World } from '../../../world/types.ts'
import { ApiError, forbidden } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { splitList } from '../../validate/formats/format.ts'
import { clusterName } from '../cluster/cluster-name.ts'
import { capabilities } from './capabilities.ts'

export const accessRoutes: Routes = {
  'GET /access': () =>
    ['users', 'groups', 'roles', 'acl', 'domains', 'openid', 'tfa', 'ticket', 'password'].map((subdir) => ({ subdir })),
  'POST /access/ticket': login,
  'GET /access/ticket': () => null,
  'GET /access/permissions': permissions,
}

const TICKET_LIFE_MS = 2 * 3_600_000
/** Answers every refusal in the same words, so that a caller cannot learn which users exist. */
function login(call: Call): Record<string, unknown> {
  const { world, params } = call
  const realm = params.realm === undefined || param(call, 'username').includes('@') ? '' : `@${params.realm}`
  const username = `${param(call, 'username')}${realm}`
  const user = world.access.users.get(username)
  const nowSeconds = Math.floor(world.clock.now() / 1000)
  const expired = user !== undefined && user.expireSeconds > 0 && user.expireSeconds < nowSeconds
  if (user === undefined || !user.enable || expired) throw noEntry()
  const who: Identity = { id: username, user: username, token: undefined }
  const { path, privs } = params
  if (path !== undefined && privs !== undefined) {
    firstStep(call, username)
    const wanted = splitList(privs)
    // A call that asks for privileges is told whether the user has them, and gets no ticket.
    if (wanted.length === 0 || !path.startsWith('/') || !wanted.every((privilege) => may(world, who, path, privilege)))
      throw noEntry()
    return { username, cap: capabilities(world, who), ...nameOfCluster(world, who) }
  }
  // No user has a second factor here, so a code for one is as wrong as a wrong password.
  if (firstStep(call, username) === 'password' && params.otp !== undefined) throw noEntry()
  const stamp = nowSeconds.toString(16).toUpperCase()
  const csrf = `${stamp}:${hexDigits(world.random, 43)}`
  const ticket = `PVE:${username}:${stamp}::${hexDigits(world.random, 64)}`
  world.access.tickets.set(ticket, { user: username, csrf, expiresMs: world.clock.now() + TICKET_LIFE_MS })
  return { username, ticket, CSRFPreventionToken: csrf, ...nameOfCluster(world, who), cap: capabilities(world, who) }
}

const noEntry = () => new ApiError(401, 'authentication failure')

/** A ticket may stand in for the password: that is how it is renewed. Root may speak for everybody. */
function firstStep(call: Call, username: string): 'ticket' | 'password' {
  const { world } = call
  const password = param(call, 'password')
  const old = world.access.tickets.get(password)
  if (old !== undefined && (old.user === username || old.user === 'root@pam') && old.expiresMs > world.clock.now())
    return 'ticket'
  const known = world.access.users.get(username)?.password
  if (known === undefined || known !== password) throw noEntry()
  return 'password'
}

function nameOfCluster(world: World, who: Identity): { clustername?: string } {
  const clustername = clusterName(world)
  return clustername !== undefined && may(world, who, '/', 'Sys.Audit') ? { clustername } : {}
}

const TOP_PATHS = ['/', '/access', '/access/groups', '/nodes', '/pool', '/sdn', '/storage', '/vms']

/** What an identity may do, by path; 0 where the right comes from a pool and reaches no further. */
function permissions(call: Call): Record<string, unknown> {
  const { world, params } = call
  const other = params.userid !== undefined && params.userid !== call.who.id
  if (other && !may(world, call.who, '/access', 'Sys.Audit')) throw forbidden('/access, Sys.Audit')
  const who = params.userid === undefined ? call.who : identityOf(call, params.userid)
  const at = (path: string): Record<string, unknown> => {
    // What is no path has nothing, not even what is everywhere.
    if (who === undefined || !path.startsWith('/')) return {}
    const own = inheritedBelow(world, who, path)
    return Object.fromEntries(
      [...privilegesAt(world, who, path)].map((privilege) => [privilege, own.has(privilege) ? 1 : 0]),
    )
  }
  if (params.path !== undefined) return { [params.path]: at(params.path) }
  const rows = [...knownPaths(call)].map((path) => [path, at(path)] as const)
  return Object.fromEntries(rows.filter(([, privileges]) => Object.keys(privileges).length > 0))
}

/** The top ones, those that rights were set on with all above them, and pools with their members. */
function knownPaths(call: Call): Set<string> {
  const paths = new Set(TOP_PATHS)
  for (const { path } of call.world.access.acl) {
    for (let at = path; at !== ''; at = at.replace(/\/[^/]*$/, '')) paths.add(at)
  }
  for (const pool of call.world.pools.values()) {
    for (const vmid of pool.guests) paths.add(`/vms/${vmid}`)
    for (const storage of pool.storages) paths.add(`/storage/${storage}`)
  }
  return paths
}

function identityOf(call: Call, id: string): Identity | undefined {
  const [user = '', name] = id.split('!')
  const found = call.world.access.users.get(user)
  const token = name === undefined ? undefined : found?.tokens.get(name)
  if (found === undefined || (name !== undefined && token === undefined)) return undefined
  return { id, user, token }
}
