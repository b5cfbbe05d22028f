import { cleanText } from '../../lib/clean-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import { isRecord } from '../../lib/is-record.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Random } from '../../lib/random.ts'
import { type Ran, type RunOptions, type Shell, ShellFailure } from '../../lib/shell.ts'
import { ObservationFailed } from '../port.ts'
import type { Virsh } from './virsh.ts'

/** The agent's limit: libvirt refuses messages beyond 4 MiB, and base64 twice nearly doubles the size. */
const CHUNK_BYTES = 768 * 1024
const FIRST_POLL_MS = 100
const LONGEST_POLL_MS = 2_000

/** Creates a file that only root can read. Fails if a link or a file has its name already. */
const BEGIN = 'set -Ceu; umask 077; base64 -d >"$1"'
const APPEND = 'set -eu; umask 077; base64 -d >>"$1"'
/** Sets owner, then mode, then name: so the file never has more rights than requested. */
const FINISH = 'set -eu; [ -z "$3" ] || chown -- "$3" "$1"; chmod -- "$4" "$1"; mv -f -- "$1" "$2"'

/** A shell inside a guest over its agent. It needs no network, no password and no key. */
export function agentShell(
  virsh: Virsh,
  uuid: string,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Shell {
  const doing = `speak to the agent of domain ${uuid}`

  const command = async (execute: string, args: object, signal: AbortSignal): Promise<unknown> => {
    const words = ['qemu-agent-command', '--timeout', '30', uuid, JSON.stringify({ execute, arguments: args })]
    const [answer = ''] = await virsh.hear([words], doing, signal).catch((error: unknown) => {
      // The request may have arrived.
      if (error instanceof ObservationFailed) throw new ShellFailure('maybe', 'unreachable', error.message)
      throw error
    })
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
      const bytes = Buffer.from(content)
      if (!path.startsWith('/') || bytes.length > LIMITS.shellFileBytes)
        throw new ShellFailure('no', 'unsendable', `${cleanText(path, 200)} cannot be written so`)
      const part = `${path}.croft-${Math.floor(random.next() * 2 ** 48).toString(16)}`
      const sh = async (script: string, words: readonly string[], input?: string) => {
        const argv = ['/bin/sh', '-c', script, 'croft', part, ...words]
        const more = options.signal === undefined ? {} : { signal: options.signal }
        const ran = await run(argv, { ...more, ...(input === undefined ? {} : { input }) })
        if (ran.code === 0) return
        await run(['rm', '-f', '--', part], more).catch(() => undefined)
        throw new ShellFailure('maybe', 'refused', `${cleanText(path, 200)}: ${cleanText(ran.stderr, 300)}`)
      }
      for (let at = 0; at === 0 || at < bytes.length; at += CHUNK_BYTES)
        await sh(at === 0 ? BEGIN : APPEND, [], bytes.subarray(at, at + CHUNK_BYTES).toString('base64'))
      const { owner = '', group, mode = 0o644 } = options
      await sh(FINISH, [path, group === undefined ? owner : `${owner}:${group}`, mode.toString(8).padStart(4, '0')])
    },
    close: () => Promise.resolve(),
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

/** Parses the answers of a guest's agent. The guest is untrusted: wrong types and huge lists become harmless. */

const MOST_ADDRESSES = 256

/** Returns the content of `{"return": …}`. Undefined: the agent did not answer. */
export function returned(answer: string): unknown {
  const begin = answer.indexOf('{')
  return begin === -1 ? undefined : recordIn(answer.slice(begin))?.return
}

/** Returns addresses that reach the guest, without loopback and link-local ones. */
export function readAddresses(answer: string): readonly string[] | undefined {
  const interfaces = returned(answer)
  if (!Array.isArray(interfaces)) return undefined
  const addresses: string[] = []
  for (const one of interfaces as readonly unknown[]) {
    const list = isRecord(one) && one.name !== 'lo' ? one['ip-addresses'] : undefined
    for (const entry of Array.isArray(list) ? (list as readonly unknown[]) : []) {
      const text = isRecord(entry) ? entry['ip-address'] : undefined
      if (typeof text === 'string' && /^[0-9a-fA-F.:]{2,45}$/.test(text) && !/^(?:fe80:|127\.|::1$)/i.test(text))
        addresses.push(text)
      if (addresses.length >= MOST_ADDRESSES) return addresses
    }
  }
  return addresses
}

/** Returns the content from guest-file-read. */
export function fileText(answer: string): string | undefined {
  const read = returned(answer)
  const coded = isRecord(read) ? read['buf-b64'] : undefined
  return typeof coded === 'string' ? Buffer.from(coded, 'base64').toString('utf8') : undefined
}
