import type { ClusterOnPage } from '../../src/server/api/schemas.ts'
import { duration } from '../format.ts'
import { useNow } from '../hooks.ts'
import { Badge } from './icon.tsx'

/** Reports whether the cluster has steps, waits, holds, refusals or warnings. */
export function isUnsettled({ steps, waits, holds, refusals, warnings }: ClusterOnPage): boolean {
  return [steps, waits, holds, refusals, warnings].some((list) => list.length > 0)
}

/** Shows a cluster's next steps, its waits and its obstacles. */
export function ClusterSteps({ cluster }: { readonly cluster: ClusterOnPage }) {
  const now = useNow(1000)
  return (
    <ul class="plain">
      {cluster.refusals.map((one) => (
        <Held key={one.reason} hold={one} tone="bad" />
      ))}
      {cluster.holds.map((one) => (
        <Held key={one.reason} hold={one} tone="warn" />
      ))}
      {cluster.steps.map((one) => (
        <li key={`${one.do}${one.node ?? ''}`} class="condition">
          <Badge tone="busy" word={one.do} />
          <span class="grow">
            {one.summary}
            <span class="trouble-detail">
              {one.reason}; waits for {one.awaits}
            </span>
          </span>
        </li>
      ))}
      {cluster.waits.map((one) => (
        <li key={`${one.awaits}${one.node ?? ''}`} class="condition">
          <Badge tone="quiet" word="waits" />
          <span class="grow">
            {one.node !== undefined && <b>{one.node}: </b>}
            {one.awaits}, for {duration(now - one.sinceMs)}
            {one.untilMs !== undefined && one.untilMs > now && `, ${duration(one.untilMs - now)} to go`}
          </span>
        </li>
      ))}
      {cluster.warnings.map((text) => (
        <li key={text} class="condition">
          <Badge tone="warn" word="note" />
          <span class="grow">{text}</span>
        </li>
      ))}
    </ul>
  )
}

function Held({ hold, tone }: { readonly hold: ClusterOnPage['holds'][number]; readonly tone: 'bad' | 'warn' }) {
  return (
    <li class="condition">
      <Badge tone={tone} word={hold.guard} />
      <span class="grow">
        {hold.node !== undefined && <b>{hold.node}: </b>}
        {hold.reason}
        <span class="trouble-allow">→ {hold.allow}</span>
      </span>
    </li>
  )
}
