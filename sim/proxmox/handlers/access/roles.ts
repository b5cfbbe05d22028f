import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'

export const accessRoleRoutes: Routes = {
  'GET /access/roles': (call) =>
    [...call.world.access.roles].map(([roleid, role]) => ({
      roleid,
      privs: [...role.privileges].sort().join(','),
      special: role.special ? 1 : 0,
    })),
  'POST /access/roles': create,
  'GET /access/roles/{roleid}': (call) => {
    const role = call.world.access.roles.get(param(call, 'roleid'))
    if (role === undefined) throw failed(`role '${param(call, 'roleid')}' does not exist`)
    return Object.fromEntries([...role.privileges].map((privilege) => [privilege, 1]))
  },
  'PUT /access/roles/{roleid}': (call) => {
    const role = ownRole(call, 'update', 'modified')
    const wanted = listed(call.params.privs)
    role.privileges = new Set(flag(call, 'append') ? [...role.privileges, ...wanted] : wanted)
    call.world.access.version += 1
    return null
  },
  'DELETE /access/roles/{roleid}': remove,
}

/** What every Proxmox has by itself cannot be changed or deleted. */
function ownRole(call: Call, verb: string, participle: string) {
  const id = param(call, 'roleid')
  const role = call.world.access.roles.get(id)
  if (role === undefined) throw failed(`${verb} role failed: role '${id}' does not exist`)
  if (role.special) throw failed(`auto-generated role '${id}' cannot be ${participle}`)
  return role
}

function create(call: Call): null {
  const { access } = call.world
  const id = param(call, 'roleid')
  if (/^PVE/i.test(id)) {
    throw badParameter('roleid', "cannot use role ID starting with the (case-insensitive) 'PVE' namespace")
  }
  if (access.roles.has(id)) throw failed(`create role failed: role '${id}' already exists`)
  access.roles.set(id, { privileges: new Set(listed(call.params.privs)), special: false })
  access.version += 1
  return null
}

/** A role in use can go; the rights that were given by it go with it. */
function remove(call: Call): null {
  const { access } = call.world
  ownRole(call, 'delete', 'deleted')
  const id = param(call, 'roleid')
  access.roles.delete(id)
  access.acl.splice(0, access.acl.length, ...access.acl.filter((entry) => entry.roleid !== id))
  access.version += 1
  return null
}

function listed(text: string | undefined): string[] {
  return (text ?? '').split(/[,;\s]+/).filter((part) => part !== '')
}
