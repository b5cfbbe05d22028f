import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { printable } from '../yaml/excerpt.ts'
import { GitFailed, runGit } from './git-run.ts'

/** Facts about a commit for people. Untrusted text, cleaned for display. */
export interface CommitFacts {
  readonly commit: string
  readonly subject: string
  readonly author: string
  readonly committedMs: number
}

export async function commitFacts(repository: string, commit: string, signal?: AbortSignal): Promise<CommitFacts> {
  const output = await runGit({
    directory: repository,
    arguments: ['show', '--no-patch', '--no-notes', '--format=%s%x00%an%x00%ct', '--end-of-options', commit],
    ...(signal === undefined ? {} : { signal }),
  })
  const [subject = '', author = '', seconds = '0'] = output.toString('utf8').split('\0')
  const line = (text: string) => printable(text.trim()).slice(0, LIMITS.shownValueLength)
  return { commit, subject: line(subject), author: line(author), committedMs: Number(seconds) * 1000 }
}

/** Reports whether the newer commit descends from the older one. False if the older one is unknown. */
export async function standsOn(
  repository: string,
  newer: string,
  older: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await runGit(defined({ directory: repository, arguments: ['merge-base', '--is-ancestor', older, newer], signal }))
    return true
  } catch (error) {
    if (error instanceof GitFailed) return false
    throw error
  }
}
