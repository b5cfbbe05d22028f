import { defined } from '../lib/defined.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'
import { type Shell, ShellFailure } from '../lib/shell.ts'
import type { SshTarget } from '../model/secret.ts'
import { plainText } from './answer.ts'
import type { Ended } from './child.ts'
import { openLocalShell } from './local-shell.ts'
import { type Master, type MasterOptions, openMaster } from './master.ts'
import { programShell } from './program-shell.ts'
import { becomeOf, remoteLine } from './words.ts'

export interface ShellsOptions extends MasterOptions {
  readonly random: Random
}

/** Shells on computers, one connection for each computer however many ask for it. */
export interface Shells {
  /** Connects when it is first used. */
  open(target: SshTarget): Shell
  close(): Promise<void>
}

interface Shared {
  readonly shell: Shell
  users: number
}

export function createShells(options: ShellsOptions): Shells {
  const shared = new Map<string, Shared>()
  return {
    open(target) {
      const key = JSON.stringify(target)
      const found = shared.get(key) ?? { shell: openShell(target, options), users: 0 }
      shared.set(key, found)
      found.users++
      let closed = false
      const { run, readFile, writeFile, terminal } = found.shell
      return {
        run,
        ...defined({ terminal }),
        readFile,
        writeFile,
        async close() {
          if (closed) return
          closed = true
          found.users--
          if (found.users > 0) return
          if (shared.get(key) === found) shared.delete(key)
          await found.shell.close()
        },
      }
    },
    async close() {
      const all = [...shared.values()]
      shared.clear()
      await Promise.all(all.map(({ shell }) => shell.close()))
    },
  }
}

function openShell(target: SshTarget, options: ShellsOptions): Shell {
  const { sudo } = target
  const become = becomeOf(sudo)
  const password = typeof sudo === 'object' ? { password: () => options.resolveSecret(sudo.password) } : {}
  if (target.local === true) {
    return openLocalShell({ name: target.name, become, ...password, ...options })
  }
  let current: { readonly making: Promise<Master>; made?: Master } | undefined
  let env: Readonly<Record<string, string>> = {}

  /** Returns the connection, and reopens one that has ended, as after a reboot of the host. */
  async function connected(signal?: AbortSignal): Promise<Master> {
    if (current?.made?.isUp() === false) {
      void current.made.close()
      current = undefined
    }
    // Concurrent callers share one attempt and its result.
    current ??= begin()
    return await abandonable(current.making, signal)
  }

  function begin(): NonNullable<typeof current> {
    const one: NonNullable<typeof current> = { making: openMaster(target, options) }
    one.making.then(
      (made) => {
        one.made = made
      },
      () => {
        if (current === one) current = undefined
      },
    )
    return one
  }

  return programShell(
    {
      name: target.name,
      become,
      ...password,
      async words(argv, signal) {
        const line = remoteLine(argv)
        if (line === undefined)
          throw new ShellFailure('no', 'bad-argument', 'a word with a NUL character cannot be given to a program')
        if (line.length > LIMITS.sshLineLength)
          throw new ShellFailure('no', 'too-large', 'the arguments are longer than a command line may be')
        const up = await connected(signal)
        env = up.env
        return [...up.channel, line]
      },
      get env() {
        return env
      },
      group: false,
      failure: (ended) => channelFailure(target, ended),
      lost() {
        void current?.made?.close()
        current = undefined
      },
      async close() {
        const open = await current?.making.catch(() => undefined)
        current = undefined
        await open?.close()
      },
    },
    options,
  )
}

function abandonable<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(new ShellFailure('no', 'aborted', 'nobody waits for the connection any more'))
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Explains a failure after connecting: sudo refused, or the connection broke. */
function channelFailure(target: SshTarget, { stderr, code }: Ended): ShellFailure {
  const said = plainText(stderr, 200)
  if (/Session open refused|mux_client_request_session/i.test(stderr))
    return new ShellFailure('no', 'busy', `${target.name} runs as many programs at once as its sshd allows`)
  if (/sudo: /.test(stderr) || (target.sudo !== 'none' && code === 1)) {
    const how =
      typeof target.sudo === 'object'
        ? 'Is the password right, and may the user run everything?'
        : 'Let it run sudo without a password (a line in /etc/sudoers.d), or give ssh.sudo.password.'
    return new ShellFailure('no', 'denied', `${target.user} may not become root on ${target.name}: ${said}. ${how}`)
  }
  if (code === 255) return new ShellFailure('no', 'unreachable', `the connection to ${target.name} was lost: ${said}`)
  return new ShellFailure('no', 'unstarted', `${target.name} could not start a program: ${said || `code ${code}`}`)
}
