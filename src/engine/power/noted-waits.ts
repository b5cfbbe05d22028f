import type { PowerWait } from '../../model/observed-power.ts'
import { waitName } from '../../plan/power/view.ts'

/**
 * Since when each wait goes on, as lines that people and other programs on the same database can read: how long it has
 * been is known by the one that waits alone. What is noted stays, so that a record changes only when its waits do.
 */
export function noteWaits(waits: readonly PowerWait[], before: string | undefined, nowMs: number): string {
  const noted = readWaits(before)
  const lines = waits.map((wait) => {
    const name = waitName(wait.tier, wait.what, wait.awaits)
    // A wait that has just started restarts, even if an earlier process recorded it.
    const sinceMs = (wait.waitedMs > 0 ? noted.get(name) : undefined) ?? nowMs - wait.waitedMs
    return `${name} since ${new Date(sinceMs).toISOString()}`
  })
  return lines.join('\n')
}

/** By the name of the wait. */
export function readWaits(text: string | undefined): ReadonlyMap<string, number> {
  const found = (text ?? '').split('\n').flatMap((line) => {
    const [, name = '', since = ''] = /^(.*) since (\S+)$/.exec(line) ?? []
    const ms = Date.parse(since)
    return name === '' || Number.isNaN(ms) ? [] : [[name, ms] as const]
  })
  return new Map(found)
}
