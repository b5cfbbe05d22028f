import type { Duplex } from 'node:stream'

/**
 * Programs and files on one computer, over any transport: SSH, the guest agent of a hypervisor, or this very computer.
 * Programs are given as words, never as a line for a shell to take apart.
 */
export interface Shell {
  /** Runs a program to its end. A code other than 0 is an answer, not a failure. Rejects with a ShellFailure. */
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>
  /** Undefined: there is no such file. */
  readFile(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined>
  /** Writes a file atomically; readers never see half of it, nor wider rights for a moment. */
  writeFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<void>
  /**
   * Starts an interactive program: its output and input are one stream, until one side ends it. Absent if the transport
   * has none. `farewell` is typed when the stream is closed here. Rejects with a ShellFailure.
   */
  terminal?(
    argv: readonly string[],
    options: { readonly farewell: string; readonly signal: AbortSignal },
  ): Promise<Duplex>
  close(): Promise<void>
}

export interface RunOptions {
  readonly input?: string | Uint8Array
  /** Timeout; default LIMITS.commandTimeoutMs. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface WriteOptions {
  /** Default 0o644. */
  readonly mode?: number
  readonly owner?: string
  readonly group?: string
  readonly signal?: AbortSignal
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The program did not run, or its fate is unknown. `ran: 'no'` means that it cannot have started. */
export class ShellFailure extends Error {
  readonly ran: 'no' | 'maybe'
  /** `unreachable`, `host-key`, `denied`, `no-agent`, `timeout`, `too-large`… */
  readonly code: string
  constructor(ran: 'no' | 'maybe', code: string, message: string) {
    super(message)
    this.name = 'ShellFailure'
    this.ran = ran
    this.code = code
  }
}
