import { CliError } from './exit.ts'
import { note, styleOf } from './output.ts'
import { countProblems, hasErrors, renderProblems } from './render/problems.ts'
import type { LoadedEstate, Runtime } from './runtime.ts'
import { realDirectory } from './state.ts'

/** Reads a directory and shows what is wrong with it. Errors stop the command unless it was asked to keep going. */
export async function loadOrStop(
  runtime: Runtime,
  directory: string,
  options: { readonly keepGoing?: boolean | undefined } = {},
): Promise<LoadedEstate> {
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  const { problems } = loaded.estate
  if (problems.length > 0) note(runtime, renderProblems(problems, styleOf(runtime, runtime.err)))
  if (hasErrors(problems) && options.keepGoing !== true) {
    throw new CliError(
      `${countProblems(problems)} in ${directory}; nothing was looked at or done. ` +
        'Correct the files named above, or use --keep-going to go on with the rest.',
    )
  }
  return loaded
}
