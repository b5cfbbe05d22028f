import path from 'node:path'
import { LIMITS } from '../../../lib/limits.ts'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'
import { timeoutOf } from '../../render/duration.ts'
import { clean, cleanLines } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, EXIT, type ExitCode, type Options, UsageError } from '../../verb.ts'
import { type Carrying, carryBack, carryThere } from './carry.ts'
import { type HostDeed, textOf } from './find.ts'

/** Runs a program as root; its code is the code of the command. */
export function runProgram(runtime: Runtime, words: readonly string[], options: Options): HostDeed {
  if (words.length === 0) throw new UsageError('Name the program after two dashes: croft host run cow -- uptime.')
  return async (shell) => {
    const timeoutMs = options.timeout === undefined ? {} : { timeoutMs: timeoutOf(options.timeout) }
    const ran = await shell.run(words, { signal: runtime.signal, ...timeoutMs })
    const shown = (text: string, isTty: boolean) => (isTty ? cleanLines(text, Number.POSITIVE_INFINITY) : text)
    runtime.out.write(shown(ran.stdout, runtime.out.isTty))
    runtime.err.write(shown(ran.stderr, runtime.err.isTty))
    return { code: (ran.code > 255 ? 1 : ran.code) as ExitCode, message: `${clean(words[0] ?? '')}: code ${ran.code}` }
  }
}

/** A file to the host, or with a colon before its path from the host; an ISO image is a file like any other. */
export function copy(runtime: Runtime, [from, to]: readonly string[], options: Options): HostDeed {
  if (from === undefined || to === undefined)
    throw new UsageError(
      'Name both files: croft host copy cow ./motd /etc/motd, or croft host copy cow :/etc/motd ./motd.',
    )
  if (options.mode !== undefined && !/^[0-7]{3,4}$/.test(textOf(options.mode)))
    throw new UsageError(`--mode ${textOf(options.mode)} is not a file mode. Write it like 0640.`)
  return async (shell) => {
    const how = { signal: runtime.signal, ...progress(runtime) }
    if (from.startsWith(':')) {
      const local = path.resolve(runtime.cwd, to)
      const bytes = await carryBack(shell, from.slice(1), local, { ...how, mode: 0o600 }).catch((error: Error) => {
        if (error instanceof ShellFailure) throw error
        throw new CliError(`${to} cannot be written: ${error.message}. Name a file that does not exist.`)
      })
      if (bytes === undefined) throw new CliError(`There is no file ${from.slice(1)} on it. Correct the path.`)
      return { code: EXIT.ok, message: `${clean(from.slice(1))} fetched, ${bytes} bytes` }
    }
    const mode = options.mode === undefined ? 0o644 : Number.parseInt(textOf(options.mode), 8)
    const bytes = await carried(runtime, shell, from, wholePath(to), mode)
    return { code: EXIT.ok, message: `${clean(to)} written, ${bytes} bytes` }
  }
}

/** Uploads a disc image to a storage of a Proxmox host. Its name must not contain a path. */
export function uploadIso(runtime: Runtime, [from]: readonly string[], options: Options): HostDeed {
  if (from === undefined) throw new UsageError('Name the file: croft host upload-iso pve1 ./debian.iso.')
  const name = textOf(options.as) || path.basename(from)
  const storage = textOf(options.storage) || 'local'
  if (!/^[A-Za-z0-9][A-Za-z0-9._+-]*\.(?:iso|img)$/i.test(name))
    throw new UsageError(
      `${clean(name)} is not a name for a disc image. Give one that ends with .iso: --as debian.iso.`,
    )
  if (!/^[A-Za-z][A-Za-z0-9._-]*$/.test(storage)) throw new UsageError(`--storage ${clean(storage)} is not a storage.`)
  return async (shell) => {
    // Ask the storage where it keeps its disc images.
    const asked = await shell.run(['pvesm', 'path', `${storage}:iso/${name}`], { signal: runtime.signal })
    const place = asked.stdout.trim()
    if (asked.code === 127)
      throw new CliError('It is not a Proxmox host. Name the place yourself: croft host copy HOST FILE /PATH.')
    if (asked.code !== 0 || !place.startsWith('/') || !place.endsWith(`/${name}`))
      throw new CliError(
        `${storage} takes no disc images: ${clean(asked.stderr.trim())}. Name another storage with --storage.`,
      )
    const bytes = await carried(runtime, shell, from, place, 0o644)
    runtime.out.write(`${storage}:iso/${name}\n`)
    return { code: EXIT.ok, message: `${storage}:iso/${name} uploaded, ${bytes} bytes` }
  }
}

async function carried(runtime: Runtime, shell: Shell, from: string, to: string, mode: number): Promise<number> {
  const how = { mode, signal: runtime.signal, ...progress(runtime) }
  return carryThere(shell, path.resolve(runtime.cwd, from), to, how).catch((error: Error) => {
    if (error instanceof ShellFailure) throw error
    throw new CliError(`${from} cannot be read: ${error.message}. Correct its path.`)
  })
}

function wholePath(text: string): string {
  if (text.startsWith('/') && !text.includes('\0') && !text.split('/').includes('..')) return text
  throw new UsageError(`${clean(text)} is not the whole path of a file. Write it like /etc/motd.`)
}

/** Shows progress on a terminal. */
function progress(runtime: Runtime): Pick<Carrying, 'onProgress'> {
  if (!runtime.err.isTty) return {}
  return {
    onProgress: (bytes, of) => {
      const whole = of > 0 ? Math.floor((100 * bytes) / of) : 100
      if (of > 2 * LIMITS.carriedPieceBytes) runtime.err.write(`\r${whole} % of ${Math.ceil(of / 2 ** 20)} MiB`)
      if (of > 2 * LIMITS.carriedPieceBytes && bytes >= of) runtime.err.write('\n')
    },
  }
}

const REBOOT =
  'if [ -d /run/systemd/system ]; then systemd-run --quiet --on-active=2 --timer-property=AccuracySec=1s systemctl reboot; else shutdown -r +0; fi'

/** Restarts a host now. A person means it; nothing that Git declares asks for it. */
export function reboot(runtime: Runtime, name: string): HostDeed {
  return async (shell) => {
    const ran = await shell.run(['sh', '-c', REBOOT], { signal: runtime.signal })
    if (ran.code !== 0)
      throw new CliError(
        `${name} was not restarted: ${clean(ran.stderr)}. Look at it with croft host run ${name} -- systemctl status.`,
      )
    runtime.out.write(`${name} restarts.\n`)
    return { code: EXIT.ok, message: 'restarted' }
  }
}
