import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Who } from './auth/who.ts'

/** An answer that stays open and is judged again meanwhile: a stream, a log. */
interface StayingOpen {
  /** Reports whether the reader may have it now: asked as each request is. */
  may(): Promise<boolean>
  end(): void
  /** Aborted when the answer has ended. */
  readonly over: AbortSignal
}

export interface OpenReaders {
  /** Ends it within seconds of the session's end, the user's removal, or another role. */
  watch(one: StayingOpen): void
  /** Judges all open answers, after the end of a session. */
  judgeNow(): void
}

/** Rights are judged per request; an answer that lasts for hours is judged again during it. */
export function createOpenReaders(clock: Clock): OpenReaders {
  const all = new Set<StayingOpen>()

  const judge = async (one: StayingOpen): Promise<void> => {
    const may = await one.may().catch(() => false)
    if (may || !all.delete(one)) return
    one.end()
  }

  const follow = async (one: StayingOpen): Promise<void> => {
    while (all.has(one)) {
      await clock.sleep(LIMITS.openJudgeMs, one.over)
      if (one.over.aborted) all.delete(one)
      else await judge(one)
    }
  }

  return {
    watch(one) {
      if (one.over.aborted) return
      all.add(one)
      void follow(one)
    },
    judgeNow() {
      for (const one of all) void judge(one)
    },
  }
}

/** Reports whether a reader is the one that it was, with the same rights. Pure. */
export function isSameReader(was: Who, is: Who): boolean {
  return was.actor.name === is.actor.name && was.role === is.role && was.scopes.join() === is.scopes.join()
}
