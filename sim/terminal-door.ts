import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { WireRequest, WireResponse } from '../src/lib/wire.ts'
import { guestLine } from './guest/guest-line.ts'
import type { SerialLine } from './guest/serial-line.ts'
import { createTermReader } from './proxmox/term-reader.ts'
import { come, leave, type TermProxy } from './proxmox/terminals.ts'
import type { Guest, World } from './world/types.ts'

/** pveproxy takes no larger message. */
const MESSAGE_BYTES = 128 * 1024
const LOGIN_BYTES = 64 * 1024

export type TerminalDoor = ReturnType<typeof createTerminalDoor>

/** The web sockets of a simulated datacentre: what is asked is judged like every other call, then the terminal begins. */
export function createTerminalDoor(world: World, handle: (request: WireRequest) => Promise<WireResponse>) {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES,
    handleProtocols: (asked) => [...asked][0] ?? false,
  })
  return {
    async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
      socket.on('error', () => socket.destroy())
      const headers: Record<string, string> = {}
      for (const [name, value] of Object.entries(request.headers))
        headers[name] = Array.isArray(value) ? value.join(', ') : (value ?? '')
      const path = request.url ?? '/'
      const answer = await handle({ method: 'GET', path, headers }).catch(() => undefined)
      if (answer === undefined) return void socket.destroy()
      if (answer.status !== 200 || !/\/vncwebsocket\?/.test(path)) return refuse(socket, answer)
      const { port } = (JSON.parse(answer.body) as { readonly data: { readonly port: unknown } }).data
      const proxy = come(world, Number(port))
      // Nothing listens at the port: the real proxy sends nothing and closes the connection later.
      if (proxy === undefined) return void socket.destroy()
      server.handleUpgrade(request, socket, head, (web) => serveTerminal(world, proxy, web))
    },
    close: () => {
      for (const web of server.clients) web.terminate()
    },
  }
}

function refuse(socket: Duplex, { status, reason, body }: WireResponse): void {
  const text = status === 200 ? 'Bad Request' : reason
  socket.end(
    `HTTP/1.1 ${status === 200 ? 400 : status} ${text}\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** One terminal: a login line, OK, and then what the program behind it says. */
function serveTerminal(world: World, proxy: TermProxy, web: WebSocket): void {
  let login: Buffer | undefined = Buffer.alloc(0)
  let line: SerialLine | undefined
  const say = (text: string) => {
    // A client that does not read is disconnected, to bound the memory.
    if (web.bufferedAmount > 8 * MESSAGE_BYTES) web.terminate()
    else if (text !== '') web.send(Buffer.from(text, 'utf8'))
  }
  const read = createTermReader({
    data: (bytes) => {
      const { guest } = proxy
      if (guest !== undefined && guest.run.status !== 'running') return web.terminate()
      say(line?.type(bytes) ?? '')
    },
    size: () => undefined,
  })
  const begin = () => {
    say('OK')
    const { guest, serial } = proxy
    const problem = guest === undefined ? 'Permission denied' : noTerminal(guest, serial)
    if (guest === undefined || problem !== undefined) {
      say(`${problem}\r\n`)
      return web.close()
    }
    if (guest.type === 'qemu') say(`starting serial terminal on interface ${serial ?? firstSerial(guest)}\r\n`)
    line = guestLine(world, guest)
    say(line.greeting)
  }
  web.on('error', () => web.terminate())
  web.on('close', () => leave(world, proxy))
  web.on('message', (message) => {
    const chunk = message
    if (login === undefined) return read(chunk)
    login = Buffer.concat([login, chunk])
    const end = login.indexOf('\n')
    if (end === -1) return login.length > LOGIN_BYTES ? web.terminate() : undefined
    const said = login.subarray(0, end).toString('latin1')
    const rest = login.subarray(end + 1)
    login = undefined
    // The same end for a wrong name and a wrong ticket, without a word.
    if (said !== `${proxy.user}:${proxy.ticket}`) return web.terminate()
    begin()
    if (rest.length > 0) read(rest)
  })
}

function firstSerial(guest: Guest): string | undefined {
  return ['serial0', 'serial1', 'serial2', 'serial3'].find((slot) => guest.config.get(slot) === 'socket')
}

/** What `qm terminal` says when there is nothing to show. */
function noTerminal(guest: Guest, serial: string | undefined): string | undefined {
  if (guest.type === 'qemu') {
    if (serial !== undefined && !guest.config.has(serial)) return `serial interface '${serial}' is not configured`
    if (serial !== undefined && guest.config.get(serial) !== 'socket')
      return `wrong serial type on interface '${serial}'`
    if (serial === undefined && firstSerial(guest) === undefined) return 'unable to find a serial interface'
  }
  return guest.run.status === 'running' ? undefined : `VM ${guest.vmid} not running`
}
