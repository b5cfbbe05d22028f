import type { PowerOnPage } from '../../src/server/api/schemas.ts'
import { Ago } from './bits.tsx'
import { Icon } from './icon.tsx'

/** Shows the obstacles to switching, and what would lift them. */
export function PowerHolds({ holds, refusals, warnings }: Pick<PowerOnPage, 'holds' | 'refusals' | 'warnings'>) {
  if (holds.length + refusals.length + warnings.length === 0) return null
  return (
    <ul class="plain power-holds">
      {refusals.map((one) => (
        <Line key={one.reason} tone="bad" hold={one} />
      ))}
      {holds.map((one) => (
        <Line key={one.reason} tone="warn" hold={one} />
      ))}
      {warnings.map((text) => (
        <li key={text} class="notice tone-warn">
          <Icon name="warn" size={17} />
          <span>{text}</span>
        </li>
      ))}
    </ul>
  )
}

function Line({ hold, tone }: { readonly hold: PowerOnPage['holds'][number]; readonly tone: 'bad' | 'warn' }) {
  return (
    <li class={`notice tone-${tone}`}>
      <Icon name={tone === 'bad' ? 'bad' : 'pause'} size={17} />
      <span>
        {tone === 'bad' ? 'Refused: ' : 'Held: '}
        {hold.reason}
        {hold.sinceMs !== undefined && (
          <span class="muted">
            {' '}
            (<Ago atMs={hold.sinceMs} />)
          </span>
        )}
        <span class="trouble-allow">→ {hold.allow}</span>
      </span>
    </li>
  )
}
