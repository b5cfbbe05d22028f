import type { CroftEvent } from '../../model/record.ts'
import { showAge } from './duration.ts'
import { API_VERSION } from './plan-json.ts'
import { renderTable } from './table.ts'
import { cleanLines, type Style } from './text.ts'

const COLUMNS = [
  { title: 'LAST SEEN' },
  { title: 'TYPE' },
  { title: 'REASON' },
  { title: 'OBJECT' },
  { title: 'MESSAGE', max: 400 },
]

export function renderEvents(
  events: readonly CroftEvent[],
  style: Style,
  view: { readonly nowMs: number; readonly headers: boolean; readonly withObject?: boolean },
): string {
  const columns = view.withObject === false ? COLUMNS.filter((column) => column.title !== 'OBJECT') : COLUMNS
  const rows = foldEvents(events).map(({ event, count, firstMs }) => {
    const often = count === 1 ? '' : ` (${count} times in ${showAge(event.atMs - firstMs)})`
    const commit = event.commit === undefined ? '' : ` (${event.commit.slice(0, 7)})`
    const object = view.withObject === false ? [] : [event.key ?? '-']
    return [showAge(view.nowMs - event.atMs), event.type, event.reason, ...object, `${event.message}${commit}${often}`]
  })
  return renderTable(columns, rows, style, { headers: view.headers })
}

/** Returns one line for a log. A revision other than a Git commit is left out. */
export function eventLine({ atMs, key, type, reason, message, commit }: CroftEvent): string {
  const at = commit === undefined || !/^[0-9a-f]{40}/.test(commit) ? '' : ` (${commit.slice(0, 7)})`
  const line = `${new Date(atMs).toISOString()} ${type === 'Warning' ? 'warning ' : ''}${key ?? '-'} ${reason}: ${message}${at}`
  return cleanLines(line).replaceAll('\n', ' ')
}

export function eventJson(event: CroftEvent): unknown {
  return {
    apiVersion: API_VERSION,
    kind: 'Event',
    seq: event.seq,
    time: new Date(event.atMs).toISOString(),
    ...(event.key === undefined ? {} : { object: event.key }),
    type: event.type,
    reason: event.reason,
    message: event.message,
    ...(event.commit === undefined ? {} : { commit: event.commit }),
  }
}

/** An event, repeated or not. */
interface FoldedEvent {
  /** Its last occurrence. */
  readonly event: CroftEvent
  readonly count: number
  readonly firstMs: number
}

/**
 * Folds repeated trouble into one line, at its last position, with the count and the first time: repeats would hide all
 * else. Actions are not folded, because each was really done.
 */
export function foldEvents(events: readonly CroftEvent[]): readonly FoldedEvent[] {
  const folded = new Map<string, FoldedEvent>()
  for (const [index, event] of events.entries()) {
    const { type, key, reason, message, commit } = event
    const same = type === 'Warning' ? JSON.stringify([key, reason, message, commit]) : String(index)
    const before = folded.get(same)
    // Delete it first, so that it moves to the end.
    folded.delete(same)
    folded.set(same, { event, count: (before?.count ?? 0) + 1, firstMs: before?.firstMs ?? event.atMs })
  }
  return [...folded.values()]
}
