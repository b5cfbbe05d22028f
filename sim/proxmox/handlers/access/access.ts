import { type Identity, inheritedBelow, may, privilegesAt } from '../../../world/access.ts'
import { hexDigits } from '../../../world/chance.ts'
import { noteInLog } from '../../../world/cluster-log.ts'
import type { World } from '../../../world/types.ts'
import { ApiError, forbidden } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { isGoodFor } from '../../terminals.ts'
import { splitList } from '../../validate/formats/format.ts'
import { clusterName } from '../cluster/cluster-name.ts'
import { shelf, type Thing } from '../shelf.ts'
import { capabilities } from './capabilities.ts'
import { challengeFor, isAnswered, seconds } from './second-factor.ts'

export const accessRoutes: Routes = {
  'GET /access': () =>
    ['users', 'groups', 'roles', 'acl', 'domains', 'openid', 'tfa', 'ticket', 'password'].map((subdir) => ({ subdir })),
  'POST /access/ticket': login,
  'GET /access/ticket': () => null,
  'POST /access/vncticket': checkScreenTicket,
  'GET /access/permissions': permissions,
}

const TICKET_LIFE_MS = 2 * 3_600_000
/** Every refusal is the same, so that nobody learns from it who there is. */
function login(call: Call): Record<string, unknown> {
  const { world, params } = call
  const realm = params.realm === undefined || param(call, 'username').includes('@') ? '' : `@${params.realm}`
  const username = `${param(call, 'username')}${realm}`
  const user = world.access.users.get(username)
  const expired = user !== undefined && user.expireSeconds > 0 && user.expireSeconds < seconds(world)
  if (user === undefined || !user.enable || expired) throw noEntry()
  const who: Identity = { id: username, user: username, token: undefined }
  const { path, privs } = params
  if (path !== undefined && privs !== undefined) {
    firstStep(call, username)
    const wanted = splitList(privs)
    // Who asks whether somebody may do something is told so, and gets no ticket.
    if (wanted.length === 0 || !path.startsWith('/') || !wanted.every((privilege) => may(world, who, path, privilege)))
      throw noEntry()
    noteLogin(world, username)
    return { username, cap: capabilities(world, who), ...nameOfCluster(world, who) }
  }
  const challenge = steps(call, username)
  noteLogin(world, username)
  const stamp = seconds(world).toString(16).toUpperCase()
  const csrf = `${stamp}:${hexDigits(world.random, 43)}`
  const about = challenge === undefined ? username : `!tfa!${JSON.stringify(challenge)}`
  const ticket = `PVE:${about.replaceAll(':', '%3A')}:${stamp}::${hexDigits(world.random, 64)}`
  const expiresMs = world.clock.now() + TICKET_LIFE_MS
  const given = { username, ticket, CSRFPreventionToken: csrf, ...nameOfCluster(world, who) }
  if (challenge !== undefined) {
    // The password was right; the ticket is good for nothing but the second step.
    shelf(world, HALF_TICKETS).set(ticket, { username, expiresMs })
    return { ...given, NeedTFA: 1 }
  }
  world.access.tickets.set(ticket, { user: username, csrf, expiresMs })
  return { ...given, cap: capabilities(world, who) }
}

function noteLogin(world: World, username: string): void {
  noteInLog(world, undefined, 'root@pam', `successful auth for user '${username}'`)
}

const HALF_TICKETS = 'half-tickets'
const noEntry = () => new ApiError(401, 'authentication failure')

/** The first step, the second, or both in one call. Answers what must be answered next, if anything. */
function steps(call: Call, username: string): Thing | undefined {
  const { world, params } = call
  const { otp, 'tfa-challenge': half } = params
  if (half !== undefined) {
    const known = shelf(world, HALF_TICKETS).get(half)
    const good = known?.username === username && Number(known.expiresMs) > world.clock.now()
    if (otp !== undefined || !good || !isAnswered(world, username, param(call, 'password'))) throw noEntry()
    return undefined
  }
  if (firstStep(call, username) === 'ticket') return undefined
  const challenge = challengeFor(world, username)
  if (otp === undefined) return challenge
  if (challenge === undefined || !isAnswered(world, username, otp)) throw noEntry()
  return undefined
}

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
