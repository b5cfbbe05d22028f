import { may } from '../../../world/access.ts'
import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'

const AT = '/access/groups/{groupid}'

export const accessGroupRoutes: Routes = {
  'GET /access/groups': (call) =>
    [...call.world.access.groups]
      .filter(([id]) => RIGHTS.some((right) => may(call.world, call.who, `/access/groups/${id}`, right)))
      .map(([groupid, group]) => ({ groupid, ...comment(group), users: [...group.users].join(',') })),
  'POST /access/groups': (call) => {
    const { groups } = call.world.access
    const id = param(call, 'groupid')
    if (groups.has(id)) throw failed(`create group failed: group '${id}' already exists`)
    groups.set(id, { users: new Set(), ...(call.params.comment ? { comment: call.params.comment } : {}) })
    return null
  },
  [`GET ${AT}`]: (call) => {
    const group = need(call, '')
    return { ...comment(group), members: [...group.users] }
  },
  [`PUT ${AT}`]: (call) => {
    const group = need(call, 'update group failed: ')
    if (call.params.comment !== undefined) group.comment = call.params.comment
    return null
  },
  [`DELETE ${AT}`]: (call) => {
    const { access } = call.world
    need(call, 'delete group failed: ')
    const id = param(call, 'groupid')
    access.groups.delete(id)
    // The rights that were given to it go with it.
    const left = access.acl.filter((entry) => entry.type !== 'group' || entry.ugid !== id)
    access.acl.splice(0, access.acl.length, ...left)
    access.version += 1
    return null
  },
}

const RIGHTS = ['User.Modify', 'Sys.Audit', 'Group.Allocate']

function need(call: Call, prefix: string) {
  const group = call.world.access.groups.get(param(call, 'groupid'))
  if (group === undefined) throw failed(`${prefix}group '${param(call, 'groupid')}' does not exist`)
  return group
}

function comment(group: { comment?: string }): { comment?: string } {
  return group.comment === undefined || group.comment === '' ? {} : { comment: group.comment }
}
