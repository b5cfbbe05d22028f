import { type Identity, privilegesAt } from '../world/access.ts'
import type { World } from '../world/types.ts'
import { ApiError } from './api-error.ts'
import { type Asker, allowed, type Operation, type Permission, permissionOf, refusesToken } from './validate/index.ts'

const parsed = new WeakMap<Operation, Permission>()

/** Reports whether the call needs no login. */
export function isOpen(operation: Operation): boolean {
  return permission(operation).kind === 'world'
}

/** Throws the refusal that the daemon gives to this identity. */
export function requirePermission(
  world: World,
  who: Identity,
  operation: Operation,
  path: string,
  params: Readonly<Record<string, unknown>>,
): void {
  if (who.token !== undefined) refuse(refusesToken(operation, path))
  refuse(allowed(permission(operation), params, askerOf(world, who)))
}

function refuse(verdict: ReturnType<typeof allowed>): void {
  if (verdict !== true) throw new ApiError(verdict.status, verdict.message.replace(/\n$/, ''))
}

function permission(operation: Operation): Permission {
  let known = parsed.get(operation)
  if (known === undefined) {
    known = permissionOf(operation)
    parsed.set(operation, known)
  }
  return known
}

function askerOf(world: World, who: Identity): Asker {
  const { access } = world
  return {
    id: who.id === '' ? undefined : who.id,
    privilegesAt: (path) => privilegesAt(world, who, path),
    userExists: (userid) => access.users.has(userid),
    groups: () => [...access.groups.keys()],
    membersOf: (group) => [...(access.groups.get(group)?.users ?? [])],
  }
}
