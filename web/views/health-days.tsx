import type { DayStrip } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { duration } from '../format.ts'
import { useFetched, useNow } from '../hooks.ts'
import { Awaited, Card, Empty } from '../parts/bits.tsx'
import { StripLegend, StripPaths } from '../parts/strip.tsx'
import { ui } from '../ui.ts'

const ASKED_MS = 60_000
const DAY_MS = 86_400_000
const PARTS = [
  ['cluster', 'Clusters'],
  ['host', 'Hosts'],
  ['check', 'Checks'],
] as const

/** Ninety days of clusters, hosts and checks, a bar for each day. */
export function HealthDays() {
  const now = useNow(5000)
  const { filter } = ui.use()
  const fetched = useFetched(() => api.healthDays(), [Math.floor(now / ASKED_MS)])
  const { value } = fetched
  if (value === undefined) return <Awaited fetched={fetched} />
  if (value.strips.length === 0)
    return (
      <Empty icon="health" title="No data yet">
        croft writes down how clusters, hosts and checks are while it runs.
      </Empty>
    )
  return (
    <>
      <StripLegend words={LEGEND} />
      {PARTS.map(([what, title]) => {
        const strips = value.strips.filter(
          (one) => one.what === what && one.subject.toLowerCase().includes(filter.toLowerCase()),
        )
        if (strips.length === 0) return null
        return (
          <Card key={what} title={title} class="is-flush">
            <div class="strip-line is-head">
              <span />
              <p class="strip-axis muted" aria-hidden="true">
                <span>{strips[0]?.days.length} days ago</span>
                <span>today (UTC)</span>
              </p>
              <span />
            </div>
            {strips.map((one) => (
              <Days key={one.subject} one={one} atMs={value.atMs} />
            ))}
          </Card>
        )
      })}
    </>
  )
}

const LEGEND = [
  ['o', 'well all day'],
  ['x', 'not well for a time'],
  ['?', 'not known'],
  ['.', 'not looked, or off as ordered'],
] as const

function Days({ one, atMs }: { readonly one: DayStrip; readonly atMs: number }) {
  const letters = one.days.map((day) => (day === null ? '.' : day.down > 0 ? 'x' : day.up > 0 ? 'o' : '?'))
  const up = one.days.reduce((sum, day) => sum + (day?.up ?? 0), 0)
  const down = one.days.reduce((sum, day) => sum + (day?.down ?? 0), 0)
  // Round down: a minute of outage must show.
  const share = up + down === 0 ? '–' : `${Math.floor((up / (up + down)) * 1000) / 10} %`
  const words = up + down === 0 ? 'not known' : `well ${share} of the time`
  return (
    <div class="strip-line is-days" data-days={`${one.what}/${one.subject}`}>
      <span>
        <b class="clip">{one.subject}</b>
        {down > 0 && <span class="trouble-detail">{worst(one, atMs)}</span>}
      </span>
      <StripPaths letters={letters} label={`${one.subject}: ${words}`} />
      <span class="strip-share">{share}</span>
    </div>
  )
}

function worst(one: DayStrip, atMs: number): string {
  const most = Math.max(...one.days.map((day) => day?.down ?? 0))
  const at = one.days.findLastIndex((day) => day?.down === most)
  const date = new Date(atMs - (one.days.length - 1 - at) * DAY_MS).toISOString().slice(0, 10)
  return `worst ${date}: ${duration(most * 1000)}`
}
