import { badParameter, failed, forbidden } from '../../api-error.ts'
import { type Call, param } from '../../call.ts'

/** Requires the caller's password before a password or factor changes. Root need not give it; only root changes root. */
export function confirm(call: Call, name = 'password'): void {
  const { world, who, params } = call
  const userid = param(call, 'userid')
  if (!world.access.users.has(userid)) throw failed(`no such user ('${userid}')`)
  if (who.id === 'root@pam') return
  if (userid === 'root@pam') throw forbidden()
  if (params[name] === undefined) throw badParameter(name, 'password is required to modify user')
  if (world.access.users.get(who.user)?.password !== params[name]) throw failed('invalid credentials')
}
