import { Duplex } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'
import { type Ran, type RunOptions, type Shell, ShellFailure, type WriteOptions } from '../lib/shell.ts'
import type { Secret } from '../model/secret.ts'
import { plainText, readMarks } from './answer.ts'
import { type Ended, runChild } from './child.ts'
import { startTerminal } from './start-terminal.ts'
import { type Become, wrap } from './words.ts'

/** The way on which programs are started: this computer, or a connection. */
export interface ProgramStarter {
  /** The computer's name for people. */
  readonly name: string
  readonly become: Become
  password?(): Promise<Secret>
  /** Returns the local command that runs these words remotely. Connects if needed. */
  words(argv: readonly string[], signal?: AbortSignal): Promise<readonly string[]>
  readonly env: Readonly<Record<string, string>>
  readonly group: boolean
  /** Explains the local program's error if the remote one never started. */
  failure(ended: Ended): ShellFailure
  /** The connection broke. It may be a moment until it is seen to be down: the next program must not go over it. */
  lost?(): void
  close(): Promise<void>
}

export interface ShellTools {
  readonly clock: Clock
  readonly random: Random
}

/** Answers 44 for a file that is not there, as no program of ours ends otherwise. */
const READ = 'if [ ! -e "$1" ] && [ ! -L "$1" ]; then exit 44; fi; exec cat -- "$1"'
const MISSING = 44

/**
 * Beside the file, with our rights only, whole, on the disk; then in one move in its place. The count of bytes tells a
 * transfer that was cut off from a whole one.
 */
const WRITE =
  'set -eu; umask 077; t=$(mktemp -- "$(dirname -- "$1")/.croft.XXXXXXXX"); ' +
  'trap \'rm -f -- "$t"\' EXIT; trap "exit 1" HUP INT TERM; cat >"$t"; ' +
  'if [ "$(wc -c <"$t")" -ne "$2" ]; then echo "only part of the file arrived" >&2; exit 45; fi; ' +
  'if [ -n "$4" ]; then chown -- "$4" "$t"; fi; chmod -- "$3" "$t"; ' +
  'sync -d -- "$t" 2>/dev/null || sync; mv -fT -- "$t" "$1"; trap - EXIT'

/** A Shell on any way that can start programs. */
export function programShell(way: ProgramStarter, { clock, random }: ShellTools): Shell {
  const channels = createQueue(LIMITS.channelsPerHost)
  let closed = false

  async function start(argv: readonly string[], options: RunOptions & { maxBytes: number }) {
    const { signal, timeoutMs = LIMITS.commandTimeoutMs } = options
    if (closed) throw new ShellFailure('no', 'closed', `the connection to ${way.name} has been closed`)
    if (argv.length === 0 || argv[0] === '') throw new ShellFailure('no', 'bad-argument', 'there is no program to run')
    for (let attempt = 1; ; attempt++) {
      const nonce = `croft-${word(random)}${word(random)}`
      const words = await way.words(wrap(argv, { become: way.become, nonce, timeoutMs, marked: true }), signal)
      const ended = await runChild(words, {
        env: way.env,
        input: await inputOf(way, nonce, options.input),
        timeoutMs,
        maxBytes: options.maxBytes,
        group: way.group,
        clock,
        ...(signal === undefined ? {} : { signal }),
      })
      if (ended.cut !== undefined) await endThere(nonce, ended)
      const result = resultOf(way, argv[0] ?? '', nonce, ended)
      if (!(result instanceof ShellFailure)) return result
      if (result.code === 'lost' || result.code === 'unreachable') way.lost?.()
      // The server has no free session, so the program has not started: retry when others have ended.
      if (result.code !== 'busy' || attempt >= LIMITS.busyRetries) throw result
      await clock.sleep(LIMITS.busyRetryMs, signal)
    }
  }

  /** Ends an abandoned program on the other side too: a broken channel alone does not. */
  async function endThere(nonce: string, ended: Ended): Promise<void> {
    const marks = readMarks(ended.stderr, nonce)
    if (!marks.began || marks.code !== undefined) return
    const mine = `croft-${word(random)}${word(random)}`
    const argv = ['pkill', '-TERM', '-P', String(marks.pid)]
    try {
      const timeoutMs = LIMITS.connectTimeoutMs
      const words = await way.words(wrap(argv, { become: way.become, nonce: mine, timeoutMs, marked: false }))
      const input = await inputOf(way, mine, undefined)
      const maxBytes = LIMITS.foreignTextLength
      await runChild(words, { env: way.env, input, timeoutMs, maxBytes, group: way.group, clock })
    } catch {
      // Its own timeout ends it then.
    }
  }

  const run = (argv: readonly string[], options: RunOptions & { maxBytes: number }) =>
    channels(() => start(argv, options), options.signal)

  return {
    async run(argv, options = {}): Promise<Ran> {
      const ended = await run(argv, { ...options, maxBytes: LIMITS.commandOutputBytes })
      return { code: ended.code, stdout: ended.stdout.toString('utf8'), stderr: ended.stderr }
    },
    async readFile(path, signal) {
      mustBePath(path)
      const ended = await run(['sh', '-c', READ, 'croft', path], { maxBytes: LIMITS.shellFileBytes, ...given(signal) })
      if (ended.code === MISSING) return undefined
      if (ended.code !== 0) throw fileFailure(way.name, 'read', path, ended.stderr)
      return new Uint8Array(ended.stdout)
    },
    async writeFile(path, content, options: WriteOptions = {}) {
      mustBePath(path)
      const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content
      if (bytes.length > LIMITS.shellFileBytes)
        throw new ShellFailure('no', 'too-large', `${path} is larger than croft carries over a shell`)
      const mode = (options.mode ?? 0o644).toString(8).padStart(4, '0')
      const owner = `${options.owner ?? ''}${options.group === undefined ? '' : `:${options.group}`}`
      const argv = ['sh', '-c', WRITE, 'croft', path, String(bytes.length), mode, owner]
      const ended = await run(argv, { input: bytes, maxBytes: LIMITS.commandOutputBytes, ...given(options.signal) })
      if (ended.code !== 0) throw fileFailure(way.name, 'write', path, ended.stderr)
    },
    async terminal(argv, { farewell, signal }) {
      if (closed) throw new ShellFailure('no', 'closed', `the connection to ${way.name} has been closed`)
      const nonce = `croft-${word(random)}${word(random)}`
      const wrapped = wrap(argv, { become: way.become, nonce, timeoutMs: LIMITS.consoleMs, marked: false })
      const started = await startTerminal({
        argv: await way.words(wrapped, signal),
        env: way.env,
        input: await inputOf(way, nonce, undefined),
        group: way.group,
        farewell,
        clock,
        began: (stderr) => readMarks(stderr, nonce).began,
        signal,
      })
      if (started instanceof Duplex) return started
      throw started.unstarted === 'ABORTED'
        ? new ShellFailure('no', 'aborted', 'nobody waits for it any more')
        : way.failure(started)
    },
    async close() {
      if (closed) return
      closed = true
      await way.close()
    },
  }
}

