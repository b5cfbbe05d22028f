import { type Identity, inheritedBelow, may, privilegesAt } from '../../../world/access.ts'
import { hexDigits } from '../../../world/chance.ts'
import type { World } from '../../../world/types.ts'
import { ApiError, forbidden } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { isGoodFor } from '../../terminals.ts'
import { splitList } from '../../validate/formats/format.ts'
import { entriesOf } from './tfa.ts'

export const accessRoutes: Routes = {
  'GET /access': () =>
    ['users', 'groups', 'roles', 'acl', 'domains', 'openid', 'tfa', 'ticket', 'password'].map((subdir) => ({ subdir })),
  'POST /access/ticket': login,
  'GET /access/ticket': () => null,
  'POST /access/vncticket': checkScreenTicket,
  'GET /access/permissions': permissions,
}

const TICKET_LIFE_MS = 2 * 3_600_000
const CAPABILITY_PATHS = {
  vms: '/vms',
  storage: '/storage',
  access: '/access',
  nodes: '/nodes',
  dc: '/',
  sdn: '/sdn',
  mapping: '/mapping',
}
const CAPABILITIES: Readonly<Record<string, RegExp>> = {
  vms: /^(VM\.|Permissions\.Modify)/,
  storage: /^(Datastore\.|Permissions\.Modify)/,
  access: /^(User\.Modify|Group\.Allocate|Permissions\.Modify)/,
  nodes: /^(Sys\.|Permissions\.Modify)/,
  dc: /^(Sys\.Audit|Sys\.Modify|SDN\.)/,
  sdn: /^(SDN\.|Permissions\.Modify)/,
  mapping: /^(Mapping\.|Permissions\.Modify)/,
}

/** A ticket may stand in for the password: that is how it is renewed. */
function login(call: Call): Record<string, unknown> {
  const { world, params } = call
  const realm = params.realm === undefined || param(call, 'username').includes('@') ? '' : `@${params.realm}`
  const username = `${param(call, 'username')}${realm}`
  const user = world.access.users.get(username)
  const old = world.access.tickets.get(param(call, 'password'))
  // Root may speak for everybody.
  const renews =
    old !== undefined && (old.user === username || old.user === 'root@pam') && old.expiresMs > world.clock.now()
  const knows = user?.password !== undefined && user.password === param(call, 'password')
  if (user === undefined || !user.enable || !(renews || knows)) throw new ApiError(401, 'authentication failure')
  const who: Identity = { id: username, user: username, token: undefined }
  const { path, privs } = params
  if (path !== undefined && privs !== undefined) {
    const wanted = splitList(privs)
    // Who asks whether somebody may do something is told so, and gets no ticket.
    if (wanted.length === 0 || !path.startsWith('/') || !wanted.every((privilege) => may(world, who, path, privilege)))
      throw new ApiError(401, 'authentication failure')
    return { username, cap: capabilities(world, who) }
  }
  const stamp = Math.floor(world.clock.now() / 1000)
    .toString(16)
    .toUpperCase()
  const ticket = `PVE:${username}:${stamp}::${hexDigits(world.random, 64)}`
  const csrf = `${stamp}:${hexDigits(world.random, 43)}`
  if (entriesOf(world.shelves.get('tfa')?.get(username)).length > 0) {
    // The password was right; the ticket is good for nothing but the second step.
    return { username, ticket: `PVE:!tfa!${ticket.slice(4)}`, CSRFPreventionToken: csrf, NeedTFA: 1 }
  }
  world.access.tickets.set(ticket, { user: username, csrf, expiresMs: world.clock.now() + TICKET_LIFE_MS })
  return { username, ticket, CSRFPreventionToken: csrf, cap: capabilities(world, who) }
}

/** What somebody may do, in the areas that a page shows. */
function capabilities(world: World, who: Identity): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(CAPABILITY_PATHS).map(([area, path]) => {
      const has = [...privilegesAt(world, who, path)].filter((privilege) => CAPABILITIES[area]?.test(privilege))
      return [area, Object.fromEntries(has.map((privilege) => [privilege, 1]))]
    }),
  )
}

/** Whether a ticket for a screen is good, for the program behind the screen. */
function checkScreenTicket(call: Call): null {
  const { world, params } = call
  const id = param(call, 'authid')
  const [user = id, name = ''] = id.split('!')
  const token = world.access.users.get(user)?.tokens.get(name)
  const path = param(call, 'path')
  const good = isGoodFor(world, param(call, 'vncticket'), id, path, params.port)
  const wanted = splitList(param(call, 'privs'))
  if (!good || wanted.length === 0 || !wanted.every((privilege) => may(world, { id, user, token }, path, privilege)))
    throw new ApiError(401, 'authentication failure')
  return null
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
