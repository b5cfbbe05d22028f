import type { PowerWait } from '../../model/observed-power.ts'
import { waitName } from '../../plan/power/view.ts'

/**
 * Records since when each wait lasts, in lines for people and other programs on the same database: only the waiting
 * process knows the duration itself. Known times stay, so that a record changes only if its waits do.
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
