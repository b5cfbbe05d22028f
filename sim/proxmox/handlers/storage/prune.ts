/** How many backups of each span are to stay: `keep-last`, `keep-daily` and so on. */
export type Keep = ReadonlyMap<string, number>

export type Mark = 'keep' | 'remove' | 'protected'

interface Backup {
  readonly seconds: number
  readonly protected: boolean
}

const DAY = 86_400

/** In which hour, day, week, month or year a backup was made. Weeks begin on Monday. */
const SPANS: readonly (readonly [string, (seconds: number) => string])[] = [
  ['keep-hourly', (seconds) => `${Math.floor(seconds / 3600)}`],
  ['keep-daily', (seconds) => `${Math.floor(seconds / DAY)}`],
  ['keep-weekly', (seconds) => `${Math.floor((seconds / DAY + 3) / 7)}`],
  ['keep-monthly', (seconds) => new Date(seconds * 1000).toISOString().slice(0, 7)],
  ['keep-yearly', (seconds) => new Date(seconds * 1000).toISOString().slice(0, 4)],
]

/**
 * What would become of the backups of one guest. Each rule takes the newest backup of each of its spans, passing over
 * spans that an earlier rule has kept one of; protected ones stay and are not counted.
 */
export function marks(backups: readonly Backup[], keep: Keep): Mark[] {
  const given = new Map<Backup, Mark>()
  const newestFirst = [...backups].sort((a, b) => b.seconds - a.seconds)
  for (const backup of newestFirst) if (backup.protected) given.set(backup, 'protected')
  const counts = [...keep].filter(([key, count]) => key !== 'keep-all' && count > 0)
  if (keep.get('keep-all') === 1 || counts.length === 0) {
    return backups.map((backup) => given.get(backup) ?? 'keep')
  }
  const free = () => newestFirst.filter((backup) => !given.has(backup))
  for (const backup of free().slice(0, keep.get('keep-last') ?? 0)) given.set(backup, 'keep')
  for (const [key, spanOf] of SPANS) {
    const count = keep.get(key) ?? 0
    if (count === 0) continue
    const before = new Set(newestFirst.filter((one) => given.get(one) === 'keep').map((one) => spanOf(one.seconds)))
    const mine = new Set<string>()
    for (const backup of free()) {
      const span = spanOf(backup.seconds)
      if (before.has(span)) continue
      if (mine.size >= count && !mine.has(span)) break
      if (mine.has(span)) given.set(backup, 'remove')
      else {
        mine.add(span)
        given.set(backup, 'keep')
      }
    }
  }
  return backups.map((backup) => given.get(backup) ?? 'remove')
}
