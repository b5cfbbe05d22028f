import { may, ownPrivilegesAt, privilegesAt } from '../../../world/access.ts'
import { badParameter, badParameters, failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'

export const accessAclRoutes: Routes = {
  'GET /access/acl': (call) =>
    [...call.world.access.acl]
      .sort((a, b) => (`${a.path}\0${a.ugid}` < `${b.path}\0${b.ugid}` ? -1 : 1))
      .filter(({ path }) => audits(call) || mayModify(call, path))
      .map(({ path, type, ugid, roleid, propagate }) => ({
        path,
        type,
        ugid,
        roleid,
        propagate: propagate ? 1 : 0,
      })),
  'PUT /access/acl': update,
}

function audits({ world, who }: Call): boolean {
  return may(world, who, '/access', 'Sys.Audit')
}

/** Who may make things of a sort may also say who else uses one. */
function mayModify({ world, who }: Call, path: string): boolean {
  const sort = /^\/(storage|vms|pool)\/./.exec(path)?.[1] ?? ''
  const right = { storage: 'Datastore.Allocate', vms: 'VM.Allocate', pool: 'Pool.Allocate' }[sort]
  return may(world, who, path, 'Permissions.Modify') || (right !== undefined && may(world, who, path, right))
}

const NAME = '[A-Za-z0-9._-]+'

/** Every place that rights can be set on. */
const PLACES = [
  '',
  'access',
  `access/(groups|realm)(/${NAME})?`,
  `(nodes|storage)(/${NAME})?`,
  `pool(/${NAME}){0,3}`,
  'sdn',
  'sdn/controllers(/[A-Za-z0-9_-]+)?',
  'sdn/(dns|fabrics|ipams|prefix-lists|route-maps)(/[A-Za-z0-9]+)?',
  `sdn/zones(/${NAME}){0,2}`,
  `sdn/zones(/${NAME}){2}/[1-9][0-9]{0,3}`,
  'vms(/[1-9][0-9]{2,})?',
  `mapping(/${NAME}){0,2}`,
].map((place) => new RegExp(`^/${place}$`))

/** One slash where there were several, none at the end; undefined for what is no path at all. */
function normalPath(text: string): string | undefined {
  const short = text.replace(/\/+/g, '/').replace(/\/$/, '')
  const path = short.startsWith('/') ? short : `/${short}`
  return text !== '' && /^[A-Za-z0-9._/-]+$/.test(path) ? path : undefined
}

function update(call: Call): null {
  const { params, world } = call
  const { acl } = world.access
  const principals = (['user', 'group', 'token'] as const).flatMap((type) =>
    listed(params[`${type}s`]).map((ugid) => ({ type, ugid })),
  )
  if (principals.length === 0) {
    const text = "either 'users', 'groups' or 'tokens' is required."
    throw badParameters({ users: text, groups: text, tokens: text })
  }
  const path = normalPath(param(call, 'path'))
  if (path === undefined || (!flag(call, 'delete') && !PLACES.some((place) => place.test(path))))
    throw badParameter('path', `invalid ACL path '${param(call, 'path')}'`)
  for (const roleid of listed(params.roles)) {
    if (!world.access.roles.has(roleid)) throw failed(`ACL update failed: role '${roleid}' does not exist`)
    refuseMore(call, path, roleid)
    for (const { type, ugid } of principals) {
      refuseMissing(call, type, ugid)
      const at = acl.findIndex(
        (entry) => entry.path === path && entry.type === type && entry.ugid === ugid && entry.roleid === roleid,
      )
      if (at >= 0) acl.splice(at, 1)
      if (!flag(call, 'delete')) acl.push({ path, type, ugid, roleid, propagate: params.propagate !== '0' })
    }
  }
  world.access.version += 1
  return null
}

/** Who may not set rights in general may give away what they have themselves, and no further than they have it. */
function refuseMore(call: Call, path: string, roleid: string): void {
  const { world, who, params } = call
  const has = privilegesAt(world, who, path)
  if (has.has('Permissions.Modify')) return
  const refuse = (what: string) =>
    failed(
      `ACL update failed: 400 Parameter verification failed.\nrole: Cannot ${flag(call, 'delete') ? 'remove' : 'add'} role '${roleid}'${what}`,
    )
  const handsOn = params.propagate !== '0' && !flag(call, 'delete')
  const own = ownPrivilegesAt(world, who, path)
  for (const privilege of world.access.roles.get(roleid)?.privileges ?? []) {
    if (!has.has(privilege)) throw refuse(" - requires 'Permissions.Modify' or superset of privileges.")
    if (handsOn && !own.has(privilege))
      throw refuse(" with propagation - requires 'Permissions.Modify' or propagated superset of privileges.")
  }
  if (roleid === 'NoAccess') throw refuse(" - requires 'Permissions.Modify'")
}

function refuseMissing(call: Call, type: 'user' | 'group' | 'token', ugid: string): void {
  const { users, groups } = call.world.access
  if (type === 'group') {
    if (!groups.has(ugid)) throw failed(`ACL update failed: group '${ugid}' does not exist`)
    return
  }
  const [userid = '', tokenid] = ugid.split('!')
  const user = users.get(userid)
  if (user === undefined) throw failed(`ACL update failed: user '${userid}' does not exist`)
  if (tokenid !== undefined && !user.tokens.has(tokenid)) {
    throw failed(`ACL update failed: no such token '${tokenid}' for user '${userid}'`)
  }
}

function listed(text: string | undefined): string[] {
  return (text ?? '').split(/[,;\s]+/).filter((part) => part !== '')
}
