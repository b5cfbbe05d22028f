import { existsSync } from 'node:fs'
import { realDirectory, stateFile } from '../../state/state-file.ts'
import { CliError, EXIT, type Verb } from '../verb.ts'

/** Downgrades a database for the previous version of croft. Newer data is lost. */
export const run: Verb = async (runtime, [directory = '.'], options) => {
  const named = options.state as string | undefined
  const file = stateFile(runtime.env, named === undefined ? realDirectory(runtime, directory) : '', named)
  if (!existsSync(file)) throw new CliError(`There is no database ${file}. Name it with --state.`)
  const locked = await runtime.lockState(file)
  if (!locked.got) throw new CliError(`Another croft is at work on ${file}. Stop it first.`)
  try {
    const version = await runtime.takeSchemaBack(file)
    runtime.out.write(`${file} has schema ${version} now: use it with the croft before this one.\n`)
  } catch (error) {
    throw new CliError(`${error instanceof Error ? error.message : String(error)}. The database is as it was.`)
  } finally {
    locked.release()
  }
  return EXIT.ok
}
