import type { HostOnPage, Page } from '../../src/server/api/schemas.ts'
import { hostNames } from '../boxes.ts'
import { bytes, plural } from '../format.ts'
import { hrefTo } from '../route.ts'
import { HOT_C, hostsAsleep, hostTone, type Tone } from '../tone.ts'
import { Meter } from './bits.tsx'
import { Icon, Mark } from './icon.tsx'

/** Hosts with what they carry, how busy and how warm they are. */
export function Hosts({ page }: { readonly page: Page }) {
  const machines = new Map<string, number>()
  const nameOf = hostNames(page)
  for (const { host } of page.rows)
    if (host !== undefined) machines.set(nameOf(host), (machines.get(nameOf(host)) ?? 0) + 1)
  const asleep = hostsAsleep(page)
  return (
    <div class={page.hosts.length > 6 ? 'grid-hosts is-dense' : 'grid-hosts'}>
      {page.hosts.map((host) => (
        <HostCard
          key={`${host.connection}/${host.name}`}
          host={host}
          tone={hostTone(host, asleep)}
          machines={machines.get(host.name) ?? 0}
        />
      ))}
    </div>
  )
}

const WORDS: Readonly<Partial<Record<Tone, string>>> = {
  ok: 'online',
  warn: 'online, hot',
  quiet: 'off, as ordered',
  bad: 'offline',
}

function HostCard({
  host,
  tone,
  machines,
}: {
  readonly host: HostOnPage
  readonly tone: Tone
  readonly machines: number
}) {
  const { memoryBytes: all, memoryUsedBytes: used, temperatureC: heat } = host
  const memory = all === undefined || used === undefined ? undefined : used / all
  return (
    <a class="card host-card" href={hrefTo('estate', 'host', host.name)} data-row>
      <div class="host-head">
        <Mark tone={tone} title={WORDS[tone] ?? ''} />
        <b class="grow clip">
          {host.name}
          {host.alsoCalled !== undefined && <span class="muted"> ({host.alsoCalled})</span>}
        </b>
        {heat !== undefined && host.online && (
          <span class={heat >= HOT_C ? 'heat tone-warn' : 'heat'} title="temperature">
            {heat >= HOT_C && <Icon name="warn" size={13} />} {Math.round(heat)} °C
          </span>
        )}
      </div>
      {host.online && (
        <>
          <Meter label="load" share={host.load} />
          <Meter label="memory" share={memory} high={0.9} />
        </>
      )}
      <p class="muted host-foot">
        {host.online ? plural(machines, 'resource') : WORDS[tone]}
        {host.cpus !== undefined && `, ${host.cpus} CPUs`}
        {all !== undefined && `, ${bytes(all)}`}
        {host.watts !== undefined && host.online && `, ${Math.round(host.watts)} W`}
      </p>
      {host.apart !== undefined && (
        <p class="host-apart">
          <Icon name="warn" size={13} /> not counted as one with its namesake: {host.apart}
        </p>
      )}
    </a>
  )
}
