import { cleanText } from '../../lib/clean-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Ran, type RunOptions, type Shell, ShellFailure } from '../../lib/shell.ts'
import { isRecord, returned } from './agent-answers.ts'
import type { Virsh } from './virsh.ts'

/** What the agent takes at once: libvirt refuses messages beyond 4 MiB, and base64 makes a third more of it. */
const CHUNK_BYTES = 1024 * 1024
const FIRST_POLL_MS = 100
const LONGEST_POLL_MS = 2_000

/** A shell inside a guest over its agent. It needs no network, no password and no key. */
export function agentShell(virsh: Virsh, uuid: string, clock: Clock): Shell {
  const doing = `speak to the agent of domain ${uuid}`

  const command = async (execute: string, args: object, signal: AbortSignal): Promise<unknown> => {
    const words = ['qemu-agent-command', '--timeout', '30', uuid, JSON.stringify({ execute, arguments: args })]
    const [answer = ''] = await virsh.ask([words], doing, signal)
    const value = returned(answer)
    if (value === undefined) throw new ShellFailure('maybe', 'no-agent', `the agent of domain ${uuid} does not answer`)
    return value
  }

  const run = async (argv: readonly string[], options: RunOptions = {}): Promise<Ran> => {
    const [path, ...arg] = argv
    const signal = options.signal ?? new AbortController().signal
    if (path === undefined) throw new ShellFailure('no', 'no-program', 'no program was named')
    const deadline = clock.monotonicMs() + (options.timeoutMs ?? LIMITS.commandTimeoutMs)
    const input = options.input === undefined ? {} : { 'input-data': Buffer.from(options.input).toString('base64') }
    const started = await command('guest-exec', { path, arg, ...input, 'capture-output': true }, signal)
    const pid = isRecord(started) ? started.pid : undefined
    if (typeof pid !== 'number') throw new ShellFailure('maybe', 'no-agent', 'the agent did not say what it started')
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
      const status = await command('guest-exec-status', { pid }, signal)
      if (isRecord(status) && status.exited === true) return ranOf(status)
      if (clock.monotonicMs() > deadline || signal.aborted)
        throw new ShellFailure('maybe', 'timeout', `${cleanText(path, 100)} did not end in time`)
      await clock.sleep(pause, signal)
    }
  }

  return {
    run,
    async readFile(path, signal = new AbortController().signal) {
      const there = await run(['test', '-e', path], { signal })
      if (there.code !== 0) return undefined
      const handle = await command('guest-file-open', { path, mode: 'r' }, signal)
      try {
        return await readAll((count) => command('guest-file-read', { handle, count }, signal))
      } finally {
        await command('guest-file-close', { handle }, signal)
      }
    },
    async writeFile(path, content, options = {}) {
      const signal = options.signal ?? new AbortController().signal
      const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content)
      const mode = (options.mode ?? 0o644).toString(8)
      const part = `${path}.croft-part`
      // Made with the rights that it will have: at no moment may more people read it.
      const made = await run(['install', '-m', mode, '/dev/null', part], { signal })
      if (made.code !== 0) throw new ShellFailure('no', 'write', `${path}: ${cleanText(made.stderr, 200)}`)
      const handle = await command('guest-file-open', { path: part, mode: 'r+' }, signal)
      try {
        for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
          await command(
            'guest-file-write',
            { handle, 'buf-b64': bytes.subarray(at, at + CHUNK_BYTES).toString('base64') },
            signal,
          )
      } finally {
        await command('guest-file-close', { handle }, signal)
      }
      if (options.owner !== undefined || options.group !== undefined)
        await mustRun(['chown', `${options.owner ?? ''}:${options.group ?? ''}`, part], signal)
      await mustRun(['mv', '-f', part, path], signal)
    },
    close: () => Promise.resolve(),
  }

  async function mustRun(argv: readonly string[], signal: AbortSignal): Promise<void> {
    const ran = await run(argv, { signal })
    if (ran.code !== 0) throw new ShellFailure('maybe', 'write', cleanText(ran.stderr, 200))
  }
}

async function readAll(read: (count: number) => Promise<unknown>): Promise<Uint8Array> {
  const parts: Buffer[] = []
  let bytes = 0
  for (;;) {
    const got = await read(CHUNK_BYTES)
    if (!isRecord(got) || typeof got['buf-b64'] !== 'string') break
    const part = Buffer.from(got['buf-b64'], 'base64')
    bytes += part.length
    if (bytes > LIMITS.shellFileBytes) throw new ShellFailure('maybe', 'too-large', 'the file is too large')
    parts.push(part)
    if (got.eof === true || part.length === 0) break
  }
  return new Uint8Array(Buffer.concat(parts))
}

function ranOf(status: Readonly<Record<string, unknown>>): Ran {
  const text = (value: unknown) => (typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '')
  const signal = typeof status.signal === 'number' ? 128 + status.signal : undefined
  const code = typeof status.exitcode === 'number' ? status.exitcode : (signal ?? 1)
  return { code, stdout: text(status['out-data']), stderr: text(status['err-data']) }
}
