import type { Page, PowerOnPage } from '../../src/server/api/schemas.ts'
import { exactly, plural } from '../format.ts'
import { Card, Empty } from '../parts/bits.tsx'
import { Badge } from '../parts/icon.tsx'
import { hrefTo } from '../route.ts'

/** What is on and what is off. */
export function PowerView({ page }: { readonly page: Page }) {
  const machines = page.rows.filter(({ power }) => power !== undefined)
  const on = (host: string) => machines.filter((row) => row.host === host && row.power === 'on').length
  const all = (host: string) => machines.filter((row) => row.host === host).length
  return (
    <>
      <header class="view-head">
        <h1>Power</h1>
        <span class="muted">
          {page.hosts.filter(({ online }) => online).length} of {plural(page.hosts.length, 'host')} on,{' '}
          {machines.filter(({ power }) => power === 'on').length} of {plural(machines.length, 'machine')}
        </span>
      </header>
      {page.hosts.length === 0 ? (
        <Empty icon="power" title="No host is known yet" />
      ) : (
        <Card title="Hosts">
          <ul class="plain">
            {page.hosts.map((host) => (
              <li key={host.name} class="line-item">
                <Badge tone={host.online ? 'ok' : 'quiet'} word={host.online ? 'on' : 'off'} icon="power" />
                <a class="clip" href={hrefTo('estate', 'host', host.name)} data-row>
                  {host.name}
                </a>
                <span class="grow" />
                <span class="muted">
                  {on(host.name)} of {plural(all(host.name), 'machine')} on
                </span>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {(page.power ?? []).map((one) => (
        <PowerCard key={one.key} power={one} />
      ))}
      {page.power === undefined && (
        <Empty icon="power" title="No power plan is declared">
          A manifest of the kind Power says in which order hosts sleep and wake, by schedule or when the mains fail.
        </Empty>
      )}
    </>
  )
}

const TONES = { done: 'ok', doing: 'busy', todo: 'quiet' } as const

/** Its tiers in the order in which they are gone through, each with what it waits for. */
function PowerCard({ power }: { readonly power: PowerOnPage }) {
  const { name, phase, wanted, tiers, waits, holds, refusals, doing, asleep, energy, watts, next } = power
  const settled = phase === 'On' || phase === 'Off'
  return (
    <Card title={name}>
      <p>
        <Badge tone={settled ? 'ok' : phase === 'Held' ? 'warn' : 'busy'} word={phase} icon="power" /> wanted{' '}
        {wanted.state} <span class="muted">({wanted.why})</span>
        {next !== undefined && (
          <span class="muted">
            , {next.state} at {exactly(next.atMs)}
          </span>
        )}
      </p>
      {[...refusals, ...holds].map(({ reason, allow }) => (
        <p key={reason}>
          {reason}. <span class="muted">To go on: {allow}</span>
        </p>
      ))}
      <ol class="plain">
        {tiers.map(({ tier, state, progress, awaits }) => (
          <li key={tier} class="line-item">
            <Badge tone={TONES[state]} word={state} />
            <span>{tier}</span>
            <span class="grow" />
            <span class="muted clip">
              {state === 'doing' ? awaited(tier, waits, awaits) : awaits} ({progress})
            </span>
          </li>
        ))}
      </ol>
      {doing.length > 0 && <p class="muted clip">{doing.slice(0, 5).join(', ')}</p>}
      {asleep.length > 0 && <p class="muted">asleep until a pod needs them: {asleep.join(', ')}</p>}
      {energy !== undefined && (
        <p class="muted">
          now {Math.round(watts.measured ?? watts.estimated)} W, today {kilowattHours(energy.estimatedWh)} estimated
          {energy.measuredWh !== undefined && `, ${kilowattHours(energy.measuredWh)} measured`}
        </p>
      )}
    </Card>
  )
}

function awaited(tier: string, waits: PowerOnPage['waits'], otherwise: string): string {
  const own = waits.filter((wait) => wait.tier === tier)
  const [first] = own
  if (first === undefined) return otherwise
  return `${first.what}: ${first.awaits}${own.length > 1 ? ` and ${own.length - 1} more` : ''}`
}

function kilowattHours(wattHours: number): string {
  return `${(wattHours / 1000).toFixed(2)} kWh`
}
