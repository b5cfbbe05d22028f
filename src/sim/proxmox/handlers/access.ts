import { type Identity, privilegesAt } from '../../world/access.ts'
import { hexDigits } from '../../world/chance.ts'
import { ApiError, forbidden } from '../api-error.ts'
import { type Call, param, type Routes } from '../call.ts'

export const accessRoutes: Routes = {
  'GET /access': () =>
    ['users', 'groups', 'roles', 'acl', 'domains', 'openid', 'tfa', 'ticket', 'password'].map((subdir) => ({ subdir })),
  'POST /access/ticket': login,
  'GET /access/ticket': () => null,
  'GET /access/domains': () => [
    { realm: 'pam', type: 'pam', comment: 'Linux PAM standard authentication' },
    { realm: 'pve', type: 'pve', comment: 'Proxmox VE authentication server' },
  ],
  'GET /access/groups': (call) =>
    [...call.world.access.groups].map(([groupid, group]) => ({ groupid, users: [...group.users].join(',') })),
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
  const renews = old !== undefined && old.user === username && old.expiresMs > world.clock.now()
  const knows = user?.password !== undefined && user.password === param(call, 'password')
  if (user === undefined || !user.enable || !(renews || knows)) throw new ApiError(401, 'authentication failure')
  const stamp = Math.floor(world.clock.now() / 1000)
    .toString(16)
    .toUpperCase()
  const ticket = `PVE:${username}:${stamp}::${hexDigits(world.random, 64)}`
  const csrf = `${stamp}:${hexDigits(world.random, 43)}`
  world.access.tickets.set(ticket, { user: username, csrf, expiresMs: world.clock.now() + TICKET_LIFE_MS })
  const who: Identity = { id: username, user: username, token: undefined }
  const cap = Object.fromEntries(
    Object.entries(CAPABILITY_PATHS).map(([area, path]) => {
      const has = [...privilegesAt(world, who, path)].filter((privilege) => CAPABILITIES[area]?.test(privilege))
      return [area, Object.fromEntries(has.map((privilege) => [privilege, 1]))]
    }),
  )
  return { username, ticket, CSRFPreventionToken: csrf, cap }
}

const TOP_PATHS = ['/', '/access', '/access/groups', '/nodes', '/pool', '/sdn', '/storage', '/vms']

/** What an identity may do, by path: the top ones, and those that rights were set on. */
function permissions(call: Call): Record<string, unknown> {
  const { world, params } = call
  const who = params.userid === undefined ? call.who : identityOf(call, params.userid)
  const paths =
    params.path === undefined
      ? [...new Set([...TOP_PATHS, ...world.access.acl.map((entry) => entry.path)])]
      : [params.path]
  const result: Record<string, unknown> = {}
  for (const path of paths) {
    const privileges = [...privilegesAt(world, who, path)]
    if (privileges.length > 0) result[path] = Object.fromEntries(privileges.map((privilege) => [privilege, 1]))
  }
  return result
}

function identityOf(call: Call, id: string): Identity {
  const [user = '', token] = id.split('!')
  const found = call.world.access.users.get(user)
  if (found === undefined) throw forbidden(`/access, Sys.Audit`)
  return { id, user, token: token === undefined ? undefined : found.tokens.get(token) }
}
