import type { World } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { shelf } from '../shelf.ts'

const AT = '/nodes/{node}/scan'
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]*)$/

/** What other machines offer to a host. None of them offers anything here, and each program has its own way to say so. */
export const nodeScanRoutes: Routes = {
  [`GET ${AT}/nfs`]: (call) =>
    refuseCommand(`/sbin/showmount --no-headers --exports ${needAddress(call, param(call, 'server'))}`),
  [`GET ${AT}/cifs`]: (call) => {
    needAddress(call, param(call, 'server'))
    // The last word of what the program prints is taken with the bracket behind it.
    throw failed('unexpected status: NT_STATUS_CONNECTION_REFUSED)')
  },
  [`GET ${AT}/iscsi`]: (call) => {
    const portal = param(call, 'portal')
    const host = portal.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
    if (addressOf(call.world, host) === undefined) throw failed(`unable to parse/resolve portal address '${portal}'`)
    // A portal that does not answer is passed over.
    return []
  },
  [`GET ${AT}/pbs`]: (call) => {
    const { port = '8007' } = call.params
    throw failed(
      `error fetching datastores - 500 Can't connect to ${param(call, 'server')}:${port} (Connection refused)`,
    )
  },
  [`GET ${AT}/lvm`]: () => [],
  [`GET ${AT}/zfs`]: (call) =>
    [...shelf(call.world, `zfs/${hostOf(call).name}`)].map(([pool, { size }]) => ({
      pool,
      size: Number(size ?? 0),
      free: Math.round(Number(size ?? 0) * 0.99),
    })),
}

function refuseCommand(command: string): never {
  throw failed(`command '${command}' failed: exit code 1`)
}

function needAddress(call: Call, server: string): string {
  const address = addressOf(call.world, server)
  if (address === undefined) throw failed(`unable to resolve address for server '${server}'`)
  return address
}

/** Hosts know each other by name, and nobody else. */
function addressOf(world: World, name: string): string | undefined {
  if (ADDRESS.test(name)) return name
  return name === 'localhost' ? '127.0.0.1' : world.hosts.get(name)?.address
}
