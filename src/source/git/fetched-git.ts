import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ObjectsAt } from '../../kinds/kind.ts'
import { defined } from '../../lib/defined.ts'
import type { Egress } from '../../lib/egress.ts'
import { PlaceRefused, permitPlace } from '../../lib/outgoing.ts'
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

declare const judged: unique symbol
/** A repository that may be fetched from, with the list that holds what it leads to. `permitRepository` alone makes one. */
export type PermittedRepository = GitPlace & { readonly egress: Egress; readonly [judged]: true }

/** The one way to a repository that a declaration names: without it a fetch does not compile. Throws PlaceRefused. */
export function permitRepository(place: GitPlace, egress: Egress): PermittedRepository {
  // Only what goes through our own door can be held to a list of places.
  if (egress.terse && !place.url.startsWith('https://'))
    throw new PlaceRefused(place.url, 'is refused: only https:// may be fetched from here')
  if (egress.terse) permitPlace(place.url, egress)
  return { ...place, egress } as PermittedRepository
}

export interface FetchGit {
  readonly signal?: AbortSignal | undefined
  readonly allowLocal?: boolean
  readonly reader?: SourceReader
}

/** Fetches one commit alone into an existing repository. */
export async function fetchCommit(
  directory: string,
  { url, commit }: PermittedRepository,
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
  place: PermittedRepository,
  { signal, allowLocal = false, reader }: FetchGit = {},
): Promise<ObjectsAt> {
  const { url, commit, path, egress } = place
  const refused = refusedRemote(url, allowLocal)
  if (refused !== undefined) return { problem: `the address of the repository is refused: ${refused}` }
  await using door = egress.terse ? await (await import('../../lib/egress-door.ts')).openEgressDoor(egress) : undefined
  const directory = await mkdtemp(join(tmpdir(), 'croft-git-'))
  const common = defined({ signal })
  // Our own directory as home has no configuration for git.
  const alone = door === undefined ? undefined : { home: directory, proxy: door.url }
  try {
    await runGit({ directory, arguments: ['init', '--bare', '--quiet', '--template='], ...common })
    await fetchCommit(directory, place, defined({ allowLocal, alone, signal }))
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
