import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'

/**
 * For the environment of a croft that a test starts with an empty home: in that home it would find nothing compiled,
 * and spend a second of a core on every command. All of them share what this process has.
 */
export const COMPILED: Readonly<Record<string, string>> = compiled()

function compiled(): Readonly<Record<string, string>> {
  const { NODE_COMPILE_CACHE } = process.env
  if (NODE_COMPILE_CACHE !== undefined) return { NODE_COMPILE_CACHE }
  // The folder of this very version of Node is in the one that is asked for.
  const directory = getCompileCacheDir()
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) }
}
