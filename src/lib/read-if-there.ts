import { readFile } from 'node:fs/promises'

/** A file's bytes; undefined where there is none. Whatever else keeps it from being read is an error. */
export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
