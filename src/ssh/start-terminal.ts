import { spawn, spawnSync } from 'node:child_process'
import { Duplex } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import type { Ended } from './child.ts'

export interface TerminalProgram {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Before anything that a person types. */
  readonly input: readonly Uint8Array[]
  /** Input that ends the program: a broken channel alone leaves it running on the other side. */
  readonly farewell: string
  readonly clock: Clock
  /** End the whole family of the program: for what runs on this computer. */
  readonly group: boolean
  /** Reports whether the program has started, by its error output so far. */
  began(stderr: string): boolean
  readonly signal: AbortSignal
}

/** Error output before the start is short. */
const STDERR_LENGTH = 64 * 1024
const FAREWELL_MS = 2_000

/** A program that goes on until one of the two sides ends it. Answers how it ended instead when it never began. */
export function startTerminal(program: TerminalProgram): Promise<Duplex | Ended> {
  const { argv, env, input, group, began, signal, farewell, clock } = program
  const [path = '', ...args] = argv
  const child = spawn(path, args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: group })
  const end = () => {
    try {
      if (group && child.pid !== undefined) {
        // `timeout` has left the group with all that it runs; the session is still the same. What `script` runs has a session of
        // its own, which ends with the terminal that it had.
        spawnSync('pkill', ['-KILL', '-s', String(child.pid)], { stdio: 'ignore' })
        process.kill(-child.pid, 'SIGKILL')
      } else child.kill('SIGTERM')
    } catch {
      // It has already ended.
    }
  }
  child.stdin.on('error', () => {})
  child.stdout.on('error', () => {})
  const gone = new AbortController()
  child.once('close', () => gone.abort())
  const close = () => {
    child.stdin.end(farewell)
    // Discard the rest of its output.
    child.stdout.resume()
    void clock.sleep(FAREWELL_MS, gone.signal).then(end)
  }
  // Read from the start: otherwise the output of a program that has already ended would be lost.
  const stream = duplexOf(child.stdin, child.stdout, close)
  let stderr = ''
  return new Promise((resolve) => {
    const never = (code: number, unstarted?: string) => {
      signal.removeEventListener('abort', abort)
      resolve({ code, stdout: Buffer.alloc(0), stderr, ...(unstarted === undefined ? {} : { unstarted }) })
    }
    const abort = () => {
      end()
      never(-1, 'ABORTED')
    }
    signal.addEventListener('abort', abort, { once: true })
    child.once('error', (error: NodeJS.ErrnoException) => never(-1, error.code ?? 'ERROR'))
    child.once('close', (code) => never(code ?? -1))
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length > STDERR_LENGTH) return
      stderr += chunk.toString('utf8')
      if (!began(stderr)) return
      signal.removeEventListener('abort', abort)
      resolve(stream)
    })
    for (const part of input) child.stdin.write(part)
    if (signal.aborted) abort()
  })
}

function duplexOf(stdin: NodeJS.WritableStream, stdout: NodeJS.ReadableStream, close: () => void): Duplex {
  const stream = new Duplex({
    // Close both directions when the other side ends.
    allowHalfOpen: false,
    read: () => void stdout.resume(),
    write: (chunk: Buffer, _encoding, done) => void stdin.write(chunk, () => done()),
    final(done) {
      stdin.end()
      done()
    },
    destroy(error, done) {
      close()
      done(error)
    },
  })
  stdout.on('data', (chunk: Buffer) => {
    if (stream.destroyed) return
    if (!stream.push(chunk)) stdout.pause()
  })
  stdout.once('end', () => stream.push(null))
  return stream
}
