import { LIMITS } from '../../lib/limits.ts'
import { UsageError } from '../verb.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Age as kubectl writes it: `45s`, `5m30s`, `3h12m`, `5d18h`, `400d`. At most two parts, the second only when small. */
export function showAge(ms: number): string {
  if (!Number.isFinite(ms)) return '<unknown>'
  const age = Math.max(0, ms)
  if (age < 2 * MINUTE) return `${Math.floor(age / SECOND)}s`
  if (age < 10 * MINUTE) return twoParts(age, MINUTE, 'm', SECOND, 's')
  if (age < 3 * HOUR) return `${Math.floor(age / MINUTE)}m`
  if (age < 8 * HOUR) return twoParts(age, HOUR, 'h', MINUTE, 'm')
  if (age < 2 * DAY) return `${Math.floor(age / HOUR)}h`
  if (age < 8 * DAY) return twoParts(age, DAY, 'd', HOUR, 'h')
  return `${Math.floor(age / DAY)}d`
}

/** Elapsed time for progress: `0.4s`, `12s`, `2m05s`. */
export function showElapsed(ms: number): string {
  const elapsed = Math.max(0, ms)
  if (elapsed < 10 * SECOND) return `${(Math.floor(elapsed / 100) / 10).toFixed(1)}s`
  if (elapsed < MINUTE) return `${Math.floor(elapsed / SECOND)}s`
  const minutes = Math.floor(elapsed / MINUTE)
  return `${minutes}m${String(Math.floor((elapsed % MINUTE) / SECOND)).padStart(2, '0')}s`
}

/** Parses `90s`, `15m`, `1h30m`, `500ms`, or a bare number of seconds. Undefined: invalid. */
export function parseDuration(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND
  const parts = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?$/.exec(text)
  if (text === '' || parts === null) return undefined
  const [h = 0, m = 0, s = 0, ms = 0] = parts.slice(1).map((part) => Number(part ?? 0))
  return h * HOUR + m * MINUTE + s * SECOND + ms
}

function twoParts(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % big) / small)
  return `${Math.floor(ms / big)}${bigName}${rest === 0 ? '' : `${rest}${smallName}`}`
}

/** Returns the timeout of a command, from `--timeout`. */
export function timeoutOf(text: unknown): number {
  const ms = parseDuration(String(text))
  if (ms === undefined || ms === 0 || ms > 10 * LIMITS.settleDeadlineMs) {
    throw new UsageError(`--timeout ${String(text)} is not a duration up to 5h. Write it like 90s, 15m or 1h30m.`)
  }
  return ms
}
