import type { EventOnPage } from '../../src/server/api/schemas.ts'
import { clockTime, shortCommit } from '../format.ts'
import { Ago } from './bits.tsx'
import { Icon } from './icon.tsx'

export function EventTable({ events }: { readonly events: readonly EventOnPage[] }) {
  return (
    <ol class="event-table">
      {events.map((event) => (
        <li key={event.seq}>
          <time>{clockTime(event.atMs)}</time>
          <span class={event.type === 'Warning' ? 'tone-bad' : ''}>
            {event.type === 'Warning' && <Icon name="warn" size={14} />} <b>{event.reason}</b>
          </span>
          <span class="grow">{event.message}</span>
          <span class="muted">
            <Ago atMs={event.atMs} />
          </span>
          {event.commit !== undefined && <code class="wide-only">{shortCommit(event.commit)}</code>}
        </li>
      ))}
    </ol>
  )
}
