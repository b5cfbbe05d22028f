import type { ExitCode } from './exit.ts'
import type { Runtime } from './runtime.ts'

export type Options = Readonly<Record<string, unknown>>

/** `stopped`: it was to run until a person stops it, and a person did. That is no failure. */
export type VerbResult = ExitCode | 'stopped'

/** A verb's module. It is imported when the verb runs, so that `--help` costs nothing. */
export type Verb = (runtime: Runtime, args: readonly string[], options: Options) => Promise<VerbResult>
