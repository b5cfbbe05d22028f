import type { Clock } from '../../lib/clock.ts'
import type { Problem } from '../../model/declaration.ts'
import { factsOf, judgeRevision, type RevisionFacts } from '../git/follow.ts'
import type { Followed, RepositoryFollower } from '../git/repository.ts'
import { readHere } from '../read-here.ts'
import { readTree } from '../read-tree.ts'
import { type SourceReader, TooCostly } from '../reader.ts'
import { createParseCache } from './parse-cache.ts'

/** Follows a plain directory. What is half written or suddenly empty does not count, as with a repository. */
export function followDirectory(
  directory: string,
  reader: SourceReader = readHere,
  clock?: Clock,
  newest?: () => string | undefined,
): RepositoryFollower {
  const cache = createParseCache()
  let lastGood: RevisionFacts | undefined
  const kept = (look: Parameters<typeof judgeRevision>[1], problems: readonly Problem[] = []): Followed => {
    const judged = judgeRevision(lastGood, look)
    return judged.follow === 'new'
      ? { is: 'same' }
      : { is: 'kept', reason: judged.reason, message: judged.message, problems }
  }
  return {
    async look() {
      let revision: Awaited<ReturnType<typeof readTree>>
      try {
        revision = await readTree(directory, { cache, reader, ...(clock === undefined ? {} : { clock }) })
      } catch (error) {
        if (error instanceof TooCostly) return kept({ saw: 'nothing', message: error.message })
        const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
        return kept({ saw: 'nothing', message: `the directory ${directory} cannot be read (${why})` })
      }
      const facts = factsOf(revision)
      if (facts.id === lastGood?.id && (newest === undefined || newest() === facts.id)) return { is: 'same' }
      const look = { saw: 'revision', revision: facts } as const
      if (judgeRevision(lastGood, look).follow !== 'new') return kept(look, revision.problems)
      lastGood = facts
      return { is: 'new', revision }
    },
  }
}
