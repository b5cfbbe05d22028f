import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { defined } from '../../../lib/defined.ts'
import { type Ran, type Shell, ShellFailure } from '../../../lib/shell.ts'

import { ownState } from '../../load.ts'
import { timeoutOf } from '../../render/duration.ts'
import { cleanLines } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, EXIT, type ExitCode, type Options, UsageError } from '../../verb.ts'
import { type AskedMachine, noteOperation, withGuest } from './find.ts'

type MachineCommand = (shell: Shell) => Promise<{ readonly code: ExitCode; readonly message: string }>

/** Runs a program inside, without SSH and without the machine's network. Its code is the code of the command. */
export function exec(runtime: Runtime, words: readonly string[], options: Options): MachineCommand {
  if (words.length === 0) throw new UsageError('Name the program after two dashes: croft machine exec web-1 -- uptime.')
  return async (shell) => {
    const timeoutMs = options.timeout === undefined ? undefined : timeoutOf(options.timeout)
    const ran: Ran = await shell.run(words, defined({ signal: runtime.signal, timeoutMs }))
    // On a terminal, output from inside must not move the cursor; a file gets every byte.
    const shown = (text: string, isTty: boolean) => (isTty ? cleanLines(text, Number.POSITIVE_INFINITY) : text)
    runtime.out.write(shown(ran.stdout, runtime.out.isTty))
    runtime.err.write(shown(ran.stderr, runtime.err.isTty))
    return { code: (ran.code > 255 ? 1 : ran.code) as ExitCode, message: `${words[0]}: code ${ran.code}` }
  }
}

/** A file out of the machine: into a file here, or onto the terminal. */
export function read(runtime: Runtime, [from, to]: readonly string[]): MachineCommand {
  if (from === undefined) throw new UsageError('Name the file: croft machine read web-1 /etc/hostname [file here].')
  return async (shell) => {
    const bytes = await shell.readFile(from, runtime.signal)
    if (bytes === undefined) throw new CliError(`There is no file ${from} in it.`)
    if (to !== undefined) await writeFile(path.resolve(runtime.cwd, to), bytes, { flag: 'wx', mode: 0o600 })
    else {
      const text = new TextDecoder().decode(bytes)
      runtime.out.write(runtime.out.isTty ? cleanLines(text, Number.POSITIVE_INFINITY) : text)
    }
    return { code: EXIT.ok, message: `${from}: ${bytes.length} bytes` }
  }
}

/** A file into the machine, whole or not at all. */
export function write(runtime: Runtime, [from, to]: readonly string[], options: Options): MachineCommand {
  if (from === undefined || to === undefined)
    throw new UsageError('Name both files: croft machine write web-1 ./motd /etc/motd.')
  const asked = options.mode as string | undefined
  if (asked !== undefined && !/^[0-7]{3,4}$/.test(asked))
    throw new UsageError(`--mode ${asked} is not a file mode. Write it like 0640.`)
  const mode = asked === undefined ? 0o600 : Number.parseInt(asked, 8)
  return async (shell) => {
    const bytes = await readFile(path.resolve(runtime.cwd, from)).catch((error: Error) => {
      throw new CliError(`${from} cannot be read: ${error.message}`)
    })
    await shell.writeFile(to, bytes, { signal: runtime.signal, mode })
    return { code: EXIT.ok, message: `${to}: ${bytes.length} bytes` }
  }
}

/** Opens a shell or file channel into a machine and records the access in the journal. */
export async function inside(asked: AskedMachine, what: string, deed: MachineCommand): Promise<ExitCode> {
  const { runtime, directory, resource, options } = asked
  await using store = await ownState(runtime, directory, options)
  return await withGuest(asked, async (session, observed) => {
    const shell = session.agent?.shell(observed)
    if (shell === undefined) throw new CliError(`No lane leads into ${resource.key}.`)
    try {
      const { code, message } = await deed(shell)
      await noteOperation(runtime, store.it, resource.key, what, 'done', message)
      return code
    } catch (error) {
      if (!(error instanceof ShellFailure)) throw error
      await noteOperation(runtime, store.it, resource.key, what, 'refused', error.message)
      throw new CliError(`${error.message}${ADVICE[error.code] ?? ''}`)
    } finally {
      await shell.close()
    }
  })
}

const ADVICE: Readonly<Record<string, string>> = {
  'no-agent': '. Is qemu-guest-agent installed and running inside?',
  'not-running': '. Start it: croft machine start NAME.',
}
