import { userNameError } from './formats/access.ts'
import type { Operation } from './operations.ts'

/** Who may call an operation. */
export type Permission =
  | { readonly kind: 'world' | 'login' | 'root' | 'self' }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Permission[] }
  | {
      readonly kind: 'privileges'
      /** Filled in from the parameters: `/vms/{vmid}`. */
      readonly path: string
      readonly privileges: readonly string[]
      readonly need: 'all' | 'any'
      /** Counts only when this parameter is given. */
      readonly onlyWith?: string
    }
  /** The privilege on the realm of the user in question. */
  | { readonly kind: 'realm-of-user'; readonly privilege: string }
  /** Any of the privileges on all groups, or on the groups the user in question is in or is put into. */
  | {
      readonly kind: 'groups-of-user'
      readonly privileges: readonly string[]
      readonly groups?: 'create' | 'update'
    }
  /** The right to change who may do what on a path. */
  | { readonly kind: 'modify-access'; readonly path: string }

/** What must be known of the one who asks, and of users and groups, to decide. */
export interface Asker {
  /** `root@pam`, `ann@pve`, `ann@pve!token`; undefined without a login. */
  readonly id: string | undefined
  privilegesAt(path: string): ReadonlySet<string>
  userExists(userid: string): boolean
  groups(): readonly string[]
  membersOf(group: string): readonly string[]
}

/** `message` without the newline that the daemon ends it with. 500 is for what it cannot even read. */
export interface Refusal {
  readonly status: 403 | 500
  readonly message: string
}

export function permissionOf(operation: Operation): Permission {
  return parsePermission(operation.permission)
}

/** Whether the daemon lets the one who asks call an operation; what the operation itself looks at comes later. */
export function allowed(
  permission: Permission,
  params: Readonly<Record<string, unknown>>,
  asker: Asker,
): true | Refusal {
  if (permission.kind === 'world') return true
  if (asker.id === undefined) return denied('user == null')
  if (asker.id === 'root@pam' || permission.kind === 'login') return true
  if (permission.kind === 'root') return denied('user != root@pam')
  return decide(permission, params, asker)
}

/** An operation that wants a login ticket refuses every token, root's too. */
export function refusesToken(operation: Operation, path: string): true | Refusal {
  if (operation.tokenAllowed) return true
  return denied(`URI '${path}' not available with API token, need proper ticket.\n`)
}

export function parsePermission(text: string): Permission {
  if (text === 'world') return { kind: 'world' }
  if (text === 'all') return { kind: 'login' }
  if (text === 'root') return { kind: 'root' }
  const tokens = text.match(/[()]|[^\s()]+/g) ?? []
  const parsed = parseTerm(tokens, 0)
  if (parsed.next !== tokens.length) throw new Error(`cannot read the permission ${text}`)
  return parsed.permission
}

function parseTerm(tokens: readonly string[], start: number): { permission: Permission; next: number } {
  if (tokens[start] !== '(') throw new Error(`cannot read the permission ${tokens.join(' ')}`)
  const kind = tokens[start + 1]
  let next = start + 2
  if (kind === 'and' || kind === 'or') {
    const of: Permission[] = []
    while (tokens[next] === '(') {
      const term = parseTerm(tokens, next)
      of.push(term.permission)
      next = term.next
    }
    return { permission: { kind, of }, next: next + 1 }
  }
  const words: string[] = []
  while (next < tokens.length && tokens[next] !== ')') words.push(tokens[next++] ?? '')
  return { permission: leaf(kind, words), next: next + 1 }
}

function leaf(kind: string | undefined, words: readonly string[]): Permission {
  const [first = '', second = '', third, fourth] = words
  switch (kind) {
    case 'perm':
      return {
        kind: 'privileges',
        path: first,
        privileges: second.split(/[+|]/),
        need: second.includes('|') ? 'any' : 'all',
        ...(third === 'if' && fourth !== undefined ? { onlyWith: fourth } : {}),
      }
    case 'userid-param':
      return first === 'self' ? { kind: 'self' } : { kind: 'realm-of-user', privilege: first }
    case 'userid-group':
      return {
        kind: 'groups-of-user',
        privileges: first.split('|'),
        ...(second === 'create' || second === 'update' ? { groups: second } : {}),
      }
    case 'perm-modify':
      return { kind: 'modify-access', path: first }
    default:
      throw new Error(`cannot read the permission ${kind}`)
  }
}

