import type { ParseCache } from './parse-cache.ts'
import { readFiles } from './read-files.ts'
import type { Revision } from './revision.ts'
import { walkFiles } from './walk-files.ts'

export interface ReadTreeOptions {
  /** The commit that the files are known to be at. */
  readonly commit?: string
  /** Shared between readings, so that only what changed is read again. */
  readonly cache?: ParseCache
}

/** Reads every manifest below a directory. Rejects only when the directory itself cannot be read. */
export async function readTree(directory: string, options: ReadTreeOptions = {}): Promise<Revision> {
  return readFiles({ ...walkFiles(directory), ...options })
}
