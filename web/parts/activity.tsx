import { useState } from 'preact/hooks'
import { eventTime, exactly, ownZone, plural, shortCommit } from '../format.ts'
import { useNow } from '../hooks.ts'
import { live } from '../live.ts'
import { hrefToKey } from '../route.ts'
import { Ago } from './bits.tsx'
import { Icon } from './icon.tsx'

/** The strip at the bottom: what happened last, and on request the last hundred. */
export function Activity() {
  const { events, page } = live.use()
  const [open, set] = useState(false)
  const now = useNow()
  const [newest] = events
  return (
    <section class={`activity ${open ? 'is-open' : ''}`} aria-label="What happens">
      <button type="button" class="activity-head" aria-expanded={open} onClick={() => set(!open)}>
        <Icon name="chevron" size={15} />
        <span class="activity-newest" aria-live="polite">
          {newest === undefined ? (
            'No events yet.'
          ) : (
            <>
              <time title={exactly(newest.atMs)}>{eventTime(newest.atMs, now)}</time>{' '}
              <span class="muted narrow-only">{ownZone()} </span>
              <b class={newest.type === 'Warning' ? 'tone-bad' : ''}>{newest.reason}</b>{' '}
              {newest.key !== undefined && <span>{newest.key}</span>} <span class="muted">{newest.message}</span>
            </>
          )}
        </span>
        {page?.pass !== undefined && (
          <span class="muted wide-only">
            looked <Ago atMs={page.pass.endedMs} />,{' '}
            {page.pass.effects === 0 ? 'no step taken' : `${plural(page.pass.effects, 'step')} taken`} · times in{' '}
            {ownZone()}
          </span>
        )}
      </button>
      {open && (
        <ol class="activity-list">
          {events.slice(0, 100).map((event) => (
            <li key={event.seq}>
              <time title={exactly(event.atMs)}>{eventTime(event.atMs, now)}</time>
              <b class={event.type === 'Warning' ? 'tone-bad' : ''}>{event.reason}</b>
              {event.key === undefined ? <span /> : <a href={hrefToKey(event.key)}>{event.key}</a>}
              <span class="muted">{event.message}</span>
              {event.commit !== undefined && <code class="wide-only">{shortCommit(event.commit)}</code>}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
