import { constants, existsSync, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { inTurns } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import type { UnreadPath } from '../model/unread.ts'
import { openDiskCache } from './disk-cache.ts'
import { IGNORE_FILE } from './files/ignore-rules.ts'
import type { ParseCache } from './files/parse-cache.ts'
import { type Walked, type WalkedFile, walkFiles, walking } from './files/walk-files.ts'
import { readCommit } from './git/git.ts'
import { gitLog, placeOfDirectory } from './git/git-log.ts'
import { changedRevision, type Revision } from './git/revision.ts'
import { leadsAbove } from './kustomize/tree.ts'
import { readHere } from './read-here.ts'
import type { SourceReader } from './reader.ts'

export interface ReadTreeOptions {
  /** The commit that the files are known to be at. */
  readonly commit?: string
  /** Shared between readings, so that only what changed is read again. */
  readonly cache?: ParseCache
  /** A directory of the user's own in which a later run finds what this one has read. */
  readonly cacheDir?: string
  readonly reader?: SourceReader
  /** Set to yield to other requests while reading. */
  readonly clock?: Clock
}

/** Reads every manifest below a directory. Rejects only when the directory itself cannot be read. */
export async function readTree(directory: string, options: ReadTreeOptions = {}): Promise<Revision> {
  const { cacheDir, reader = readHere, clock, ...reading } = options
  const disk =
    cacheDir === undefined || options.cache !== undefined ? undefined : openDiskCache(cacheDir, resolve(directory))
  const walked = clock === undefined ? walkFiles(directory) : await inTurns(walking(directory), clock)
  const above = walked.files.some(leadsAbove) ? filesAbove(resolve(directory)) : []
  const siblings = await siblingFiles(directory, await reader.generatorFiles([...walked.files, ...above]))
  const ignore = await readSibling(directory, IGNORE_FILE)
  const unread = [...walked.unread, ...(await submodulesOf(directory, walked))]
  const revision = await reader.tree({
    ...walked,
    unread,
    ...(ignore === undefined ? {} : { ignore }),
    above,
    siblings,
    ...reading,
    ...(disk === undefined ? {} : { cache: disk }),
  })
  disk?.save()
  const found = {
    read: (file: string) => readSibling(directory, file),
    place: `directory ${realpathSync(directory)}`,
    logs: [{ log: gitLog(() => placeOfDirectory(directory), readCommit) }],
  }
  return changedRevision(revision, (one) => ({ ...one, ...found }))
}

/** Returns the submodules that are not checked out: their directories are empty. */
async function submodulesOf(directory: string, { files }: Walked): Promise<readonly UnreadPath[]> {
  const text = (await readSibling(directory, '.gitmodules')) ?? ''
  const paths = [...text.matchAll(/^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$/gm)].map(([, path = '']) => path)
  return paths
    .filter((path) => !files.some((file) => file.path.startsWith(`${path}/`)))
    .map((path) => ({ path, why: 'a submodule that is not checked out', mark: 'empty' }))
}

/** Reads files that overlays name above the directory, up to the top of its repository. */
function filesAbove(directory: string): readonly WalkedFile[] {
  const top = repositoryOf(directory)
  if (top === directory) return []
  const walked = walkFiles(top)
  if (walked.tooLarge !== undefined) return []
  const prefix = `${relative(top, directory).split(sep).join('/')}/`
  return walked.files
    .filter((file) => !file.path.startsWith(prefix))
    .map((file) => ({ ...file, path: posix.relative(prefix, file.path) }))
}

/** Returns the directory with `.git` around this one; this one if there is none. */
function repositoryOf(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return directory
  }
}

/** Reads the inputs of generators that exist. */
async function siblingFiles(directory: string, paths: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  let total = 0
  for (const path of paths) {
    const bytes = await siblingBytes(directory, path)
    total += bytes?.length ?? 0
    if (bytes !== undefined && total <= LIMITS.treeBytes) found.set(path, bytes)
  }
  return found
}

async function readSibling(directory: string, file: string): Promise<string | undefined> {
  return (await siblingBytes(directory, file))?.toString('utf8')
}

/** A file of the directory or of its repository. What leads out of that is not followed. */
async function siblingBytes(directory: string, file: string): Promise<Buffer | undefined> {
  try {
    // Most do not exist, and asynchronous reads would start threads to find that out.
    const here = realpathSync(directory)
    const root = file.startsWith('../') ? repositoryOf(here) : here
    const wanted = realpathSync(join(here, file))
    if (!wanted.startsWith(`${root}${sep}`)) return undefined
    const handle = await open(wanted, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stat = await handle.stat()
      return stat.isFile() && stat.size <= LIMITS.fileBytes ? await handle.readFile() : undefined
    } finally {
      await handle.close()
    }
  } catch {
    return undefined
  }
}
