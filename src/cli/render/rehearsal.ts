import type { Rehearsed } from '../../controller/rehearse.ts'
import { clean } from './clean.ts'
import { showElapsed } from './duration.ts'

/** The timeline of a rehearsal, and what it would cost. Pure. */
export function renderRehearsal(rehearsal: Rehearsed): string {
  const { events, startedMs, downtimes, margins, held, outcome, tookMs } = rehearsal
  const told = events.filter(({ reason }) => reason !== 'Revision')
  const lines = told.map(
    ({ atMs, key, type, reason, message }) =>
      `${`+${showElapsed(atMs - startedMs)}`.padStart(9)}  ${clean(key ?? '-')}  ${type === 'Warning' ? 'warning ' : ''}${clean(reason)}: ${clean(message)}`,
  )
  if (lines.length === 0) lines.push('Nothing would be done.')
  lines.push('')
  lines.push(
    outcome === 'settled'
      ? `Settled after ${showElapsed(tookMs)} of the twin's time.`
      : `Not settled after ${showElapsed(tookMs)} of the twin's time: ${outcome}.`,
  )
  for (const { name, ms } of downtimes) lines.push(`Down: ${clean(name)} for ${showElapsed(ms)}.`)
  if (downtimes.length === 0) lines.push('No machine that runs now would be down.')
  for (const { cluster, lowest } of margins) lines.push(`Lowest quorum margin of ${clean(cluster)}: ${lowest}.`)
  for (const { key, reason } of held) lines.push(`Held: ${clean(key)}: ${clean(reason)}.`)
  return `${lines.join('\n')}\n`
}