/** Password for sudo, the mark that ends what is not for the program, and what is. */
async function inputOf(way: ProgramStarter, nonce: string, input: RunOptions['input']): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = []
  if (way.become === 'password') {
    const password = await way.password?.()
    if (password === undefined) throw new ShellFailure('no', 'denied', `there is no password for sudo on ${way.name}`)
    parts.push(Buffer.from(`${password.word()}\n${nonce}\n`, 'utf8'))
  }
  if (input !== undefined) parts.push(typeof input === 'string' ? Buffer.from(input, 'utf8') : input)
  return parts
}

interface ProgramResult {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

function resultOf(way: ProgramStarter, program: string, nonce: string, ended: Ended): ProgramResult | ShellFailure {
  const marks = readMarks(ended.stderr, nonce)
  if (ended.cut !== undefined) {
    const ran = ended.unstarted === undefined ? 'maybe' : 'no'
    return new ShellFailure(ran, ended.cut, `${program} on ${way.name} was ended: ${WHY_CUT[ended.cut]}`)
  }
  if (!marks.began) return way.failure(ended)
  if (marks.code === undefined)
    return new ShellFailure('maybe', 'lost', `the connection to ${way.name} was lost while ${program} ran`)
  return { code: marks.code, stdout: outputAfter(ended.stdout, `${nonce}\n`), stderr: marks.stderr }
}

/** Returns the program's own output. */
function outputAfter(stdout: Buffer, mark: string): Buffer {
  const at = stdout.indexOf(mark)
  return at < 0 ? stdout : stdout.subarray(at + mark.length)
}

const WHY_CUT = {
  timeout: 'it took too long',
  aborted: 'nobody waits for it any more',
  'too-large': 'it said more than croft keeps',
} as const

function fileFailure(name: string, what: 'read' | 'write', path: string, stderr: string): ShellFailure {
  const missing = /no such file or directory/i.test(stderr)
  const denied = /permission denied|operation not permitted|read-only file system/i.test(stderr)
  const code = missing ? 'not-found' : denied ? 'denied' : what === 'read' ? 'unreadable' : 'unwritable'
  return new ShellFailure(
    'no',
    code,
    `${plainText(path)} on ${name} cannot be ${what === 'read' ? 'read' : 'written'}: ${plainText(stderr)}`,
  )
}

function mustBePath(path: string): void {
  if (!path.startsWith('/') || path.includes('\0') || path.split('/').includes('..'))
    throw new ShellFailure('no', 'bad-argument', `${plainText(path)} is not the whole path of a file`)
}

function given(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

function word(random: Random): string {
  return Math.floor(random.next() * 2 ** 48)
    .toString(36)
    .padStart(10, '0')
}

/** At most so many at once; the others wait their turn. */
function createQueue(width: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    if (running >= width) {
      if (waiting.length >= LIMITS.channelsWaiting)
        throw new ShellFailure('no', 'busy', 'too many programs wait for their turn on one computer')
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running++
    try {
      if (signal?.aborted === true) throw new ShellFailure('no', 'aborted', 'nobody waits for it any more')
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
