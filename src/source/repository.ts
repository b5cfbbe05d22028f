import { factsOf, judgeRevision, type RevisionFacts } from './follow.ts'
import { fetchMirror, readCommit, resolveCommit } from './git.ts'
import { GitFailed } from './git-run.ts'
import { createParseCache } from './parse-cache.ts'
import type { Revision } from './revision.ts'

export interface FollowOptions {
  readonly remote: string
  /** A bare repository beside us; made when it is not there. */
  readonly mirror: string
  readonly ref: string
  readonly path?: string
  /** A path on this machine is accepted as remote. Only for a repository that we made ourselves. */
  readonly allowLocal?: boolean
}

/** What a look at the repository means for what is in force. */
export type Followed =
  | { readonly is: 'new'; readonly revision: Revision }
  /** Nothing new. */
  | { readonly is: 'same' }
  /** The newest cannot be followed: what was in force stays in force. */
  | { readonly is: 'kept'; readonly reason: 'unreachable' | 'broken' | 'empty'; readonly message: string }

export interface FollowedRepository {
  look(signal: AbortSignal): Promise<Followed>
}

/** Follows one branch of a repository. The last good revision stays until a better one comes. */
export function followRepository(options: FollowOptions): FollowedRepository {
  const { remote, mirror, ref, path, allowLocal = false } = options
  const cache = createParseCache()
  let lastGood: RevisionFacts | undefined

  const keep = (judged: Exclude<ReturnType<typeof judgeRevision>, { follow: 'new' }>): Followed => ({
    is: 'kept',
    reason: judged.reason,
    message: judged.message,
  })

  return {
    async look(signal) {
      try {
        await fetchMirror(remote, mirror, { signal, allowLocal })
        const commit = await resolveCommit(mirror, ref, { signal })
        if (commit === lastGood?.id) return { is: 'same' }
        const revision = await readCommit(mirror, commit, { signal, cache, ...(path === undefined ? {} : { path }) })
        const facts = factsOf(revision)
        const judged = judgeRevision(lastGood, { saw: 'revision', revision: facts })
        if (judged.follow !== 'new') return keep(judged)
        lastGood = facts
        return { is: 'new', revision }
      } catch (error) {
        if (!(error instanceof GitFailed)) throw error
        const judged = judgeRevision(lastGood, { saw: 'nothing', message: error.message })
        return judged.follow === 'new' ? { is: 'same' } : keep(judged)
      }
    },
  }
}
