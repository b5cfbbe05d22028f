import type { Page, Strip as StripData } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { percent } from '../format.ts'
import { useFetched, useNow } from '../hooks.ts'
import { Awaited, Card, Empty } from '../parts/bits.tsx'
import { FilterInput } from '../parts/filter.tsx'
import { later } from '../parts/later.tsx'
import { Strip, StripAxis, StripLegend } from '../parts/strip.tsx'
import { VirtualList } from '../parts/virtual.tsx'
import { goTo, hrefTo, hrefToKey } from '../route.ts'
import { ui } from '../ui.ts'

const ROW_HEIGHT = 40
const ASKED_MS = 15_000
const PARTS = [
  ['cluster', 'Clusters'],
  ['host', 'Hosts'],
  ['check', 'Checks'],
  ['resource', 'Resources'],
] as const

const HealthDays = later(() => import('./health-days.tsx').then((module) => module.HealthDays), 6)

export function HealthView({ page, days }: { readonly page: Page; readonly days: boolean }) {
  return (
    <>
      <Head days={days} />
      {days ? <HealthDays /> : <LastDay page={page} />}
    </>
  )
}

function Head({ days }: { readonly days: boolean }) {
  return (
    <header class="view-head">
      <h1>Health</h1>
      <span class="muted">{days ? 'the last 90 days' : 'the last 24 hours in half hours'}</span>
      <span class="grow" />
      <div class="segments" role="group" aria-label="How far back">
        <button type="button" aria-pressed={!days} onClick={() => goTo('health')}>
          24 hours
        </button>
        <button type="button" aria-pressed={days} onClick={() => goTo('health', 'days')}>
          90 days
        </button>
      </div>
      <FilterInput />
    </header>
  )
}

function LastDay({ page }: { readonly page: Page }) {
  // Strips have slots of half an hour, so do not fetch them with every pass.
  const now = useNow(5000)
  const { filter } = ui.use()
  const fetched = useFetched(() => api.health(), [Math.floor(now / ASKED_MS), page.checks.length])
  const { value } = fetched
  if (value === undefined) return <Awaited fetched={fetched} />
  const fits = ({ subject }: StripData) => subject.toLowerCase().includes(filter.toLowerCase())
  return (
    <>
      {value.strips.length === 0 && (
        <Empty icon="health" title="No data yet">
          The first strip appears after the first pass.
        </Empty>
      )}
      {value.strips.length > 0 && <StripLegend />}
      {PARTS.map(([what, title]) => {
        const strips = value.strips
          .filter((one) => one.what === what && fits(one))
          .toSorted((a, b) => (a.share ?? 1) - (b.share ?? 1) || (a.subject < b.subject ? -1 : 1))
        if (strips.length === 0) return null
        return (
          <Card key={what} title={title} class="is-flush">
            <div class="strip-line is-head">
              <span />
              <StripAxis />
              <span />
            </div>
            <VirtualList
              items={strips}
              rowHeight={ROW_HEIGHT}
              keyOf={({ subject }) => subject}
              label={title}
              draw={(one) => <Line one={one} />}
            />
          </Card>
        )
      })}
    </>
  )
}

function Line({ one }: { readonly one: StripData }) {
  const href =
    one.what === 'cluster'
      ? hrefTo('cluster', one.subject)
      : one.what === 'host'
        ? hrefTo('estate', 'host', one.subject)
        : one.what === 'resource'
          ? hrefToKey(one.subject)
          : undefined
  return (
    <div class="strip-line">
      {href === undefined ? (
        <b class="clip">{one.subject}</b>
      ) : (
        <a class="clip" href={href} data-row>
          {one.subject}
        </a>
      )}
      <Strip slots={one.slots} label={one.subject} />
      <span class="strip-share">{one.share === undefined ? '–' : percent(one.share)}</span>
    </div>
  )
}
