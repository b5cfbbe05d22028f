import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Shell } from '../../lib/shell.ts'
import type { ObservedPowerHold } from '../../model/observed-power.ts'

/** In this locale the time is written as year, month and day; in UTC, whatever the node thinks of zones. */
const WHO = ['env', 'TZ=UTC', 'LC_ALL=C.UTF-8', 'who', '-u'] as const

/** Who is logged in on each node, since when, and for how long without a key. A node that does not say holds nothing. */
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
      // A way that is closed at the moment; whoever is behind it cannot be seen.
    }
  })
  return found.sort((a, b) => (a.where + a.who < b.where + b.who ? -1 : 1))
}

const LINE =
  /^(\S+)\s+(\S+)\s+(?:(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}))?.*?\s(old|\.|\?|\d{1,2}:\d{2})\s+\d+(?:\s+\((.*)\))?\s*$/

/** `tapas pts/0 2026-11-15 06:41 00:05 1234 (192.168.4.10)`. */
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
  // `?`: a graphical session, of which nothing says whether anybody sits there.
  if (text === '.' || text === '?') return 0
  if (text === 'old') return 24 * 3_600_000
  const [hours = '0', minutes = '0'] = text.split(':')
  return (Number(hours) * 60 + Number(minutes)) * 60_000
}
