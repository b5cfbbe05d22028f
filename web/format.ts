import type { HostOnPage } from '../src/server/api/schemas.ts'

/** `12 s`, `4 min`, `3 h`, `5 d`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

export function ago(atMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - atMs) / 1000)
  if (seconds < 2) return 'just now'
  return `${seconds < 90 ? `${seconds} s` : duration(seconds * 1000)} ago`
}

export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = count
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

export function kilowattHours(wattHours: number): string {
  return `${(wattHours / 1000).toFixed(2)} kWh`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** The default zone of times on the page: the reader's. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** A whole date for titles: what "3 d ago" means exactly, in the same zone as everything else. */
export function exactly(atMs: number): string {
  const parts = { dateStyle: 'short', timeStyle: 'medium', hour12: false } as const
  return `${new Date(atMs).toLocaleString('sv-SE', parts)} ${ownZone()}`
}

export function clockTime(atMs: number): string {
  return new Date(atMs).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
}

/** Returns the time of an event: `14:05:09` today, `15 Nov 23:30` before, so that it is not read as today's. */
export function eventTime(atMs: number, nowMs: number): string {
  const [at, now] = [new Date(atMs), new Date(nowMs)]
  if (at.toDateString() === now.toDateString()) return clockTime(atMs)
  const day = { day: 'numeric', month: 'short' } as const
  if (at.getFullYear() !== now.getFullYear()) return at.toLocaleDateString('en-GB', { ...day, year: 'numeric' })
  return `${at.toLocaleDateString('en-GB', day)} ${clockTime(atMs).slice(0, 5)}`
}

/** Returns a moment within a week: `Sat 23:30`, in the schedule's zone if given. */
export function weekdayTime(atMs: number, timeZone = ownZone()): string {
  const parts = { weekday: 'short', hour: '2-digit', minute: '2-digit' } as const
  try {
    return new Date(atMs).toLocaleString('en-GB', { ...parts, timeZone })
  } catch {
    // A zone that this browser does not know: then with the zone that it is in.
    return exactly(atMs)
  }
}

/** Returns seven digits of a commit; the revision of a directory begins with a word. */
export function shortCommit(commit: string): string {
  return /^[0-9a-f]{7}/.test(commit) ? commit.slice(0, 7) : commit.slice(0, 14)
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Returns a host's load and temperature, as far as known. */
export function hostWords(host: HostOnPage | undefined): string {
  const words: string[] = []
  if (host?.load !== undefined) words.push(`${percent(host.load)} busy`)
  if (host?.temperatureC !== undefined) words.push(`${Math.round(host.temperatureC)} °C`)
  return words.join(', ')
}
