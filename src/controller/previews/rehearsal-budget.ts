import { LIMITS } from '../../lib/limits.ts'

/** Ends a rehearsal that takes too much of the processor, and tells meanwhile how far it is. */
export interface RehearsalBudget {
  /** Aborts when the time is over, or when the caller's signal does. */
  readonly signal: AbortSignal
  /** A sentence on what the time was over with. Undefined: it is not over. */
  readonly spentOn: () => string | undefined
  /** Called often: `doing` is what is being done, since so long of the twin's time. */
  spend(doing: string, twinMs: number): void
}

/** `cpuMs`: the processor time of this process, which a computer that does other things does not shorten. */
export function openRehearsalBudget(
  signal: AbortSignal,
  cpuMs: () => number,
  tell: (doing: string, twinMs: number, spentMs: number) => void,
): RehearsalBudget {
  const over = new AbortController()
  const startedMs = cpuMs()
  let toldMs = 0
  let ended: string | undefined
  return {
    signal: AbortSignal.any([signal, over.signal]),
    spentOn: () => ended,
    spend(doing, twinMs) {
      const spentMs = cpuMs() - startedMs
      if (ended !== undefined || signal.aborted) return
      if (spentMs >= LIMITS.rehearsalCpuMs) {
        ended = `${doing} took more than the ${LIMITS.rehearsalCpuMs / 1000} s of processor time that a rehearsal has`
        over.abort()
      } else if (spentMs - toldMs >= LIMITS.rehearsalToldMs) {
        toldMs = spentMs
        tell(doing, twinMs, spentMs)
      }
    },
  }
}
