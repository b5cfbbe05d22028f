import type { CroftEvent } from '../../model/event.ts'
import { showAge } from './duration.ts'
import { foldEvents } from './fold-events.ts'
import { API_VERSION } from './plan-json.ts'
import type { Style } from './style.ts'
import { renderTable } from './table.ts'

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
