import type { PowerOnPage } from '../../src/server/api/schemas.ts'
import { cronWords } from '../cron-words.ts'
import { duration, exactly, kilowattHours, percent, plural, weekdayTime } from '../format.ts'
import { useNow } from '../hooks.ts'
import { hrefTo } from '../route.ts'
import { Card, Meter } from './bits.tsx'
import { Badge, Icon } from './icon.tsx'

/** Shows energy: now, today and yesterday, estimated and measured. */
export function Energy({ power: { watts, energy } }: { readonly power: PowerOnPage }) {
  const days = energy === undefined ? [] : [{ ...energy, name: 'today' }]
  if (energy?.yesterday !== undefined) days.push({ ...energy.yesterday, name: 'yesterday' })
  if (watts.measured === undefined && watts.estimated === 0 && most(days) === 0)
    return (
      <Card title="Energy">
        <p class="muted">No measurement. Declare watts for the hosts in the Power to get an estimate.</p>
      </Card>
    )
  const top = Math.max(1, most(days))
  return (
    <Card title="Energy">
      <p class="energy-now">
        <b>{Math.round(watts.measured ?? watts.estimated)} W</b>{' '}
        <span class="muted">
          {watts.measured === undefined
            ? 'now, estimated'
            : `now, measured; ${Math.round(watts.estimated)} W estimated`}
        </span>
      </p>
      {days.map(({ name, estimatedWh, measuredWh }) => (
        <div key={name} class="energy-day">
          <h3>{name}</h3>
          {measuredWh !== undefined && (
            <Meter label="measured" share={measuredWh / top} high={2} text={kilowattHours(measuredWh)} />
          )}
          <Meter label="estimated" share={estimatedWh / top} high={2} text={kilowattHours(estimatedWh)} />
        </div>
      ))}
      {days.length === 0 && <p class="muted">No data yet.</p>}
    </Card>
  )
}

function most(days: readonly { readonly estimatedWh: number; readonly measuredWh?: number | undefined }[]): number {
  return Math.max(0, ...days.flatMap(({ estimatedWh, measuredWh }) => [estimatedWh, measuredWh ?? 0]))
}

export function Schedule({ power: { schedule, next } }: { readonly power: PowerOnPage }) {
  const now = useNow(60_000)
  if (schedule === undefined)
    return (
      <Card title="Schedule">
        <p class="muted">No schedule is declared: people switch it.</p>
      </Card>
    )
  return (
    <Card title="Schedule" aside={schedule.timeZone}>
      {next !== undefined && (
        <p class="line-item">
          <Badge tone="quiet" word={`${next.state} in ${duration(next.atMs - now)}`} icon="power" />
          <time class="muted" title={exactly(next.atMs)}>
            {weekdayTime(next.atMs, schedule.timeZone)}
          </time>
        </p>
      )}
      <dl class="facts">
        {(['on', 'off'] as const).map(
          (state) =>
            schedule[state].length > 0 && (
              <div key={state}>
                <dt>{state}</dt>
                <dd>{schedule[state].map(cronWords).join('; ')}</dd>
              </div>
            ),
        )}
        {schedule.except.length > 0 && (
          <div>
            <dt>stays on</dt>
            <dd>{schedule.except.join(', ')}</dd>
          </div>
        )}
      </dl>
    </Card>
  )
}

export function PowerHosts({ power: { hosts } }: { readonly power: PowerOnPage }) {
  if (hosts.length === 0) return null
  return (
    <Card title={plural(hosts.length, 'host')}>
      <ul class="plain">
        {hosts.map((host) => (
          <li key={host.name} class="power-host">
            <PowerBadge power={host.power} />
            <a class="clip" href={hrefTo('estate', 'host', host.name)} data-row>
              {host.name}
            </a>
            <span class="grow" />
            {host.watts !== undefined && <b class="nowrap">{Math.round(host.watts)} W</b>}
            <span class="muted power-host-more">
              {host.own ? 'croft runs here, goes last' : `woken by ${host.wokenBy ?? 'a person'}`}
              {`, UPS level ${host.level}`}
            </span>
            {host.strangers.length > 0 && (
              <span class="power-host-more tone-warn">
                <Icon name="warn" size={14} /> not declared, and running there: {host.strangers.join(', ')}
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}

export function OnDemand({ power: { onDemand, idleMs } }: { readonly power: PowerOnPage }) {
  if (onDemand.length === 0) return null
  return (
    <Card title="On demand" aside={`asleep after ${duration(idleMs)} without work`}>
      <ul class="plain">
        {onDemand.map(({ node, power, wanting }) => (
          <li key={node} class="power-host">
            <PowerBadge power={power} off="asleep" />
            <b class="clip">{node}</b>
            <span class="grow" />
            <span class="muted">
              {wanting.length === 0 ? 'no pod waits for it' : `wanted by ${wanting.slice(0, 3).join(', ')}`}
              {wanting.length > 3 && ` and ${wanting.length - 3} more`}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const UPS_WORDS = { mains: 'on mains', battery: 'on battery', unknown: 'not known' } as const

export function Ups({ power: { ups } }: { readonly power: PowerOnPage }) {
  if (ups === undefined) return null
  const tone = ups.state === 'mains' ? 'ok' : ups.state === 'battery' ? (ups.low === true ? 'bad' : 'warn') : 'quiet'
  return (
    <Card title="UPS" aside={<code>{ups.name}</code>}>
      <p class="line-item">
        <Badge tone={tone} word={UPS_WORDS[ups.state]} />
        {ups.low === true && <span class="tone-bad">battery low</span>}
      </p>
      {ups.charge !== undefined && (
        <Meter label="charge" share={ups.charge / 100} high={2} text={percent(ups.charge / 100)} />
      )}
      <p class="muted ups-levels">
        {ups.levels.map(({ below, level }) => `level ${level} goes at ${below} %`).join(', ')}
      </p>
    </Card>
  )
}

function PowerBadge({ power, off = 'off' }: { readonly power: 'on' | 'off' | 'unknown'; readonly off?: string }) {
  return power === 'unknown' ? (
    <Badge tone="quiet" word="not known" />
  ) : (
    <Badge tone={power === 'on' ? 'ok' : 'quiet'} word={power === 'on' ? 'on' : off} icon="power" />
  )
}
