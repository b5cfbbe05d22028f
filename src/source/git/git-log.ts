import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { GitFailed, runGit } from './git-run.ts'
import type { Revision, RevisionLog } from './revision.ts'

type ReadCommit = (
  repository: string,
  commit: string,
  options: { readonly path: string; readonly signal?: AbortSignal },
) => Promise<Revision>

/** Where to read history: a repository, one of its commits, and the followed folder. */
export interface LogPlace {
  readonly repository: string
  readonly head: string
  /** `clusters/home/`, or empty. */
  readonly prefix: string
}

/**
 * Reads commits as they are stored. A merge counts as the change that it made to the branch: croft never followed the
 * commits of the merged side. A path outside a repository has no history.
 */
export function gitLog(find: () => Promise<LogPlace | undefined>, readCommit: ReadCommit): RevisionLog {
  let known: Promise<LogPlace | undefined> | undefined
  const place = () => (known ??= find().catch(nothingIfNoGit))
  return {
    async mentioning(text, signal) {
      const at = await place()
      if (at === undefined) return []
      const changed = text === '' ? [] : [`-S${text}`]
      const flags = ['--format=%H', '--first-parent', '-m', `-n${LIMITS.historyCommits}`, ...changed]
      const scope = at.prefix === '' ? [] : ['--', at.prefix]
      const output = await runGit({
        directory: at.repository,
        arguments: ['--literal-pathspecs', 'log', ...flags, '--end-of-options', at.head, ...scope],
        ...defined({ signal }),
      }).catch(nothingIfNoGit)
      const commits = output?.toString('utf8').split('\n') ?? []
      return [...new Set(commits.filter((line) => /^[0-9a-f]{40,64}$/.test(line)))]
    },
    async around(commit, signal) {
      const at = await place()
      if (at === undefined) return undefined
      const found = await runGit({
        directory: at.repository,
        arguments: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^1^{commit}`],
        ...defined({ signal }),
      }).catch(nothingIfNoGit)
      const parent = found?.toString('utf8').trim()
      if (parent === undefined || parent === '') return undefined
      const options = { path: at.prefix, ...defined({ signal }) }
      return {
        before: await readCommit(at.repository, parent, options),
        after: await readCommit(at.repository, commit, options),
      }
    },
  }
}

/** The repository that a directory of this computer is in, at the commit that is checked out. */
export async function placeOfDirectory(directory: string): Promise<LogPlace | undefined> {
  const asked = async (words: readonly string[]) =>
    (await runGit({ directory, arguments: ['rev-parse', ...words] })).toString('utf8').trim()
  const [repository, prefix, head] = await Promise.all([
    asked(['--show-toplevel']),
    asked(['--show-prefix']),
    asked(['--verify', '--quiet', 'HEAD^{commit}']),
  ])
  return { repository, head, prefix }
}

function nothingIfNoGit(error: unknown): undefined {
  if (error instanceof GitFailed || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}
