import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { jsonIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { CommitView } from '../../model/estate-view.ts'
import type { CommitFacts } from '../../source/git/commit-facts.ts'
import type { Store } from '../../store/port.ts'

const COMMITS = 'controller/commits'

/** The newest followed commits of all sources, kept in the store. */
interface CommitLog {
  commits(): readonly CommitView[]
  note(source: string, facts: CommitFacts): Promise<void>
}

export async function openCommitLog(store: Store, epoch: number, clock: Clock): Promise<CommitLog> {
  let commits = readCommits(await store.getValue(COMMITS))
  return {
    commits: () => commits,
    async note(source, facts) {
      if (commits[0]?.commit === facts.commit) return
      commits = withCommit(commits, source, facts, clock.now())
      await store.putValue(epoch, COMMITS, JSON.stringify(commits))
    },
  }
}

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

/** Returns the stored list of followed commits. An unreadable one counts as empty: Git has all commits. */
export function readCommits(text: string | undefined): readonly CommitView[] {
  const commits = schema.safeParse(jsonIn(text ?? '')).data ?? []
  return commits.map(({ seenMs, ...rest }) => (seenMs === undefined ? rest : { ...rest, seenMs }))
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
