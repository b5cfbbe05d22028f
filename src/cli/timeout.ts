import { LIMITS } from '../lib/limits.ts'
import { UsageError } from './exit.ts'
import { parseDuration } from './render/duration.ts'

/** How long a command may wait, from `--timeout`. */
export function timeoutOf(text: unknown): number {
  const ms = parseDuration(String(text))
  if (ms === undefined || ms === 0 || ms > 10 * LIMITS.settleDeadlineMs) {
    throw new UsageError(`--timeout ${String(text)} is no duration up to 5h. Write it like 90s, 15m or 1h30m.`)
  }
  return ms
}
