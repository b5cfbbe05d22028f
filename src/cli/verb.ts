import { CliError, EXIT, type ExitCode, UsageError } from '../lib/exit.ts'
import type { Runtime } from './runtime.ts'

export type Options = Readonly<Record<string, unknown>>

/** `stopped`: a command that runs until it is stopped was stopped. That is success. */
export type VerbResult = ExitCode | 'stopped'

/** A verb's module. It is imported when the verb runs, so that `--help` costs nothing. */
export type Verb = (runtime: Runtime, args: readonly string[], options: Options) => Promise<VerbResult>

export { CliError, EXIT, type ExitCode, UsageError }

const OF_SIGNALS: Readonly<Record<string, ExitCode>> = {
  SIGHUP: EXIT.hungUp,
  SIGPIPE: EXIT.unread,
  SIGTERM: EXIT.terminated,
}

/** 130 after SIGINT, 143 after SIGTERM and so on: the reason of the abort says which. */
export function signalCode(signal: AbortSignal): ExitCode {
  return OF_SIGNALS[String(signal.reason)] ?? EXIT.interrupted
}

/** A signal stopped a command: ends it with this sentence and the signal's exit code. */
export class StoppedBySignal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoppedBySignal'
  }
}

/** Throws after an interrupted look: what it missed is no finding. */
export function stopIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new StoppedBySignal('Interrupted while croft looked at what is there. Nothing was done.')
}

/** Waits for what another process reads, until a person stops the command: that process ends with this one. */
export async function unlessStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const ending = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(new StoppedBySignal('Interrupted while croft read the files. Nothing was done.'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { signal: ending.signal })
  })
  try {
    return await Promise.race([work, stopped])
  } finally {
    ending.abort()
  }
}
