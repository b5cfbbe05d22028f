import { hexDigits } from '../../../world/chance.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { ApiError, failed } from '../../api-error.ts'
import { type Call, guestOf, hostOf, param, type Routes, vmidOf } from '../../call.ts'
import { freePort, listen, ticketIsGood } from '../../terminals.ts'

const AT = '/nodes/{node}/qemu/{vmid}'
const CONTAINER = '/nodes/{node}/lxc/{vmid}'

/** Screens and terminals. A screen shows no picture: the simulator checks only how a client reaches it. */
export const qemuConsoleRoutes: Routes = {
  [`POST ${AT}/termproxy`]: (call) => terminal(call, guestOf(call)),
  [`POST ${CONTAINER}/termproxy`]: (call) => terminal(call, guestOf(call, 'lxc')),
  [`GET ${AT}/vncwebsocket`]: (call) => webSocket(call, guestOf),
  [`GET ${CONTAINER}/vncwebsocket`]: (call) => webSocket(call, (one) => guestOf(one, 'lxc')),
}

/** What is missing for a terminal, a serial port or a running guest, is said on the terminal itself. */
function terminal(call: Call, guest: Guest): Record<string, unknown> {
  const { world, who, params } = call
  const [ticket, port] = [screenTicket(call), portFor(call)]
  const upid = startTask(world, hostOf(call), 'vncproxy', `${guest.vmid}`, who.id, (work) => work.pass(10_000))
  listen(world, { port, ticket, user: who.id, path: `/vms/${guest.vmid}`, guest, serial: params.serial })
  return { upid, port, user: who.id, ticket }
}

/** The ticket first, then whether there is such a guest. */
function webSocket(call: Call, guestIn: (call: Call) => Guest): Record<string, unknown> {
  const answer = ticketed(call, `/vms/${vmidOf(call)}`)
  guestIn(call)
  return answer
}

function ticketed(call: Call, path: string): Record<string, unknown> {
  const port = Number(param(call, 'port'))
  if (!ticketIsGood(call.world, param(call, 'vncticket'), call.who.id, path, port))
    throw new ApiError(401, 'permission denied - invalid PVEVNC ticket')
  return { port: String(port) }
}

function portFor({ world }: Call): number {
  return freePort(world) ?? fail('unable to find free port (5900-5999)')
}

function fail(text: string): never {
  throw failed(text)
}

function screenTicket({ world: { random } }: Call): string {
  return `${hexDigits(random, 8)}:PVEVNC:${hexDigits(random, 8)}::${hexDigits(random, 64)}`
}
