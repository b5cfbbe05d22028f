import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ObjectsAt } from '../../kinds/kind.ts'
import { defined } from '../../lib/defined.ts'
import { type Egress, EVERYWHERE } from '../../lib/egress.ts'
import type { SourceReader } from '../reader.ts'
import { readCommit } from './git.ts'
import { refusedRemote } from './git-names.ts'
import { GitFailed, type GitRun, runGit } from './git-run.ts'

/** A file or directory of another repository, at one commit. */
export interface GitPlace {
  readonly url: string
  readonly commit: string
  readonly path: string
}

export interface FetchGit {
  readonly signal?: AbortSignal | undefined
  readonly allowLocal?: boolean
  readonly reader?: SourceReader
  readonly egress?: Egress
}

/** One commit alone, into a repository that is there. */
export async function fetchCommit(
  directory: string,
  url: string,
  commit: string,
  options: Pick<GitRun, 'allowLocal' | 'alone' | 'signal'>,
): Promise<void> {
  const flags = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-auto-maintenance']
  await runGit({ directory, arguments: ['fetch', ...flags, '--end-of-options', url, commit], ...options })
}

/**
 * Returns the objects at a commit. Fetches only that commit, into a temporary repository. The commit id is a hash of
 * the content, so no server can substitute other files.
 */
export async function objectsAtCommit(
  { url, commit, path }: GitPlace,
  { signal, allowLocal = false, reader, egress = EVERYWHERE }: FetchGit = {},
): Promise<ObjectsAt> {
  const refused = refusedRemote(url, allowLocal)
  if (refused !== undefined) return { problem: `the address of the repository is refused: ${refused}` }
  // Only what goes through our own door can be held to a list of places.
  if (egress.terse && !url.startsWith('https://')) return { problem: `${url}: only https:// may be fetched from here` }
  await using door = egress.terse ? await (await import('../../lib/egress-door.ts')).openEgressDoor(egress) : undefined
  const directory = await mkdtemp(join(tmpdir(), 'croft-git-'))
  const common = defined({ signal })
  // Our own directory has nothing in it that git takes from a home.
  const alone = door === undefined ? undefined : { home: directory, proxy: door.url }
  try {
    await runGit({ directory, arguments: ['init', '--bare', '--quiet', '--template='], ...common })
    await fetchCommit(directory, url, commit, defined({ allowLocal, alone, signal }))
    // Read only the wanted part of a large repository, and the paths that its overlays name.
    const slash = path.indexOf('/')
    const [top, below] = slash < 0 ? ['.', path] : [path.slice(0, slash), path.slice(slash + 1)]
    const revision = await readCommit(directory, commit, defined({ path: top, places: [below], reader, ...common }))
    const [tooLarge] = revision.problems.filter(({ code }) => code === 'too-large')
    if (tooLarge !== undefined) return { problem: `${url}: ${tooLarge.message}` }
    return revision.objectsAt?.(below) ?? { problem: `${url} has nothing at ${path}` }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return { problem: `${url} at ${commit.slice(0, 12)} could not be fetched: ${error.message}` }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
