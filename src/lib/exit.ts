/** Exit codes. Documented in docs/cli.md; scripts rely on them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** `plan`: Git and the world differ. */
  differs: 2,
  /** The deadline passed before all was ready. */
  timedOut: 3,
  /** The other side does not accept our credentials. */
  unauthorized: 4,
  usage: 64,
  /** The terminal is gone. */
  hungUp: 129,
  interrupted: 130,
  /** The reader of our output has gone, and the work was not done. */
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
