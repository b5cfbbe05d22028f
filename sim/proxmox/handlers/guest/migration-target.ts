import type { Host } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, hostOf, param } from '../../call.ts'

/** The host that a migration names; refused if it is the one where the guest is, or none. */
export function migrationTarget(call: Call): Host {
  const name = param(call, 'target')
  const target = call.world.hosts.get(name)
  if (target === hostOf(call)) throw badParameter('target', 'target is local node.')
  if (target === undefined) throw failed(`no such cluster node '${name}'`)
  return target
}
