import { Duplex } from 'node:stream'
import type { TerminalSize } from '../../lib/remote-terminal.ts'
import type { Consoles, OpenedConsole } from '../port.ts'

/** An opened line: the received input, and the machine's answers. */
export interface FakeLine {
  readonly key: string
  readonly typed: Buffer[]
  readonly sizes: TerminalSize[]
  /** Bytes that croft holds because the machine has not taken them. */
  waiting(): number
  /** Reports whether the machine's output is read. */
  wanted(): boolean
  /** False: the other side does not read now. */
  say(bytes: string | Uint8Array): boolean
  /** The machine ends it. */
  hangUp(): void
  readonly closed: Promise<void>
  /** Handles input. Default: accepts it at once. */
  take: (bytes: Buffer, done: () => void) => void
}

export interface FakeConsoles extends Consoles {
  readonly lines: FakeLine[]
  /** All requested consoles, opened or not. */
  readonly asked: string[]
  /** The next is not opened, but this is answered. */
  refuse?: Exclude<OpenedConsole, { readonly ok: true }> | undefined
  /** Waits before it opens, until this resolves. */
  slow?: Promise<void> | undefined
}

/** Consoles that greet, and echo every line in capitals. */
export function fakeConsoles(offers: (key: string) => boolean): FakeConsoles {
  const lines: FakeLine[] = []
  const consoles: FakeConsoles = {
    lines,
    asked: [],
    offers,
    async open(key, _size, signal) {
      consoles.asked.push(key)
      await consoles.slow
      if (signal.aborted) return { ok: false, reason: 'away', message: `The console of ${key} did not open in time.` }
      const { refuse } = consoles
      consoles.refuse = undefined
      if (refuse !== undefined) return refuse
      const { line, stream } = fakeLine(key)
      lines.push(line)
      return { ok: true, terminal: { stream, resize: (size) => void line.sizes.push(size) } }
    },
  }
  return consoles
}

function fakeLine(key: string) {
  let wanted = false
  const stream = new Duplex({
    allowHalfOpen: false,
    read() {
      wanted = true
    },
    write(chunk: Buffer, _encoding, done) {
      line.typed.push(chunk)
      line.take(chunk, done)
    },
  })
  const line: FakeLine = {
    key,
    typed: [],
    sizes: [],
    waiting: () => stream.writableLength,
    wanted: () => wanted,
    say(bytes) {
      wanted = stream.push(bytes)
      return wanted
    },
    hangUp: () => void stream.push(null),
    closed: new Promise((done) => stream.once('close', () => done())),
    take(bytes, done) {
      stream.push(bytes.toString('utf8').toUpperCase().replaceAll('\r', '\r\n'))
      done()
    },
  }
  stream.push(`${key} login: `)
  return { line, stream }
}
