import { z } from 'zod'
import { LIMITS } from '../lib/limits.ts'
import type { CommitView } from '../model/estate-view.ts'
import type { CommitFacts } from '../source/commit-facts.ts'

const schema = z.array(
  z.object({
    source: z.string(),
    commit: z.string(),
    subject: z.string(),
    author: z.string(),
    committedMs: z.number(),
    seenMs: z.number().optional(),
  }),
)

/** The commits that were in force, as they were kept. What cannot be read counts as none: Git has them all. */
export function readCommits(text: string | undefined): readonly CommitView[] {
  if (text === undefined) return []
  try {
    const parsed = schema.safeParse(JSON.parse(text))
    return parsed.success
      ? parsed.data.map(({ seenMs, ...rest }) => (seenMs === undefined ? rest : { ...rest, seenMs }))
      : []
  } catch {
    return []
  }
}

/** With one more, newest first. A commit that comes into force again moves to the front. Pure. */
export function withCommit(
  commits: readonly CommitView[],
  source: string,
  { commit, subject, author, committedMs }: CommitFacts,
  seenMs: number,
): readonly CommitView[] {
  const others = commits.filter((one) => one.source !== source || one.commit !== commit)
  return [{ source, commit, subject, author, committedMs, seenMs }, ...others].slice(0, LIMITS.commitsKept)
}
