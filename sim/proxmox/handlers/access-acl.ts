import { may } from '../../world/access.ts'
import { badParameter, badParameters, failed } from '../api-error.ts'
import { type Call, flag, param, type Routes } from '../call.ts'

export const accessAclRoutes: Routes = {
  'GET /access/acl': (call) =>
    [...call.world.access.acl]
      .sort((a, b) => (`${a.path}\0${a.ugid}` < `${b.path}\0${b.ugid}` ? -1 : 1))
      .filter(
        ({ path }) =>
          may(call.world, call.who, path, 'Sys.Audit') || may(call.world, call.who, path, 'Permissions.Modify'),
      )
      .map(({ path, type, ugid, roleid, propagate }) => ({
        path,
        type,
        ugid,
        roleid,
        propagate: propagate ? 1 : 0,
      })),
  'PUT /access/acl': update,
}

const PLACES = /^\/(|access|nodes|pool|sdn|storage|vms|mapping)(\/.*)?$/

function update(call: Call): null {
  const { params, world } = call
  const { acl } = world.access
  const path = param(call, 'path').replace(/(.)\/+$/, '$1')
  if (!PLACES.test(path)) throw badParameter('path', `invalid ACL path '${path}'`)
  const principals = (['user', 'group', 'token'] as const).flatMap((type) =>
    listed(params[`${type}s`]).map((ugid) => ({ type, ugid })),
  )
  if (principals.length === 0) {
    const text = "either 'users', 'groups' or 'tokens' is required."
    throw badParameters({ users: text, groups: text, tokens: text })
  }
  for (const roleid of listed(params.roles)) {
    if (!world.access.roles.has(roleid)) throw failed(`ACL update failed: role '${roleid}' does not exist`)
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
