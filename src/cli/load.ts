import { changedEstate } from '../model/estate.ts'
import { openExisting, openState, realDirectory, shownBelow, stateFile } from '../state/state-file.ts'
import { note, styleOf } from './output.ts'
import { countProblems, hasErrors, renderProblems } from './render/problems.ts'
import type { LoadedEstate, Runtime } from './runtime.ts'
import { CliError, EXIT, type ExitCode, type Options } from './verb.ts'

/** Makes anything with `close` end with its block, also when the block throws. */
export function closing<T extends { close(): Promise<void> }>(it: T): { readonly it: T } & AsyncDisposable {
  return { it, [Symbol.asyncDispose]: () => it.close() }
}

/** The database of a directory: the one that `--state` names, or its own. */
export function stateOf(runtime: Runtime, real: string, { state }: Options): string {
  return stateFile(runtime.env, real, state as string | undefined)
}

/** Opens a directory's existing database, read-only. */
export async function existingState(runtime: Runtime, real: string, options: Options) {
  return closing(await openExisting(runtime, stateOf(runtime, real, options)))
}

/** Opens a directory's database for writing. */
export async function ownState(runtime: Runtime, real: string, options: Options) {
  return closing(await openState(runtime, stateOf(runtime, real, options)))
}

/**
 * Reads a directory and prints its problems. Errors stop the command unless it was asked to keep going. Warnings belong
 * to `croft validate`: a command that counts them (`counted`) prints their number, others skip them.
 */
export async function loadOrStop(
  runtime: Runtime,
  directory: string,
  options: {
    readonly keepGoing?: boolean | undefined
    readonly counted?: boolean
    /** The command is there to fill it. */
    readonly mayBeEmpty?: boolean
  } = {},
): Promise<LoadedEstate> {
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  const { problems } = loaded.estate
  if (hasErrors(problems))
    note(runtime, renderProblems(problems, styleOf(runtime, runtime.err), shownBelow(directory, real)))
  else if (problems.length > 0 && options.counted === true)
    note(runtime, `${countProblems(problems)} in ${directory}. Run croft validate ${directory} to see them.`)
  if (hasErrors(problems) && options.keepGoing !== true) {
    throw new CliError(
      `${countProblems(problems)} in ${directory}; nothing was looked at or done. ` +
        (options.keepGoing === undefined
          ? 'Correct the files named above.'
          : 'Correct the files named above, or use --keep-going to continue with the rest.'),
    )
  }
  if (loaded.files === 0 && options.mayBeEmpty !== true) note(runtime, nothingIn(inWords(directory, real)))
  // Documents with errors are declared too: mark the estate incomplete, so that nothing is deleted because of them.
  if (!hasErrors(problems)) return loaded
  return { ...loaded, estate: changedEstate(loaded.estate, (estate) => ({ ...estate, incomplete: true })) }
}

/**
 * Returns the exit code of a command that shows the readable part of a broken estate: scripts must not take it for the
 * whole.
 */
export function exitOfLoaded(runtime: Runtime, { estate }: Pick<LoadedEstate, 'estate'>, directory: string): ExitCode {
  if (!hasErrors(estate.problems)) return EXIT.ok
  note(runtime, `${countProblems(estate.problems)} in ${directory}. Run croft validate ${directory} to see them.`)
  return EXIT.failed
}

/** Returns the real directory for `.`: a message that ends with `in .` does not show a wrong current directory. */
export function inWords(directory: string, real: string): string {
  return directory === '.' ? real : directory
}

/** Warns of a directory without manifests: a wrong one would look like one in order. */
export function nothingIn(directory: string): string {
  return `Warning: there is no manifest (.yaml, .yml or .json) in ${directory}. Is it the right directory?`
}
