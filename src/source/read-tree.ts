import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { LIMITS } from '../lib/limits.ts'
import { openDiskCache } from './disk-cache.ts'
import type { ParseCache } from './parse-cache.ts'
import { readFiles } from './read-files.ts'
import type { Revision } from './revision.ts'
import { walkFiles } from './walk-files.ts'

export interface ReadTreeOptions {
  /** The commit that the files are known to be at. */
  readonly commit?: string
  /** Shared between readings, so that only what changed is read again. */
  readonly cache?: ParseCache
  /** A directory of the user's own in which a later run finds what this one has read. */
  readonly cacheDir?: string
}

/** Reads every manifest below a directory. Rejects only when the directory itself cannot be read. */
export async function readTree(directory: string, options: ReadTreeOptions = {}): Promise<Revision> {
  const { cacheDir, ...reading } = options
  const disk =
    cacheDir === undefined || options.cache !== undefined ? undefined : openDiskCache(cacheDir, resolve(directory))
  const revision = readFiles({ ...walkFiles(directory), ...reading, ...(disk === undefined ? {} : { cache: disk }) })
  disk?.save()
  return { ...revision, read: (file) => readBeside(directory, file) }
}

/** A file below the directory, as text. What leads out of it is not followed. */
async function readBeside(directory: string, file: string): Promise<string | undefined> {
  try {
    const root = await realpath(directory)
    const wanted = await realpath(join(root, file))
    if (!wanted.startsWith(`${root}${sep}`)) return undefined
    const handle = await open(wanted, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stat = await handle.stat()
      return stat.isFile() && stat.size <= LIMITS.fileBytes ? await handle.readFile('utf8') : undefined
    } finally {
      await handle.close()
    }
  } catch {
    return undefined
  }
}
