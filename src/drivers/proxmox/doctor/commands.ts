import { shellWord } from '../../../lib/shell-quoted.ts'
import { type GrantedRole, type Grants, propagates, rolesOf } from './grants.ts'

export interface Principal {
  /** `croft@pve`. */
  readonly user: string
  /** `croft`. */
  readonly token: string
}

/** Parses `croft@pve!croft`; undefined for other text. */
export function principalOf(tokenId: string): Principal | undefined {
  const match = /^([^\s!=]+@[^\s!=]+)!([^\s!=]+)$/.exec(tokenId)
  return match === null ? undefined : { user: match[1] ?? '', token: match[2] ?? '' }
}

/** Returns all commands for a new token with exactly these rights, which its user needs as well. */
export function setUpCommands(
  grants: Grants,
  who: Principal,
  prefix: string,
  expireSeconds: number,
): readonly string[] {
  const roles = rolesOf(grants, prefix)
  return [
    ...roles.map((role) => roleCommand(role, 'add')),
    `pveum user add ${shellWord(who.user)}`,
    `pveum user token add ${shellWord(who.user)} ${shellWord(who.token)} --privsep 1 --expire ${expireSeconds}`,
    ...roles.flatMap((role) => role.paths.map((path) => aclCommand(path, role.id, who))),
  ]
}

/** Returns the commands that add missing rights on these paths. Existing roles are extended. */
export function repairCommands(
  paths: readonly string[],
  grants: Grants,
  who: Principal,
  prefix: string,
  existing: ReadonlySet<string>,
): readonly string[] {
  const roles = rolesOf(grants, prefix).flatMap((role) => {
    const wanted = role.paths.filter((path) => paths.includes(path))
    return wanted.length === 0 ? [] : [{ ...role, paths: wanted }]
  })
  return [
    ...roles.map((role) => roleCommand(role, existing.has(role.id) ? 'modify' : 'add')),
    ...roles.flatMap((role) => role.paths.map((path) => aclCommand(path, role.id, who))),
  ]
}

function roleCommand({ id, privileges }: GrantedRole, verb: 'add' | 'modify'): string {
  return `pveum role ${verb} ${shellWord(id)} --privs ${shellWord(privileges.join(','))}${verb === 'modify' ? ' --append 1' : ''}`
}

function aclCommand(path: string, role: string, { user, token }: Principal): string {
  const alone = propagates(path) ? '' : ' --propagate 0'
  return `pveum acl modify ${shellWord(path)} --users ${shellWord(user)} --tokens ${shellWord(`${user}!${token}`)} --roles ${shellWord(role)}${alone}`
}
