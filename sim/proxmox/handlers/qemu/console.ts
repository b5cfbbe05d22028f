import { hexDigits } from '../../../world/chance.ts'
import { guestName } from '../../../world/guest-config.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Guest, Host } from '../../../world/types.ts'
import { ApiError, failed } from '../../api-error.ts'
import { type Call, guestOf, hostOf, param, type Routes } from '../../call.ts'
import { PlainRefusal } from '../../decode.ts'

const AT = '/nodes/{node}/qemu/{vmid}'
const CONTAINER = '/nodes/{node}/lxc/{vmid}'

/** Keyboard, monitor and screen. Nobody is at the other end of the screen: what is checked is how one gets there. */
export const qemuConsoleRoutes: Routes = {
  [`PUT ${AT}/sendkey`]: (call) => {
    needRunning(call)
    if (!KEYS.test(param(call, 'key'))) throw new PlainRefusal(400, 'Bad Request', '')
    return null
  },
  [`POST ${AT}/monitor`]: (call) => monitor(guestOf(call), param(call, 'command')),
  [`POST ${AT}/vncproxy`]: (call) => vncProxy(call, guestOf(call)),
  [`POST ${CONTAINER}/vncproxy`]: (call) => vncProxy(call, guestOf(call, 'lxc')),
  [`POST ${AT}/termproxy`]: (call) => {
    const guest = guestOf(call)
    const serial = call.params.serial ?? [...guest.config.keys()].find((key) => /^serial\d+$/.test(key))
    if (serial === undefined || !guest.config.has(serial)) throw failed('unable to find a serial interface')
    return terminal(call, `${guest.vmid}`)
  },
  [`POST ${CONTAINER}/termproxy`]: (call) => terminal(call, `${guestOf(call, 'lxc').vmid}`),
  'POST /nodes/{node}/termproxy': (call) => terminal(call, ''),
  [`POST ${AT}/spiceproxy`]: (call) => {
    guestOf(call)
    throw failed('no spice port')
  },
  [`GET ${AT}/vncwebsocket`]: () => {
    throw new ApiError(401, 'permission denied - invalid PVEVNC ticket')
  },
}

const KEYS =
  /^((ctrl|alt|shift|meta_l|altgr)-)*([a-z0-9]|f\d+|ret|esc|tab|spc|up|down|left|right|home|end|pgup|pgdn|insert|delete|backspace|kp_\w+|minus|equal|comma|dot|slash|semicolon|apostrophe|backslash|grave_accent|bracket_left|bracket_right|menu|print|pause|caps_lock|num_lock|scroll_lock|sysrq)$/

function vncProxy(call: Call, guest: Guest): Record<string, unknown> {
  const ticket = screenTicket(call)
  const port = freePort(hostOf(call))
  const upid = startTask(call.world, hostOf(call), 'vncproxy', `${guest.vmid}`, call.who.id, (work) =>
    work.pass(10_000),
  )
  const password =
    call.params.websocket === '1' && call.params['generate-password'] !== '1' ? {} : { password: ticket.slice(0, 8) }
  return { upid, port, user: call.who.id, ticket, cert: '', ...password }
}

function terminal(call: Call, id: string): Record<string, unknown> {
  const port = freePort(hostOf(call))
  const upid = startTask(call.world, hostOf(call), 'vncproxy', id, call.who.id, (work) => work.pass(10_000))
  return { upid, port, user: call.who.id, ticket: screenTicket(call) }
}

/** The first that nobody waits at: each proxy keeps its port until somebody came or it gave up. */
function freePort(host: Host): string {
  return String(5900 + [...host.runningTasks].filter(({ type }) => type === 'vncproxy').length)
}

function screenTicket({ world: { random } }: Call): string {
  return `${hexDigits(random, 8)}:PVEVNC:${hexDigits(random, 8)}::${hexDigits(random, 64)}`
}

function needRunning(call: Call): void {
  const guest = guestOf(call)
  if (guest.run.status !== 'running') throw failed(`VM ${guest.vmid} not running`)
}

function monitor(guest: Guest, command: string): string {
  if (guest.run.status !== 'running') throw failed(`VM ${guest.vmid} not running`)
  if (command === 'info name') return `${guest.run.name ?? guestName(guest)}\r\n`
  if (command === 'info status') return `VM status: ${guest.run.paused ? 'paused' : 'running'}\r\n`
  return `unknown command: '${command.split(' ')[0]}'\r\n`
}