function decide(permission: Permission, params: Readonly<Record<string, unknown>>, asker: Asker): true | Refusal {
  switch (permission.kind) {
    case 'world':
    case 'login':
      return true
    case 'root':
      return denied()
    case 'and':
      return permission.of.map((one) => decide(one, params, asker)).find((verdict) => verdict !== true) ?? true
    case 'or':
      return oneOf(permission.of, params, asker)
    case 'privileges': {
      if (permission.onlyWith !== undefined && params[permission.onlyWith] === undefined) return denied()
      return hasAt(filledIn(permission.path, params), permission.privileges, permission.need, asker)
    }
    // A token is not its user here: it may not even read its own user's tokens.
    case 'self':
      return asker.id === params.userid || denied()
    case 'realm-of-user': {
      const userid = textOf(params, 'userid')
      const unreadable = userNameError(userid)
      if (unreadable !== undefined) return { status: 500, message: unreadable }
      return hasAt(`/access/realm/${userid.split('@').at(-1)}`, [permission.privilege], 'all', asker)
    }
    case 'groups-of-user':
      return groupsOfUser(permission, params, asker)
    case 'modify-access':
      return modifiesAccess(filledIn(permission.path, params), asker)
  }
}

/** Which of several ways is closed is not said, unless one of them asks for several things: that ends the search. */
function oneOf(ways: readonly Permission[], params: Readonly<Record<string, unknown>>, asker: Asker): true | Refusal {
  for (const way of ways) {
    const verdict = decide(way, params, asker)
    if (verdict === true || way.kind === 'and') return verdict
  }
  return denied()
}

function groupsOfUser(
  { privileges, groups }: Extract<Permission, { kind: 'groups-of-user' }>,
  params: Readonly<Record<string, unknown>>,
  asker: Asker,
): true | Refusal {
  const userid = textOf(params, 'userid')
  if (groups !== 'create') {
    const unreadable = userNameError(userid)
    if (unreadable !== undefined) return { status: 500, message: unreadable }
    if (!asker.userExists(userid)) return { status: 500, message: `no such user ('${userid}')` }
  }
  if (hasAt('/access/groups', privileges, 'any', asker) === true) return true
  const open = new Set(
    asker.groups().filter((group) => hasAt(`/access/groups/${group}`, privileges, 'any', asker) === true),
  )
  if (groups !== undefined) {
    const wanted = textOf(params, 'groups')
      .split(/[,;\s]+/)
      .filter((group) => group !== '')
    if (wanted.length === 0) return denied(`/access/groups, ${privileges.join('|')}`)
    const closed = wanted.find((group) => !open.has(group))
    if (closed !== undefined) return denied(`/access/groups/${closed}, ${privileges.join('|')}`)
  }
  if (groups === 'create') return true
  return [...open].some((group) => asker.membersOf(group).includes(userid)) || denied()
}

/** Who may allocate a thing may also say who else uses it. */
function modifiesAccess(path: string | undefined, asker: Asker): true | Refusal {
  const owner = [
    { under: /^\/storage\/./, privilege: 'Datastore.Allocate' },
    { under: /^\/vms\/./, privilege: 'VM.Allocate' },
    { under: /^\/pool\/./, privilege: 'Pool.Allocate' },
  ].find(({ under }) => path !== undefined && under.test(path))
  return hasAt(path, ['Permissions.Modify', ...(owner ? [owner.privilege] : [])], 'any', asker)
}

function hasAt(
  path: string | undefined,
  privileges: readonly string[],
  need: 'all' | 'any',
  asker: Asker,
): true | Refusal {
  const held = path === undefined ? new Set<string>() : asker.privilegesAt(path)
  if (need === 'any') {
    return privileges.some((privilege) => held.has(privilege)) || denied(`${path ?? ''}, ${privileges.join('|')}`)
  }
  const missing = privileges.find((privilege) => !held.has(privilege))
  return missing === undefined || denied(`${path ?? ''}, ${missing}`)
}

/**
 * Writes a missing parameter as a dash: a right on all nodes covers it, a right on one node does not. An invalid path (a
 * pool named `a b`) matches nothing, so no user has a privilege there.
 */
function filledIn(template: string, params: Readonly<Record<string, unknown>>): string | undefined {
  const filled = template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => textOf(params, name) || '-')
  const path = `/${filled}`.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, '')
  return /^[A-Za-z0-9.\-_/]+$/.test(path) ? path : undefined
}

/** A list or an object in the place of a name names nothing. */
function textOf(params: Readonly<Record<string, unknown>>, name: string): string {
  const value = params[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function denied(why?: string): Refusal {
  return { status: 403, message: why === undefined ? 'Permission check failed' : `Permission check failed (${why})` }
}
