import { uuid } from '../../../world/chance.ts'
import type { World } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, type Routes } from '../../call.ts'
import { shelf, type Thing } from '../shelf.ts'
import { refuseWithoutLock } from './sdn-check.ts'

/** What of the network of the cluster is in effect on a host, and who may change it now. */
export const sdnStateRoutes: Routes = {
  'POST /cluster/sdn/lock': (call) => {
    const held = shelf(call.world, 'sdn-lock')
    const before = 'could not acquire lock for SDN config: '
    refuseWithoutLock(call, before)
    if (!flag(call, 'allow-pending') && hasPending(call.world))
      throw failed(`${before}configuration has pending changes at /usr/share/perl5/PVE/API2/Network/SDN.pm line 150.`)
    const token = uuid(call.world.random)
    held.set('token', { token, pending: flag(call, 'allow-pending') })
    return token
  },
  'DELETE /cluster/sdn/lock': (call) => {
    const held = shelf(call.world, 'sdn-lock')
    if (!flag(call, 'force')) refuseWithoutLock(call, 'could not release lock: ')
    held.delete('token')
    return null
  },
  'POST /cluster/sdn/rollback': (call) => {
    for (const [name, things] of call.world.shelves) if (name.startsWith('sdn/')) takeBack(things)
    releaseSdnLock(call)
    return null
  },
}

/** Something of the cluster's network that was never applied differs from what is in effect. */
function hasPending(world: World): boolean {
  return [...world.shelves].some(
    ([name, things]) =>
      /^sdn\/(?:zones|vnets|controllers|subnets\/)/.test(name) &&
      [...things.values()].some(({ applied, ...now }) => JSON.stringify(applied) !== JSON.stringify(now)),
  )
}

/** Releases the lock after pending changes are applied or rolled back, unless the call keeps it. */
export function releaseSdnLock(call: Call): void {
  const held = shelf(call.world, 'sdn-lock')
  if (call.params['release-lock'] !== '0' && held.get('token')?.token === call.params['lock-token'])
    held.delete('token')
}

function takeBack(things: Map<string, Thing>): void {
  for (const [id, { applied }] of things) {
    if (applied === undefined) things.delete(id)
    else things.set(id, { ...(applied as Thing), applied })
  }
}
