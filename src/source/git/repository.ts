import { defined } from '../../lib/defined.ts'
import type { ChangedFile } from '../../model/commit-diff.ts'
import type { Problem } from '../../model/declaration.ts'
import { createParseCache } from '../files/parse-cache.ts'
import { readHere } from '../read-here.ts'
import { type SourceReader, TooCostly } from '../reader.ts'
import { changedFiles } from './changed-files.ts'
import { type CommitFacts, commitFacts, standsOn } from './commit-facts.ts'
import { factsOf, judgeRevision, type RevisionFacts } from './follow.ts'
import { readCommit, resolveCommit } from './git.ts'
import { GitFailed } from './git-run.ts'
import { fetchMirror, type MirrorOptions, renewMirror } from './mirror.ts'
import { remoteAdvice } from './remote-advice.ts'
import type { Revision } from './revision.ts'
import { refusedSignature, type Signers } from './signatures.ts'

export interface FollowOptions {
  readonly remote: string
  /** A bare repository beside us; made when it is not there. */
  readonly mirror: string
  /** A branch; or a tag, when `tags` is set. */
  readonly ref: string
  readonly tags?: boolean
  readonly path?: string
  /** A path on this machine is accepted as remote. Only for a repository that we made ourselves. */
  readonly allowLocal?: boolean
  /** Commits must be signed by one of these, and history only goes forward. */
  readonly signers?: Signers
  /** The commit that was followed before this process started. It stays current if the newest cannot be followed. */
  readonly lastGood?: string
  /** The commit that is followed now; one that was only read has no effect. */
  readonly inForce?: () => string | undefined
  /** The commit read last that is followed or waits; one that was given up is read again. Absent: the last one read. */
  readonly newest?: () => string | undefined
  /** Reports whether a person has allowed to go back to this commit. */
  readonly mayReturnTo?: (commit: string) => boolean
  /** The source's name for such a permission. */
  readonly name?: string
  /** Reads the files. */
  readonly reader?: SourceReader
  /** Settings for git that reach the remote: where its credentials are. */
  readonly access?: {
    readonly settings?: readonly string[]
    readonly sshCommand?: string
    /** Writes the files that the settings point to, before git runs; returns how to remove them. */
    prepare?(): Promise<() => void>
  }
}

/** The result of a look at the repository. */
export type Followed =
  | {
      readonly is: 'new'
      readonly revision: Revision
      readonly facts?: CommitFacts
      readonly trouble?: RepositoryProblem
      /** The revision followed before this process started, if this first look also found a newer one. */
      readonly before?: { readonly revision: Revision; readonly facts?: CommitFacts }
    }
  /** Nothing new. */
  | { readonly is: 'same' }
  /** The newest cannot be followed: the current one stays. */
  | ({ readonly is: 'kept' } & RepositoryProblem)

export interface RepositoryProblem {
  readonly reason: 'unreachable' | 'broken' | 'empty' | 'unsigned' | 'rewound'
  readonly message: string
  /** The commit that is not followed, where one was seen. */
  readonly commit?: string
  /** Its problems, with their places. */
  readonly problems?: readonly Problem[]
}

export interface RepositoryFollower {
  /** When it wants another look, by the clock that never jumps: something could not be fetched. */
  dueMs?(): number
  look(signal: AbortSignal): Promise<Followed>
  /** Returns the difference between two known commits. Absent for a source of plain files. */
  changes?(between: readonly [string, string], signal?: AbortSignal): Promise<readonly ChangedFile[]>
}

