import type { Runtime } from './runtime.ts'

export type Options = Readonly<Record<string, unknown>>

/** `stopped`: it was to run until a person stops it, and a person did. That is no failure. */
export type VerbResult = ExitCode | 'stopped'

/** A verb's module. It is imported when the verb runs, so that `--help` costs nothing. */
export type Verb = (runtime: Runtime, args: readonly string[], options: Options) => Promise<VerbResult>

/** What the process answers. Documented in docs/cli.md; scripts rely on these numbers. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** `plan`: Git and the world differ. */
  differs: 2,
  /** Not ready before the deadline. */
  timedOut: 3,
  /** The other side does not accept our credentials. */
  unauthorized: 4,
  usage: 64,
  /** The terminal is gone. */
  hungUp: 129,
  interrupted: 130,
  /** Nobody reads our output any more, and the work was not done. */
  unread: 141,
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error for the person at the terminal: what could not be done, and in its last sentence what to do about it. */
export class CliError extends Error {
  readonly code: ExitCode
  constructor(message: string, code: ExitCode = EXIT.failed) {
    super(message)
    this.name = 'CliError'
    this.code = code
  }
}

export class UsageError extends CliError {
  constructor(message: string) {
    super(message, EXIT.usage)
    this.name = 'UsageError'
  }
}

const OF_SIGNALS: Readonly<Record<string, ExitCode>> = {
  SIGHUP: EXIT.hungUp,
  SIGPIPE: EXIT.unread,
  SIGTERM: EXIT.terminated,
}

/** 130 after SIGINT, 143 after SIGTERM and so on: the reason of the abort says which. */
export function signalCode(signal: AbortSignal): ExitCode {
  return OF_SIGNALS[String(signal.reason)] ?? EXIT.interrupted
}
