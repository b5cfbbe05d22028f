import { mkdtemp } from 'node:fs/promises'
import path from 'node:path'
import { CliError } from '../verb.ts'

/** Makes the folder of one tour below a folder for temporary files, which may be given relative to the working directory. */
export async function ownFolder(temporary: string): Promise<string> {
  const below = path.resolve(temporary)
  try {
    return await mkdtemp(path.join(below, 'croft-demo-'))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(
      `The tour cannot make a folder in ${below}, the place for temporary files: ${why}. Set TMPDIR to a folder that you may write to.`,
    )
  }
}
