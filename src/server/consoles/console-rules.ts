import { LIMITS } from '../../lib/limits.ts'

/** A console that is open, or is being opened. */
export interface HeldConsole {
  readonly key: string
  /** `page:anna` */
  readonly person: string
  /** On the wall clock, for people. */
  readonly sinceMs: number
}

type OpeningVerdict<C extends HeldConsole> =
  | { readonly may: true; readonly ends?: C }
  | { readonly may: false; readonly code: 'console-taken' | 'too-many'; readonly message: string }

/** Judges whether a person may have a console now, and whose ends for it: a serial line has one reader. Pure. */
export function judgeOpening<C extends HeldConsole>(
  open: readonly C[],
  { key, person, takeOver }: { readonly key: string; readonly person: string; readonly takeOver: boolean },
): OpeningVerdict<C> {
  const held = open.find((one) => one.key === key)
  if (held !== undefined && !takeOver) {
    const who = held.person === person ? 'You have' : `${nameOf(held.person)} has`
    const since = new Date(held.sinceMs).toISOString().slice(11, 16)
    const message = `${who} the console of ${key} open since ${since} UTC. Two cannot type on one serial line.`
    return { may: false, code: 'console-taken', message }
  }
  const others = open.filter((one) => one !== held)
  if (others.filter((one) => one.person === person).length >= LIMITS.consolesPerPerson)
    return tooMany(`You have ${LIMITS.consolesPerPerson} consoles open. Close one first.`)
  if (others.length >= LIMITS.consoles)
    return tooMany(`${LIMITS.consoles} consoles are open, which is all that croft allows at a time. Try again later.`)
  return { may: true, ...(held === undefined ? {} : { ends: held }) }
}

function tooMany(message: string): OpeningVerdict<never> {
  return { may: false, code: 'too-many', message }
}

/** How long a console has been open, and since when no key was typed, by the monotonic clock. */
interface ConsoleTimes {
  readonly nowMs: number
  readonly openedMs: number
  readonly typedMs: number
}

/** Returns why a console must end now; undefined if it may stay. Pure. */
export function judgeStaying({ nowMs, openedMs, typedMs }: ConsoleTimes, mayStill: boolean): string | undefined {
  if (!mayStill) return 'The session or the right of who had it open has ended.'
  if (nowMs - openedMs >= LIMITS.consoleTotalMs) return `A console lasts at most ${hours(LIMITS.consoleTotalMs)}.`
  if (nowMs - typedMs >= LIMITS.consoleIdleMs) return `Nobody typed for ${minutes(LIMITS.consoleIdleMs)}.`
  return undefined
}

/** `page:anna` is anna. */
export function nameOf(person: string): string {
  return person.slice(person.indexOf(':') + 1)
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} minutes`
}

function hours(ms: number): string {
  return `${Math.round(ms / 3_600_000)} hours`
}

/** For the audit log. Pure. */
export function lastingWords(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 360) / 10} h`
}
