import type { TroubleSort } from '../model/notification.ts'
import type { Trouble } from '../model/trouble.ts'

/** What was told, and what is still to be told, of each trouble. */
export interface Told {
  readonly id: string
  readonly sort: TroubleSort
  readonly title: string
  readonly sinceMs: number
  /** It was told. */
  readonly told: boolean
  /** Since when it is gone; it counts as over when it stays away. */
  readonly goneMs?: number
}

export interface Notice {
  readonly kind: 'trouble' | 'resolved'
  readonly trouble: Pick<Trouble, 'id' | 'sort' | 'title' | 'text'>
  readonly sinceMs: number
  readonly atMs: number
}

/**
 * What to tell now. A trouble is told once, when it has lasted a while, and once more when it has been gone for as long:
 * what comes and goes in between is told nobody. Pure.
 */
export function nextNotices(
  before: readonly Told[],
  now: readonly Trouble[],
  about: readonly TroubleSort[],
  afterMs: number,
  atMs: number,
): { readonly notices: readonly Notice[]; readonly told: readonly Told[]; readonly dueMs: number } {
  const wanted = now.filter(({ sort }) => about.length === 0 || about.includes(sort))
  const present = new Map(wanted.map((trouble) => [trouble.id, trouble]))
  const known = new Map(before.map((one) => [one.id, one]))
  const notices: Notice[] = []
  const told: Told[] = []
  let dueMs = Number.POSITIVE_INFINITY
  for (const trouble of wanted) {
    const was = known.get(trouble.id)
    const sinceMs = was?.sinceMs ?? atMs
    const due = was?.told !== true && atMs - sinceMs >= afterMs
    const { id, sort, title, text } = trouble
    if (due) notices.push({ kind: 'trouble', trouble: { id, sort, title, text }, sinceMs, atMs })
    else if (was?.told !== true) dueMs = Math.min(dueMs, sinceMs + afterMs)
    told.push({ id, sort, title, sinceMs, told: was?.told === true || due })
  }
  for (const was of before) {
    if (present.has(was.id) || !was.told) continue
    const goneMs = was.goneMs ?? atMs
    if (atMs - goneMs >= afterMs)
      notices.push({
        kind: 'resolved',
        trouble: { id: was.id, sort: was.sort, title: was.title, text: '' },
        sinceMs: was.sinceMs,
        atMs,
      })
    else {
      told.push({ ...was, goneMs })
      dueMs = Math.min(dueMs, goneMs + afterMs)
    }
  }
  return { notices, told, dueMs }
}
