import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CliError, EXIT, type ExitCode, UsageError } from '../../exit.ts'
import type { Options } from '../../program.ts'
import { clean, cleanLines } from '../../render/clean.ts'
import type { Runtime } from '../../runtime.ts'
import { timeoutOf } from '../../timeout.ts'
import { type Deed, textOf } from './find.ts'

/** Runs a program as root; its code is the code of the command. */
export function runProgram(runtime: Runtime, words: readonly string[], options: Options): Deed {
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
export function copy(runtime: Runtime, [from, to]: readonly string[], options: Options): Deed {
  if (from === undefined || to === undefined)
    throw new UsageError(
      'Name both files: croft host copy cow ./motd /etc/motd, or croft host copy cow :/etc/motd ./motd.',
    )
  if (options.mode !== undefined && !/^[0-7]{3,4}$/.test(textOf(options.mode)))
    throw new UsageError(`--mode ${textOf(options.mode)} is no file mode. Write it like 0640.`)
  return async (shell) => {
    if (from.startsWith(':')) {
      const bytes = await shell.readFile(from.slice(1), runtime.signal)
      if (bytes === undefined) throw new CliError(`There is no file ${from.slice(1)} on it. Correct the path.`)
      await writeFile(path.resolve(runtime.cwd, to), bytes, { flag: 'wx', mode: 0o600 }).catch((error: Error) => {
        throw new CliError(`${to} cannot be written: ${error.message}. Name a file that does not exist.`)
      })
      return { code: EXIT.ok, message: `${clean(from.slice(1))} fetched, ${bytes.length} bytes` }
    }
    const bytes = await readFile(path.resolve(runtime.cwd, from)).catch((error: Error) => {
      throw new CliError(`${from} cannot be read: ${error.message}. Correct its path.`)
    })
    const mode = options.mode === undefined ? 0o644 : Number.parseInt(textOf(options.mode), 8)
    await shell.writeFile(to, bytes, { mode, signal: runtime.signal })
    return { code: EXIT.ok, message: `${clean(to)} written, ${bytes.length} bytes` }
  }
}

const REBOOT =
  'if [ -d /run/systemd/system ]; then systemd-run --quiet --on-active=2 systemctl reboot; else shutdown -r +0; fi'

/** Restarts a host now. A person means it; nothing that Git declares asks for it. */
export function reboot(runtime: Runtime, name: string): Deed {
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
