import { Duplex } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { boundedSize, type RemoteTerminal, type TerminalSize } from '../../lib/remote-terminal.ts'
import type { ObservedResource } from '../../model/resource.ts'
import { Secret } from '../../model/secret.ts'
import type { Refusal } from '../../model/step.ts'
import { type GuestConsole, ObservationFailed } from '../port.ts'
import type { Api, CallSubject } from './api.ts'
import { isRecord, nameOf } from './foreign.ts'
import { guestPath } from './steps.ts'
import { powerState } from './survey.ts'
import { afterGreeting, dataFrames, loginLine, PING, resizeFrame } from './term-frames.ts'

/** Consoles as Proxmox's own page opens them: a proxy for one terminal, then a web socket with its ticket. */
export function consoleOf(endpoint: string, api: Api, clock: Clock): GuestConsole {
  return {
    lines: (observed) => wayWithoutCroft(endpoint, observed),
    async open(observed, size, signal) {
      const { host, externalId: guest } = observed
      const container = observed.type === 'container'
      const about = { doing: `open the console of ${wordsFor(observed)} on ${host}`, host, guest }
      const path = guestPath(host, container ? 'container' : 'vm', guest)
      const status = await api.read(`${path}/status/current`, about, signal)
      if (isRecord(status) && powerState(status.status) === 'stopped')
        throw refused(about, 'NotRunning', `it is off; run croft machine start ${observed.name ?? guest}`)
      const serial = container ? undefined : serialIn(await api.read(`${path}/config`, about, signal))
      if (!container && serial === undefined) throw refused(about, 'NoSerialPort', NO_SERIAL)
      const proxy = await startProxy(api, path, serial, about, signal)
      const ticket = encodeURIComponent(proxy.ticket.reveal())
      const socket = await api.socket(
        `${path}/vncwebsocket?port=${proxy.port}&vncticket=${ticket}`,
        about,
        [proxy.ticket],
        signal,
      )
      await greeted(socket, proxy, about, signal)
      return terminalOver(socket, boundedSize(size), clock)
    },
  }
}

const NO_SERIAL =
  'it has no serial port; declare one (Machine: proxmox.serialPort: true, EnvironmentVM: serialDevice: [{device: socket}]), and let the system inside use ttyS0'

/** Returns the first serial port with a socket: one that is a device of the host is no console. */
export function serialIn(config: unknown): string | undefined {
  return ['serial0', 'serial1', 'serial2', 'serial3'].find((slot) => isRecord(config) && config[slot] === 'socket')
}

interface StartedTerminal {
  readonly port: string
  readonly user: string
  readonly ticket: Secret
}

async function startProxy(
  api: Api,
  path: string,
  serial: string | undefined,
  about: CallSubject,
  signal: AbortSignal,
): Promise<StartedTerminal> {
  const params: Readonly<Record<string, string>> = serial === undefined ? {} : { serial }
  const answer = await api.ask({ method: 'POST', path: `${path}/termproxy`, params }, new Map(), about, signal)
  if (answer.result === 'refused') throw new ObservationFailed(answer.refusal)
  if (answer.result !== 'answered')
    throw new ObservationFailed({ reason: 'Unreachable', meaning: 'backoff', message: answer.message })
  const { data } = answer
  const port = isRecord(data) ? Number(data.port) : Number.NaN
  const ticket = isRecord(data) ? data.ticket : undefined
  const user = isRecord(data) ? nameOf(data.user) : undefined
  const known = Number.isInteger(port) && typeof ticket === 'string' && user !== undefined
  // A line break would end the login, and the rest would count as input.
  if (!known || ticket.length > 512 || /[^\x21-\x7e]/.test(ticket) || /[^\x21-\x7e]/.test(user))
    throw refused(about, 'UnreadableAnswer', 'the answer is not what Proxmox sends', 'backoff')
  return { port: String(port), user, ticket: new Secret(ticket) }
}

/** Sends the login and waits until the peer has accepted it. All later data is the terminal's. */
function greeted(
  socket: Duplex,
  { user, ticket }: StartedTerminal,
  about: CallSubject,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const end = (why: string | undefined) => {
      socket.off('data', take).off('close', closed).off('error', closed)
      signal.removeEventListener('abort', abort)
      if (why === undefined) return resolve()
      socket.on('error', () => {})
      socket.destroy()
      reject(refused(about, 'ConsoleRefused', why, 'backoff'))
    }
    const take = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const rest = afterGreeting(received)
      if (rest === undefined) return
      socket.pause()
      if (rest === 'refused') return end('the terminal did not take the ticket')
      if (rest.length > 0) socket.unshift(rest)
      end(undefined)
    }
    const closed = () => end('the terminal ended before it began; the task log of Proxmox says why')
    const abort = () => end('it was called off')
    signal.addEventListener('abort', abort, { once: true })
    socket.on('data', take).on('close', closed).on('error', closed)
    socket.write(loginLine(user, ticket.reveal()))
    if (signal.aborted) abort()
  })
}

function terminalOver(socket: Duplex, size: TerminalSize, clock: Clock): RemoteTerminal {
  const over = new AbortController()
  const stream = new Duplex({
    // If the peer ends it, it is over.
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write(chunk: Buffer, _encoding, done) {
      const frames = dataFrames(chunk)
      const last = frames.at(-1)
      if (last === undefined) return done()
      for (const frame of frames.slice(0, -1)) socket.write(frame)
      socket.write(last, (error) => done(error))
    },
    final(done) {
      socket.end()
      done()
    },
    destroy(error, done) {
      over.abort()
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', (chunk: Buffer) => {
    if (!stream.push(chunk)) socket.pause()
  })
  socket.once('end', () => stream.push(null))
  socket.once('close', () => stream.destroy())
  socket.on('error', (error) => stream.destroy(error))
  // Proxies drop idle connections.
  void (async () => {
    while (!over.signal.aborted) {
      await clock.sleep(LIMITS.consoleBeatMs, over.signal)
      if (!over.signal.aborted) socket.write(PING)
    }
  })()
  socket.write(resizeFrame(size))
  return { stream, resize: (next) => void socket.write(resizeFrame(boundedSize(next))) }
}

/** The hypervisor's page with its screen, and the command for its serial line. */
function wayWithoutCroft(endpoint: string, { type, externalId, host, name }: ObservedResource): readonly string[] {
  const query = new URLSearchParams({
    console: type === 'container' ? 'lxc' : 'kvm',
    novnc: '1',
    vmid: externalId,
    vmname: name ?? '',
    node: host,
  })
  const terminal = type === 'container' ? `pct console ${externalId}` : `qm terminal ${externalId}`
  return [`${endpoint.replace(/\/+$/, '')}/?${query.toString()}`, `On ${host}: ${terminal}`]
}

function wordsFor({ type, externalId }: ObservedResource): string {
  return `${type === 'container' ? 'container' : 'VM'} ${externalId}`
}

function refused(
  about: CallSubject,
  reason: string,
  why: string,
  meaning: Refusal['meaning'] = 'stalled',
): ObservationFailed {
  return new ObservationFailed({ reason, meaning, message: `could not ${about.doing}: ${why}` })
}