/** Follows one branch of a repository. The last good revision stays until a better one comes. */
export function followRepository(options: FollowOptions): RepositoryFollower {
  const { remote, mirror, ref, path, allowLocal = false, signers, access = {}, reader = readHere } = options
  const cache = createParseCache()
  let lastGood: RevisionFacts | undefined
  let remembered = options.lastGood

  const read = (commit: string, signal: AbortSignal) =>
    readCommit(mirror, commit, { signal, cache, reader, ...(path === undefined ? {} : { path }) })

  /** Returns why this commit is not trusted, regardless of its content. */
  const refuse = async (commit: string, signal: AbortSignal): Promise<RepositoryProblem | undefined> => {
    if (signers === undefined) return undefined
    const unsigned = await refusedSignature(mirror, commit, signers, signal)
    if (unsigned !== undefined) return { reason: 'unsigned', message: unsigned, commit }
    const before = options.inForce?.() ?? lastGood?.id ?? remembered
    if (before === undefined || before === commit || (await standsOn(mirror, commit, before, signal))) return undefined
    if (options.mayReturnTo?.(commit) === true) return undefined
    const message = `commit ${commit.slice(0, 12)} does not stand on ${before.slice(0, 12)}, which is in force: somebody forced an older history; run croft ask approve Source/${options.name ?? ref}@${commit}, approve it on the page, or push the newer commits again`
    return { reason: 'rewound', message, commit }
  }

  const ofRemote = async <T>(signal: AbortSignal, work: (options: MirrorOptions) => Promise<T>): Promise<T> => {
    const { prepare, ...settings } = access
    const tidy = await prepare?.()
    try {
      return await work({ signal, allowLocal, ...settings, ...(options.tags ? { tags: true } : {}) })
    } finally {
      tidy?.()
    }
  }

  const name = options.tags === true ? `refs/tags/${ref}` : ref
  /** Consecutive failures with a mirror that was just renewed, or could not be renewed. */
  let failed = 0

  /** Renews a mirror that git cannot use. If that does not help, the next renewal waits for ever more looks. */
  const withMirror = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      const done = await work()
      failed = 0
      return done
    } catch (error) {
      if (!(error instanceof GitFailed) || signal.aborted) throw error
      failed++
      const turn = Number.isInteger(Math.log2(failed))
      if (!turn || !(await ofRemote(signal, (options) => renewMirror(remote, mirror, name, options)))) throw error
      return work()
    }
  }

  const newest = async (signal: AbortSignal): Promise<Followed> => {
    try {
      return await withMirror(signal, () => lookOnce(signal))
    } catch (error) {
      if (!(error instanceof GitFailed || error instanceof TooCostly)) throw error
      const advice = error instanceof GitFailed ? remoteAdvice(error.message) : undefined
      const message = advice === undefined ? error.message : `${error.message}; ${advice}`
      const judged = judgeRevision(lastGood, { saw: 'nothing', message })
      if (judged.follow === 'new') return { is: 'same' }
      return { is: 'kept', reason: error instanceof TooCostly ? 'broken' : judged.reason, message: judged.message }
    }
  }

  const lookOnce = async (signal: AbortSignal): Promise<Followed> => {
    await ofRemote(signal, (options) => fetchMirror(remote, mirror, options))
    const commit = await resolveCommit(mirror, name, { signal })
    if (commit === lastGood?.id && commit === (options.newest ?? (() => commit))()) return { is: 'same' }
    const refused = await refuse(commit, signal)
    if (refused !== undefined) return { is: 'kept', ...refused }
    const revision = await read(commit, signal)
    const judged = judgeRevision(lastGood, { saw: 'revision', revision: factsOf(revision) })
    if (judged.follow !== 'new')
      return { is: 'kept', reason: judged.reason, message: judged.message, commit, problems: revision.problems }
    const facts = await commitFacts(mirror, commit, signal)
    lastGood = factsOf(revision)
    remembered = undefined
    return { is: 'new', revision, facts }
  }

  return {
    changes: (between, signal) => changedFiles(mirror, between, defined({ path, signal })),
    async look(signal) {
      // Restore the commit that was followed before this process started, then judge newer ones against it.
      const begun = remembered === undefined || lastGood !== undefined ? undefined : await again(remembered, signal)
      const seen = await newest(signal)
      if (begun === undefined) return seen
      if (seen.is === 'new') return { ...seen, before: begun }
      return { is: 'new', ...begun, ...(seen.is === 'kept' ? { trouble: seen } : {}) }
    },
  }

  async function again(commit: string, signal: AbortSignal) {
    try {
      const known = await withMirror(signal, async () => ({
        revision: await read(commit, signal),
        facts: await commitFacts(mirror, commit, signal),
      }))
      lastGood = factsOf(known.revision)
      return known
    } catch (error) {
      // Without the old commit, the newest is judged as a first one: the mirror lacks it (GitFailed), or it is too
      // large for this computer (TooCostly).
      if (error instanceof GitFailed || error instanceof TooCostly) return undefined
      throw error
    }
  }
}
