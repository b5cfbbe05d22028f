import type { Shell } from '../../lib/shell.ts'
import { ShellFailure } from '../../lib/shell.ts'
import { shellWord } from '../../lib/shell-quoted.ts'
import type { SshTarget } from '../../model/secret.ts'
import { type GuestConsole, ObservationFailed } from '../port.ts'
import { VIRSH } from './names.ts'
import { refusalOf, type Virsh } from './virsh.ts'
import { childrenOf, find, parseXml } from './xml.ts'

/**
 * The serial line of a domain, by `virsh console` on its host. virsh needs a terminal, which `script` provides on any
 * way to the host. A serial line has no size.
 */
export function consoleOf(
  open: () => Virsh,
  shell: Shell | undefined,
  uri: string,
  target: SshTarget | undefined,
): GuestConsole {
  return {
    lines: ({ externalId }) => [consoleCommand(target, uri, externalId)],
    async open({ externalId: uuid, host, name }, _size, signal) {
      const doing = `open the console of domain ${uuid} on ${host}`
      const refuse = (reason: string, why: string) =>
        new ObservationFailed({ reason, meaning: 'stalled', message: `could not ${doing}: ${why}` })
      const questions = [
        ['domstate', uuid],
        ['dumpxml', uuid],
      ]
      const [state = '', xml = ''] = await open().hear(questions, doing, signal)
      const devices = find(parseXml(xml), 'devices')
      if (devices === undefined) throw refuse('NotFound', 'there is no such domain')
      if (!/running|paused|in shutdown|idle/.test(state))
        throw refuse('NotRunning', `it is off; run croft machine start ${name ?? uuid}`)
      if (childrenOf(devices, 'console').length + childrenOf(devices, 'serial').length === 0)
        throw refuse('NoSerialPort', `it has no serial port; add <serial type='pty'/> to it (${VIRSH} edit ${uuid})`)
      if (shell?.terminal === undefined) throw refuse('NoTerminal', 'this way to the host carries no terminal')
      try {
        const stream = await shell.terminal(onTerminal(uri, uuid), { farewell: LEAVE, signal })
        return { stream, resize: () => undefined }
      } catch (error) {
        if (error instanceof ShellFailure) throw new ObservationFailed(refusalOf(error, doing))
        throw error
      }
    },
  }
}

/** Ctrl and ], which ends virsh's console. */
const LEAVE = '\u001d'

/** --force: a broken line leaves its console open on the host, which must not block all others. */
function onTerminal(uri: string, uuid: string): readonly string[] {
  const words = ['virsh', '-c', uri, 'console', uuid, '--force']
  return ['env', 'LC_ALL=C', 'TERM=dumb', 'script', '-qec', words.map(shellWord).join(' '), '/dev/null']
}

/** Returns the command for the serial line; Ctrl and ] leaves it. */
function consoleCommand(target: SshTarget | undefined, uri: string, uuid: string): string {
  const virsh = `virsh -c ${uri} console ${uuid}`
  if (target === undefined || target.local === true) return virsh
  const port = target.port === 22 ? '' : ` -p ${target.port}`
  const become = target.sudo === 'none' ? '' : 'sudo '
  return `ssh -t${port} ${target.user}@${target.address} ${become}${virsh}`
}
