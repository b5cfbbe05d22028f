import { recordIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'
import { maskMessage } from '../../model/masked/secret-text.ts'
import type { Message, TroubleSort } from '../../model/notification.ts'
import type { Trouble } from '../../model/trouble.ts'

/** The state of one trouble for one receiver. All of them together are also its outbox. */
export interface NotifiedTrouble {
  readonly id: string
  readonly sort: TroubleSort
  readonly about: string
  readonly title: string
  readonly sinceMs: number
  /** The receiver took the notice of this trouble. */
  readonly notified: boolean
  /** The notice of this trouble, until the receiver takes it. */
  readonly waiting?: { readonly text: string; readonly atMs: number }
  /** Time since which it is over. Its end is told if it stays so. */
  readonly goneMs?: number
}

export interface NoticeRules {
  /** Empty: everything. */
  readonly about: readonly TroubleSort[]
  /** How long a trouble must last before it is told, and be over before its end is. */
  readonly afterMs: number
  /** Maximum number of troubles. */
  readonly most: number
  /** Reports whether an absent trouble is over. If not, its state is unknown. */
  isOver(trouble: NotifiedTrouble): boolean
}

export interface Notices {
  readonly notified: readonly NotifiedTrouble[]
  /** To send now, oldest first. */
  readonly messages: readonly Message[]
  readonly dueMs: number
}

/**
 * Returns what to tell a receiver now. A trouble is told once, when it has lasted a while, and its end once, when it
 * has been over for as long. A trouble with an unknown state stays as it was. Pure.
 */
export function nextNotices(
  before: readonly NotifiedTrouble[],
  now: readonly Trouble[],
  { about, afterMs, most, isOver }: NoticeRules,
  atMs: number,
): Notices {
  const isWanted = ({ sort }: Pick<Trouble, 'sort'>) => about.length === 0 || about.includes(sort)
  const known = new Map(before.filter(isWanted).map((one) => [one.id, one]))
  const present = now.filter(isWanted).map((trouble) => {
    const was = known.get(trouble.id)
    known.delete(trouble.id)
    return standing(was, trouble, afterMs, atMs)
  })
  const absent = [...known.values()].flatMap((was): readonly NotifiedTrouble[] => {
    if (!isOver(was)) return [was]
    return was.notified || was.waiting !== undefined ? [{ ...was, goneMs: was.goneMs ?? atMs }] : []
  })
  const notified = bounded([...present, ...absent], most)
  const isPresent = new Set(present.map(({ id }) => id))
  let dueMs = Number.POSITIVE_INFINITY
  const messages: Message[] = []
  for (const one of notified) {
    const { id, sort, title, sinceMs, waiting, goneMs } = one
    if (waiting !== undefined) messages.push({ id, sort, title, sinceMs, resolved: false, ...waiting })
    else if (!one.notified) {
      if (isPresent.has(id)) dueMs = Math.min(dueMs, Math.max(atMs, sinceMs + afterMs))
    } else if (goneMs !== undefined && isOver(one)) {
      const endMs = goneMs + afterMs
      if (endMs <= atMs) messages.push({ id, sort, title, sinceMs, resolved: true, text: 'It is over.', atMs: endMs })
      else dueMs = Math.min(dueMs, endMs)
    }
  }
  return { notified, messages: messages.toSorted((a, b) => a.atMs - b.atMs), dueMs }
}

/** Returns the entry of a present trouble. An end that was not told yet is dropped: it did not last. */
function standing(
  was: NotifiedTrouble | undefined,
  { id, sort, about, title, text }: Trouble,
  afterMs: number,
  atMs: number,
): NotifiedTrouble {
  const one = { id, sort, about, title, sinceMs: was?.sinceMs ?? atMs, notified: was?.notified === true }
  if (one.notified) return one
  const lasted = atMs - one.sinceMs >= afterMs
  const waiting =
    was?.waiting ?? (lasted ? { text: maskMessage(text).slice(0, LIMITS.noticeTextLength), atMs } : undefined)
  return waiting === undefined ? one : { ...one, waiting }
}

/** With too many troubles at once, keeps the notified ones first, so that their end is told. */
function bounded(all: readonly NotifiedTrouble[], most: number): readonly NotifiedTrouble[] {
  if (all.length <= most) return all
  const order = (one: NotifiedTrouble) => Number(!one.notified) + Number(!one.notified && one.waiting === undefined)
  return all.toSorted((a, b) => order(a) - order(b)).slice(0, most)
}

/** Returns the state after the receiver has accepted a message. Pure. */
export function taken(all: readonly NotifiedTrouble[], { id, resolved }: Message): readonly NotifiedTrouble[] {
  if (resolved) return all.filter((one) => one.id !== id)
  return all.map(({ waiting, ...one }) =>
    one.id === id ? { ...one, notified: true } : { ...one, ...(waiting === undefined ? {} : { waiting }) },
  )
}

/** Reports whether a trouble can be remembered. The place of a manifest may be as long as its author likes. Pure. */
export function isShort({ id, title }: NotifiedTrouble): boolean {
  return id.length + title.length <= LIMITS.noticeNameLength
}

/** Titles of what is wrong, or was when it was last seen. Pure. */
export function standingTitles(all: readonly NotifiedTrouble[]): readonly string[] {
  return all.filter(({ goneMs }) => goneMs === undefined).map(({ title }) => title)
}

type SavedTrouble = Omit<NotifiedTrouble, 'about'> & {
  readonly about?: string
  /** The word of an early version for `notified`. */
  readonly told?: boolean
}

/** Reads what was kept. A moment that the clock has not reached yet is of a clock that was set back: it counts from now. */
export function readNotified(
  text: string | undefined,
  atMs: number,
): Readonly<Record<string, readonly NotifiedTrouble[]>> {
  const kept = Object.entries(recordIn(text ?? '') ?? {})
  return Object.fromEntries(
    kept.map(([name, all]) => [name, Array.isArray(all) ? all.map((one: SavedTrouble) => readTrouble(one, atMs)) : []]),
  )
}

function readTrouble(
  { told, about, notified, goneMs, waiting, sinceMs, ...one }: SavedTrouble,
  atMs: number,
): NotifiedTrouble {
  return {
    ...one,
    about: about ?? aboutOf(one),
    sinceMs: Math.min(sinceMs, atMs),
    notified: notified ?? told === true,
    ...(waiting === undefined ? {} : { waiting: { ...waiting, atMs: Math.min(waiting.atMs, atMs) } }),
    ...(goneMs === undefined ? {} : { goneMs: Math.min(goneMs, atMs) }),
  }
}

/** Early versions kept the id alone, in which the name comes last. */
function aboutOf({ id, sort }: Pick<SavedTrouble, 'id' | 'sort'>): string {
  return id.slice((sort === 'cluster' || sort === 'power' ? id.lastIndexOf('/') : id.indexOf('/')) + 1)
}
