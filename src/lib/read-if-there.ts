import { readFile } from 'node:fs/promises'

/** Returns a file's bytes; undefined if it does not exist. Other failures throw. */
export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
