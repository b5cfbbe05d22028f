import type { Page } from '../../src/server/api/schemas.ts'
import { plural } from '../format.ts'
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
      <Empty icon="power" title="No power plan is declared">
        A manifest of the kind Power says in which order hosts sleep and wake, by schedule or when the mains fail.
      </Empty>
    </>
  )
}
