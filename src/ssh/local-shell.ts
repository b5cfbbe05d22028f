import { type Shell, ShellFailure } from '../lib/shell.ts'
import type { Secret } from '../model/secret.ts'
import { plainText } from './answer.ts'
import { programShell, type ShellTools } from './program-shell.ts'
import type { Become } from './words.ts'

export interface LocalOptions extends ShellTools {
  readonly name: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly become: Become
  password?(): Promise<Secret>
}

/** This very computer: the same contract, no connection. */
export function openLocalShell(options: LocalOptions): Shell {
  const { name, become, env, password } = options
  return programShell(
    {
      name,
      become,
      ...(password === undefined ? {} : { password }),
      async words(argv) {
        if (argv.some((one) => one.includes('\0')))
          throw new ShellFailure('no', 'bad-argument', 'a word with a NUL character cannot be given to a program')
        return argv
      },
      // Does not pass on the user's environment, which may hold secrets.
      env: { PATH: SYSTEM_PATH, HOME: env.HOME ?? '/', LC_ALL: 'C' },
      group: true,
      failure: ({ stderr, unstarted }) =>
        new ShellFailure(
          'no',
          become === 'none' ? 'unstarted' : 'denied',
          `${name}: ${plainText(stderr) || unstarted || 'the program could not be started'}`,
        ),
      close: async () => {},
    },
    options,
  )
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
