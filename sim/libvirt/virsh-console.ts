import { Duplex } from 'node:stream'
import { ShellFailure } from '../../src/lib/shell.ts'
import { guestLine } from '../guest/guest-line.ts'
import type { LibvirtHost } from './domains.ts'

const LEAVE = 0x1d

/** `virsh console` on a terminal that `script` gives it: the line of the domain, until the client types Ctrl and ]. */
export function virshConsole(at: LibvirtHost, argv: readonly string[]): Duplex {
  if (at.host.power !== 'on') throw new ShellFailure('no', 'unreachable', `${at.host.name} does not answer`)
  const [, uuid = ''] = / console (\S+)/.exec(argv.join(' ')) ?? []
  const domain = [...at.domains.values()].find((one) => one.uuid === uuid || one.name === uuid)
  const stream = new Duplex({ read: () => undefined, write: take })
  // virsh requires a controlling terminal and shows nothing without one.
  if (!argv.includes('script')) say('error: Cannot run interactive console without a controlling TTY\r\n')
  const line = domain === undefined ? undefined : guestLine(at.world, domain.guest)
  if (domain === undefined || line === undefined) {
    say(`error: failed to get domain '${uuid}'\r\n`)
    stream.push(null)
    return stream
  }
  say(`Connected to domain '${domain.name}'\r\nEscape character is ^] (Ctrl + ])\r\n${line.greeting}`)

  function say(text: string): void {
    stream.push(Buffer.from(text, 'utf8'))
  }

  function take(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const end = chunk.indexOf(LEAVE)
    const shown = line?.type(end === -1 ? chunk : chunk.subarray(0, end)) ?? ''
    if (shown !== '') say(shown)
    if (end !== -1 || domain?.guest.run.status !== 'running') stream.push(null)
    done()
  }
  return stream
}
