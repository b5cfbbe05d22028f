import type { Access, AclEntry, Token } from './parts.ts'
import type { World } from './types.ts'

/** Who is asking: a user, or one of its tokens. */
export interface Identity {
  /** `root@pam` or `root@pam!croft`. */
  readonly id: string
  readonly user: string
  readonly token: Token | undefined
}

const cache = new WeakMap<Access, { version: number; byIdentity: Map<string, Map<string, ReadonlySet<string>>> }>()

/** Returns all privileges of an identity at a path, cached until a right changes. */
export function privilegesAt(world: World, who: Identity, path: string): ReadonlySet<string> {
  const { access } = world
  if (access.hidden.size > 0 && isHidden(access, who, path)) return NONE
  let known = cache.get(access)
  if (known === undefined || known.version !== access.version) {
    known = { version: access.version, byIdentity: new Map() }
    cache.set(access, known)
  }
  let paths = known.byIdentity.get(who.id)
  if (paths === undefined) {
    paths = new Map()
    known.byIdentity.set(who.id, paths)
  }
  let privileges = paths.get(path)
  if (privileges === undefined) {
    privileges = workOut(world, who, path)
    paths.set(path, privileges)
  }
  return privileges
}

export function may(world: World, who: Identity, path: string, privilege: string): boolean {
  return privilegesAt(world, who, path).has(privilege)
}

const NONE: ReadonlySet<string> = new Set()

/** Reports whether an experiment hides this guest from the identity, despite its rights. */
function isHidden(access: Access, who: Identity, path: string): boolean {
  if (!path.startsWith('/vms/')) return false
  const hidden = access.hidden.get(who.id) ?? access.hidden.get(who.user)
  return hidden?.(Number(path.slice(5))) === true
}

export function seesGuest(world: World, who: Identity, vmid: number): boolean {
  return may(world, who, `/vms/${vmid}`, 'VM.Audit')
}

function workOut(world: World, who: Identity, path: string): ReadonlySet<string> {
  const pool = poolOfPath(world, path)
  const own = ownPrivilegesAt(world, who, path)
  // A member of a pool has, beside its own path's rights, those of the pool.
  return pool === undefined ? own : new Set([...own, ...ownPrivilegesAt(world, who, `/pool/${pool}`)])
}

/** Without what a pool adds. A token that is kept apart has what both it and its user have. */
export function ownPrivilegesAt(world: World, who: Identity, path: string): ReadonlySet<string> {
  const ofUser = ofPrincipal(world, 'user', who.user, path)
  if (who.token === undefined || !who.token.privsep) return ofUser
  return new Set([...ofPrincipal(world, 'token', who.id, path)].filter((privilege) => ofUser.has(privilege)))
}

function poolOfPath(world: World, path: string): string | undefined {
  const guest = /^\/vms\/(\d+)$/.exec(path)?.[1]
  const storage = /^\/storage\/([^/]+)$/.exec(path)?.[1]
  for (const pool of world.pools.values()) {
    if (guest !== undefined && pool.guests.has(Number(guest))) return pool.id
    if (storage !== undefined && pool.storages.has(storage)) return pool.id
  }
  return undefined
}

/** Of these, the ones that go on to what lies below the path. */
export function inheritedBelow(world: World, who: Identity, path: string): ReadonlySet<string> {
  const ofUser = ofPrincipal(world, 'user', who.user, path, true)
  return who.token?.privsep === true ? ofPrincipal(world, 'token', who.id, path, true) : ofUser
}

function ofPrincipal(
  world: World,
  type: 'user' | 'token',
  id: string,
  path: string,
  onlyInherited = false,
): ReadonlySet<string> {
  const { access } = world
  if (type === 'user' && id === 'root@pam') return access.roles.get('Administrator')?.privileges ?? new Set()
  let roles: readonly string[] = []
  for (const level of levels(path)) {
    const own = access.acl.filter((entry) => entry.path === level && entry.type === type && entry.ugid === id)
    const here =
      own.length > 0 || type === 'token' ? own : access.acl.filter((entry) => ofGroup(access, entry, level, id))
    const usable = here.filter((entry) => entry.propagate || level === path)
    // Rights set deeper replace those from above: they do not add up.
    if (usable.length > 0)
      roles = usable.filter((entry) => entry.propagate || !onlyInherited).map((entry) => entry.roleid)
  }
  const privileges = new Set<string>()
  if (roles.includes('NoAccess')) return privileges
  for (const role of roles) for (const privilege of access.roles.get(role)?.privileges ?? []) privileges.add(privilege)
  return privileges
}

function ofGroup(access: Access, entry: AclEntry, level: string, user: string): boolean {
  return entry.path === level && entry.type === 'group' && access.groups.get(entry.ugid)?.users.has(user) === true
}

function levels(path: string): string[] {
  const found = ['/']
  let at = ''
  for (const part of path.split('/')) {
    if (part === '') continue
    at += `/${part}`
    found.push(at)
  }
  return found
}
