import { clean } from './text.ts'

/** A thing that is stopped, and why: it waits, is held or is refused. */
export interface Stopped {
  readonly what: string
  readonly reason: string
  readonly allow?: string | undefined
}

/** Things that one cause stops. `reason` and `allow` are those of the first. */
export interface Cause {
  readonly whats: readonly string[]
  readonly reason: string
  readonly allow?: string | undefined
}

/** Names per line; the machine-readable output has all. */
const NAMED = 4

/** Groups held things by cause: sentences that differ only in the name have one cause. */
export function byCause(stopped: readonly Stopped[]): readonly Cause[] {
  const causes = new Map<string, { whats: string[]; reason: string; allow?: string | undefined }>()
  for (const { what, reason, allow } of stopped) {
    const sentence = causeOf({ what, reason, allow })
    const known = causes.get(sentence)
    if (known === undefined) causes.set(sentence, { whats: [what], reason, allow })
    else if (!known.whats.includes(what)) known.whats.push(what)
  }
  return [...causes.values()]
}

/** `Machine/a, Machine/b and 10 more` */
export function namesOf(whats: readonly string[]): string {
  const shown = whats.slice(0, NAMED).map((one) => clean(one))
  const more = whats.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

/** What is the same for everything that one cause stops: the sentences without the name of the thing. */
export function causeOf({ what, reason, allow }: Stopped): string {
  return nameless(`${reason}\0${allow ?? ''}`, what)
}

function nameless(text: string, what: string): string {
  const name = what.slice(what.lastIndexOf('/') + 1).split('@')[0] ?? ''
  const words = [what, name].filter((one) => one !== '').map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text.replace(new RegExp(`(?<![\\w-])(?:${words.join('|')})(?![\\w-])`, 'g'), '…')
}
