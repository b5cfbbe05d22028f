import type { SshTarget } from '../model/secret.ts'

/** How the user becomes root; the password itself goes through stdin, never through arguments. */
export type Become = 'none' | 'passwordless' | 'password'

export function becomeOf(sudo: SshTarget['sudo']): Become {
  return typeof sudo === 'object' ? 'password' : sudo
}

/** Words that every login shell takes as they are. */
const PLAIN = /^[A-Za-z0-9_./:=@%+,-]+$/
/** The same set for the remote shell, which splits words with other characters. */
const NOT_PLAIN = '*[!A-Za-z0-9_./:=@%+,-]*'

/**
 * Decodes all words and runs them. It has no special characters within single quotes of any shell, so it works if the
 * login shell is dash, bash, zsh or fish. The x keeps newlines at the end, which `$( )` would remove.
 */
const DECODE =
  `LC_ALL=C; export LC_ALL; for a do shift; case $a in ${NOT_PLAIN}) a=$(printf %bx "$a"); a=\${a%x};; esac; ` +
  'set -- "$@" "$a"; done; exec "$@"'

/**
 * Reports the start and the end of the program on the error output, between marks that cannot be guessed. Without the
 * first mark it cannot have started; without the second its result is unknown. Input before the mark is skipped: a
 * password that sudo did not ask for must not become input of the program. Output that is read as a whole begins with
 * the mark: startup files of a login shell may print something before.
 */
const BEGIN =
  'n=$1; s=$2; o=$3; t=$4; shift 4; ' +
  'if [ "$s" = skip ]; then while IFS= read -r l; do [ "$l" = "$n" ] && break; done; fi; ' +
  'if [ "$o" = marked ]; then echo "$n"; fi; echo "began $n $$" >&2; ' +
  // Limit the time: a program without its caller must not run for ever.
  'if command -v timeout >/dev/null 2>&1; then timeout -k 5 "$t" "$@"; else "$@"; fi; ' +
  'c=$?; echo "ended $n $c" >&2; exit $c'

export interface Wrapping {
  readonly become: Become
  /** An unguessable word that marks our parts of the streams. */
  readonly nonce: string
  readonly timeoutMs: number
  /** The output begins with the nonce on a separate line. */
  readonly marked: boolean
}

/** The program with the marks around it, and with sudo where it is needed. */
export function wrap(argv: readonly string[], { become, nonce, timeoutMs, marked }: Wrapping): readonly string[] {
  const seconds = String(Math.ceil(timeoutMs / 1000) + 5)
  const inner = [
    'sh',
    '-c',
    BEGIN,
    'croft',
    nonce,
    become === 'password' ? 'skip' : 'keep',
    marked ? 'marked' : 'plain',
    seconds,
    ...argv,
  ]
  switch (become) {
    case 'none':
      return inner
    case 'passwordless':
      return ['sudo', '-n', '--', ...inner]
    case 'password':
      // -k ignores a cached password, so that sudo always asks for it and reads it.
      return ['sudo', '-S', '-k', '-p', '', '--', ...inner]
  }
}

/** Returns the words as one line for any login shell. Undefined: no line can express them. */
export function remoteLine(argv: readonly string[]): string | undefined {
  if (argv.some((word) => word.includes('\0'))) return undefined
  return `exec sh -c '${DECODE}' croft ${argv.map(encodeWord).join(' ')}`
}

/** Octal for every byte that is not plain, in single quotes: printf gives it back. */
export function encodeWord(word: string): string {
  if (PLAIN.test(word)) return word
  let text = ''
  for (const byte of Buffer.from(word, 'utf8')) {
    const char = String.fromCharCode(byte)
    text += PLAIN.test(char) ? char : `\\0${byte.toString(8).padStart(3, '0')}`
  }
  // An empty word needs no decoding, but quotes.
  return `'${text}'`
}
