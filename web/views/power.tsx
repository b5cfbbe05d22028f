import type { Page, PowerOnPage } from '../../src/server/api/schemas.ts'
import { hostNames } from '../boxes.ts'
import { kilowattHours, plural, weekdayTime } from '../format.ts'
import { Ago, Card, Command, Empty } from '../parts/bits.tsx'
import { Badge, Icon } from '../parts/icon.tsx'
import { later } from '../parts/later.tsx'
import { Energy, OnDemand, PowerHosts, Schedule, Ups } from '../parts/power-facts.tsx'
import { PowerHolds } from '../parts/power-holds.tsx'
import { PowerOrders } from '../parts/power-orders.tsx'
import { Tiers } from '../parts/power-tiers.tsx'
import { hrefTo } from '../route.ts'
import type { Tone } from '../tone.ts'

const Courses = later(() => import('./course.tsx').then((module) => module.Courses), 0)

/** Shows what can be switched off and on, the progress, and the energy. */
export function PowerView({ page }: { readonly page: Page }) {
  const powers = page.power ?? []
  return (
    <>
      <header class="view-head">
        <h1>Power</h1>
        <span class="muted">{powers.length > 0 && totals(powers)}</span>
      </header>
      {powers.map((power) => (
        <OnePower key={power.key} power={power} />
      ))}
      {powers.length === 0 && (
        <Empty icon="power" title="No power plan is declared">
          A manifest of the kind Power says in which order workloads, machines and hosts go off and come on: by order,
          by schedule, or when the mains fail.
        </Empty>
      )}
      <HostsOnOff page={page} />
    </>
  )
}

function totals(powers: readonly PowerOnPage[]): string {
  const now = powers.reduce((sum, { watts }) => sum + (watts.measured ?? watts.estimated), 0)
  const today = powers.reduce((sum, { energy }) => sum + (energy?.measuredWh ?? energy?.estimatedWh ?? 0), 0)
  return `${Math.round(now)} W now, ${kilowattHours(today)} today`
}

const PHASES: Readonly<Record<PowerOnPage['phase'], { readonly tone: Tone; readonly word: string }>> = {
  On: { tone: 'ok', word: 'On' },
  Off: { tone: 'quiet', word: 'Off' },
  PoweringOff: { tone: 'busy', word: 'Powering off' },
  PoweringOn: { tone: 'busy', word: 'Powering on' },
  Held: { tone: 'warn', word: 'Held' },
  Unknown: { tone: 'quiet', word: 'Not known' },
}

/** Returns the title for the tiers: only a moving Power is in progress. */
function titleOf({ phase, wanted }: PowerOnPage): string {
  if (phase === 'On') return 'Everything is on'
  if (phase === 'Off') return 'Everything is off'
  const way = wanted.state === 'off' ? 'Power-off' : 'Power-on'
  return phase === 'PoweringOn' || phase === 'PoweringOff' ? `${way} in progress` : way
}

function OnePower({ power }: { readonly power: PowerOnPage }) {
  const { phase, wanted, tiers, waits, doing, held, cluster } = power
  const { tone, word } = PHASES[phase]
  return (
    <section class="power" data-power={power.name} aria-label={`Power ${power.name}`}>
      <header class="power-head">
        <Badge tone={tone} word={word} icon="power" />
        <div class="grow">
          <h2>{power.name}</h2>
          <p class="muted">
            wanted {wanted.state}: {wanted.why}
            {wanted.sinceMs > 0 && (
              <>
                , <Ago atMs={wanted.sinceMs} />
              </>
            )}
            {cluster !== undefined && (
              <>
                {' · '}
                <a href={hrefTo('cluster', cluster)}>cluster {cluster}</a>
              </>
            )}
          </p>
        </div>
        <PowerOrders power={power} />
      </header>
      <PowerHolds {...power} />
      {held.map(({ by, why, untilMs }) => (
        <p key={by} class="notice tone-warn">
          <Icon name="pause" size={17} />
          <span>
            {by} holds it until {weekdayTime(untilMs)}
            {why !== '' && `: ${why}`}
          </span>
        </p>
      ))}
      <Courses of={power.key} phase={phase} />
      <div class="power-columns">
        <div class="stack">
          <Card
            title={titleOf(power)}
            aside={`${tiers.filter(({ state }) => state === 'done').length} of ${plural(tiers.length, 'tier')} done`}
          >
            <Tiers tiers={tiers} waits={waits} />
            {doing.length > 0 && (
              <p class="muted power-doing">
                now: {doing.slice(0, 3).join(', ')}
                {doing.length > 3 && ` and ${doing.length - 3} more`}
              </p>
            )}
            <Command text={`croft power status ${power.name}`} />
          </Card>
          <PowerHosts power={power} />
        </div>
        <div class="stack">
          <Energy power={power} />
          <Schedule power={power} />
          <OnDemand power={power} />
          <Ups power={power} />
        </div>
      </div>
    </section>
  )
}

/** Every host that is known, whether or not croft may switch it. */
function HostsOnOff({ page }: { readonly page: Page }) {
  if (page.hosts.length === 0) return null
  const machines = page.rows.filter(({ power }) => power !== undefined)
  const nameOf = hostNames(page)
  const byHost = Map.groupBy(machines, ({ host }) => nameOf(host ?? ''))
  const on = (host: string) => byHost.get(host)?.filter((row) => row.power === 'running').length ?? 0
  const all = (host: string) => byHost.get(host)?.length ?? 0
  return (
    <Card
      title="Workloads"
      aside={`${machines.filter(({ power }) => power === 'running').length} of ${plural(machines.length, 'machine')} on`}
    >
      <ul class="plain power-grid">
        {page.hosts.map((host) => (
          <li key={`${host.connection}/${host.name}`} class="line-item">
            <Badge tone={host.online ? 'ok' : 'quiet'} word={host.online ? 'on' : 'off'} icon="power" />
            <a class="clip grow" href={hrefTo('estate', 'host', host.name)} data-row>
              {host.name}
            </a>
            <span class="muted nowrap">
              {on(host.name)} of {all(host.name)} on
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
