import { hexDigits } from '../../../world/chance.ts'
import { guestName } from '../../../world/guest-config.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { ApiError, failed, forbidden } from '../../api-error.ts'
import { type Call, guestOf, hostOf, param, type Routes, vmidOf } from '../../call.ts'
import { PlainRefusal } from '../../decode.ts'
import { freePort, listen, ticketIsGood } from '../../terminals.ts'
import { refuseSkipLock, withConfigLock } from '../guest/config-lock.ts'
import { requireRight } from '../guest/option-rights.ts'
import { monitorRefusal } from './monitor-rights.ts'

const AT = '/nodes/{node}/qemu/{vmid}'
const CONTAINER = '/nodes/{node}/lxc/{vmid}'

/** Keyboard, monitor, screen and terminal. Nobody is at the other end of a screen: what is checked is how one gets there. */
export const qemuConsoleRoutes: Routes = {
  [`PUT ${AT}/sendkey`]: (call) => {
    refuseSkipLock(call)
    return withConfigLock(call.world, hostOf(call), vmidOf(call), () => {
      needRunning(call)
      if (!KEYS.test(param(call, 'key'))) throw new PlainRefusal(400, 'Bad Request', '')
      return null
    })
  },
  [`POST ${AT}/monitor`]: (call) => {
    const command = param(call, 'command')
    if (/^0?$/.test(command)) throw failed('no command specified')
    const refusal = monitorRefusal(command, call.who.id === 'root@pam')
    if (refusal === 'modify') requireRight(call, '/', 'Sys.Modify')
    else if (refusal !== undefined) throw failed(refusal.text)
    return monitor(guestOf(call), command.trim())
  },
  [`POST ${AT}/vncproxy`]: (call) => vncProxy(call, guestOf(call)),
  [`POST ${CONTAINER}/vncproxy`]: (call) => vncProxy(call, guestOf(call, 'lxc')),
  [`POST ${AT}/termproxy`]: (call) => terminal(call, guestOf(call)),
  [`POST ${CONTAINER}/termproxy`]: (call) => terminal(call, guestOf(call, 'lxc')),
  'POST /nodes/{node}/termproxy': (call) => terminal(call, undefined),
  [`POST ${AT}/spiceproxy`]: (call) => {
    const guest = guestOf(call)
    if (guest.run.status !== 'running') throw failed(`VM ${guest.vmid} not running`)
    throw failed('no spice port')
  },
  [`POST ${CONTAINER}/spiceproxy`]: (call) => {
    const guest = guestOf(call, 'lxc')
    if (guest.run.status !== 'running') throw failed(`CT ${guest.vmid} not running`)
    return viewer(call, `CT ${guest.vmid}`, 'spiceproxy', `${guest.vmid}`)
  },
  'POST /nodes/{node}/spiceshell': (call) => {
    refuseTokenName(call)
    refuseCommand(call)
    return viewer(call, `Shell on '${hostOf(call).name}'`, 'spiceshell', '')
  },
  'POST /nodes/{node}/vncshell': (call) => {
    refuseTokenName(call)
    refuseCommand(call)
    return { ...terminal(call, undefined), cert: '' }
  },
  'GET /nodes/{node}/vncwebsocket': (call) => {
    const { name } = hostOf(call)
    return ticketed(call, `/nodes/${name}`)
  },
  [`GET ${AT}/vncwebsocket`]: (call) => webSocket(call, guestOf),
  [`GET ${CONTAINER}/vncwebsocket`]: (call) => webSocket(call, (one) => guestOf(one, 'lxc')),
}

const KEYS =
  /^((ctrl|alt|shift|meta_l|altgr)-)*([a-z0-9]|f\d+|ret|esc|tab|spc|up|down|left|right|home|end|pgup|pgdn|insert|delete|backspace|kp_\w+|minus|equal|comma|dot|slash|semicolon|apostrophe|backslash|grave_accent|bracket_left|bracket_right|menu|print|pause|caps_lock|num_lock|scroll_lock|sysrq)$/

function vncProxy(call: Call, guest: Guest): Record<string, unknown> {
  const ticket = screenTicket(call)
  const port = String(portFor(call))
  listen(call.world, {
    port: Number(port),
    ticket,
    user: call.who.id,
    path: `/vms/${guest.vmid}`,
    guest,
    serial: undefined,
  })
  const upid = startTask(call.world, hostOf(call), 'vncproxy', `${guest.vmid}`, call.who.id, (work) =>
    work.pass(10_000),
  )
  const password =
    call.params.websocket === '1' && call.params['generate-password'] !== '1' ? {} : { password: ticket.slice(0, 8) }
  return { upid, port, user: call.who.id, ticket, cert: '', ...password }
}

/** What is missing for a terminal, a serial port or a running guest, is said on the terminal itself. */
function terminal(call: Call, guest: Guest | undefined): Record<string, unknown> {
  const { world, who, params } = call
  const [ticket, port] = [screenTicket(call), portFor(call)]
  const path = guest === undefined ? `/nodes/${hostOf(call).name}` : `/vms/${guest.vmid}`
  const upid = startTask(
    world,
    hostOf(call),
    guest === undefined ? 'vncshell' : 'vncproxy',
    `${guest?.vmid ?? ''}`,
    who.id,
    (work) => work.pass(10_000),
  )
  listen(world, { port, ticket, user: who.id, path, guest, serial: params.serial })
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

/** On a shell of the host everybody but root gets the question for a name and a password. */
/** These two take the name of whoever asks for that of a user, and stumble over a token's. */
function refuseTokenName({ who }: Call): void {
  if (who.token !== undefined) throw failed(`value '${who.id}' does not look like a valid user name`)
}

function refuseCommand({ params, who }: Call): void {
  if (params.cmd !== undefined && params.cmd !== 'login' && who.id !== 'root@pam') throw forbidden('user != root@pam')
}

/** What a viewer for SPICE is started with. */
function viewer(call: Call, title: string, task: string, id: string): Record<string, unknown> {
  const { world, who, params } = call
  const host = hostOf(call)
  const ticket = hexDigits(world.random, 40)
  startTask(world, host, task, id, who.id, (work) => work.pass(40_000))
  return {
    'secure-attention': 'Ctrl+Alt+Ins',
    'toggle-fullscreen': 'Shift+F11',
    'release-cursor': 'Ctrl+Alt+R',
    type: 'spice',
    title,
    host: `pvespiceproxy:${hexDigits(world.random, 8)}:${id}:${host.name}::${hexDigits(world.random, 64)}`,
    proxy: `http://${params.proxy ?? host.name}:3128`,
    'tls-port': 61000,
    'host-subject': `OU=PVE Cluster Node,O=Proxmox Virtual Environment,CN=${host.name}`,
    ca: '',
    password: ticket,
    'delete-this-file': 1,
  }
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

function needRunning(call: Call): void {
  const guest = guestOf(call)
  if (guest.run.status !== 'running') throw failed(`VM ${guest.vmid} not running`)
}

function monitor(guest: Guest, command: string): string {
  // What goes wrong on the way is part of the answer.
  if (guest.run.status !== 'running') return `ERROR: VM ${guest.vmid} not running\n`
  if (command === 'info name') return `${guest.run.name ?? guestName(guest)}\r\n`
  if (command === 'info status') return `VM status: ${guest.run.paused ? 'paused' : 'running'}\r\n`
  return `unknown command: '${command.split(' ')[0]}'\r\n`
}
