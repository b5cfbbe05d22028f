import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Shell } from '../../lib/shell.ts'
import type { ObservedPowerHold } from '../../model/observed-power.ts'

/** This locale prints times as year, month and day; TZ overrides the node's time zone. */
const WHO = ['env', 'TZ=UTC', 'LC_ALL=C.UTF-8', 'who', '-u'] as const

/** Returns who is logged in on each node, since when, and how long idle. A node that does not answer holds nothing. */
export async function peopleOn(
  shells: ReadonlyMap<string, Shell>,
  signal: AbortSignal,
): Promise<readonly ObservedPowerHold[]> {
  const found: ObservedPowerHold[] = []
  await inParallel([...shells], LIMITS.nodesAskedAtOnce, async ([node, shell]) => {
    try {
      const { code, stdout } = await shell.run(WHO, { signal })
      if (code === 0) found.push(...readWho(stdout, node))
    } catch {
      // The node is unreachable now; its users are unknown.
    }
  })
  return found.sort((a, b) => (a.where + a.who < b.where + b.who ? -1 : 1))
}

const LINE =
  /^(\S+)\s+(\S+)\s+(?:(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}))?.*?\s(old|\.|\?|\d{1,2}:\d{2})\s+\d+(?:\s+\((.*)\))?\s*$/

/** Parses `tapas pts/0 2026-11-15 06:41 00:05 1234 (192.168.4.10)`. */
export function readWho(text: string, node: string): readonly ObservedPowerHold[] {
  return text.split('\n').flatMap((line): readonly ObservedPowerHold[] => {
    const match = LINE.exec(line)
    if (match === null) return []
    const [, user = '', , date, clock, idle = '.', from] = match
    const sinceMs = date === undefined ? Number.NaN : Date.parse(`${date}T${clock ?? '00:00'}:00Z`)
    const who = cleanText(from === undefined ? user : `${user} (from ${from})`)
    return [
      {
        kind: 'person',
        who,
        where: node,
        idleMs: idleMs(idle),
        ...(Number.isFinite(sinceMs) ? { sinceMs } : {}),
      },
    ]
  })
}

function idleMs(text: string): number {
  // `?`: a graphical session, whose idle time is unknown.
  if (text === '.' || text === '?') return 0
  if (text === 'old') return 24 * 3_600_000
  const [hours = '0', minutes = '0'] = text.split(':')
  return (Number(hours) * 60 + Number(minutes)) * 60_000
}
