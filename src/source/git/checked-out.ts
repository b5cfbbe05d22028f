import { LIMITS } from '../../lib/limits.ts'
import { fetchCommit, type PermittedRepository } from './fetched-git.ts'
import { refusedRemote } from './git-names.ts'
import { GitFailed, NO_CONFIGURATION, runGit } from './git-run.ts'

export interface CheckOutOptions {
  readonly signal?: AbortSignal
  readonly allowLocal?: boolean
}

/**
 * Writes a directory of another repository, at one commit, below an empty directory of ours, for a program that reads
 * files. Links become files with their target as text, so that readers cannot leave the directory.
 */
export async function checkOut(
  place: PermittedRepository,
  into: string,
  { signal, allowLocal = false }: CheckOutOptions = {},
): Promise<{ readonly problem: string } | undefined> {
  const { url, commit, path } = place
  const refused = refusedRemote(url, allowLocal)
  if (refused !== undefined) return { problem: `the address of the repository is refused: ${refused}` }
  const common = signal === undefined ? {} : { signal }
  try {
    await runGit({ directory: into, arguments: ['init', '--quiet', '--template='], ...common })
    await fetchCommit(into, place, { allowLocal, ...common })
    const tree = ['ls-tree', '-r', '-l', '-z', '--full-tree', commit, '--', path]
    const entries = (await runGit({ directory: into, arguments: tree, ...common })).toString().split('\0').slice(0, -1)
    if (entries.length === 0) return { problem: `${url} has nothing at ${path}` }
    const bytes = entries.reduce((sum, entry) => sum + (Number(entry.split(/\s+/, 4)[3]) || 0), 0)
    if (bytes > LIMITS.addonBytes) return { problem: `${path} of ${url} is larger than ${LIMITS.addonBytes} bytes` }
    const words = ['checkout', '--quiet', commit, '--', path]
    // A filter (`filter=lfs` of a repository) is a program that the person's configuration names: none runs, none changes bytes.
    const plain = { settings: ['core.symlinks=false'], env: NO_CONFIGURATION }
    await runGit({ directory: into, arguments: words, ...plain, ...common })
    return undefined
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return { problem: `${url} at ${commit.slice(0, 12)} could not be fetched: ${error.message}` }
  }
}
