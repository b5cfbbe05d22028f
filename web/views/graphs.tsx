import { useState } from 'preact/hooks'
import type { Gauge } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { bytes, duration, percent } from '../format.ts'
import { useFetched, useNow } from '../hooks.ts'
import { Awaited, Card } from '../parts/bits.tsx'

const ASKED_MS = 60_000
const RANGES = [
  [24, '24 h'],
  [7 * 24, '7 d'],
  [14 * 24, '14 d'],
] as const

export interface GraphsProps {
  readonly title: string
  readonly of: readonly { readonly what: Gauge['what']; readonly subject: string }[]
}

/** Load, memory and storage over time, from what croft saw while it ran. */
export function Graphs({ title, of }: GraphsProps) {
  const [hours, setHours] = useState<number>(24)
  const now = useNow(5000)
  const asked = of.map(({ what, subject }) => `${what}/${subject}`).join(' ')
  const fetched = useFetched(() => api.gauges(hours), [Math.floor(now / ASKED_MS), hours, asked], `${hours}`)
  const { value } = fetched
  const own = (value?.gauges ?? []).filter((gauge) =>
    of.some(
      ({ what, subject }) =>
        gauge.what === what &&
        (what === 'storage' ? gauge.subject.startsWith(`${subject}/`) : gauge.subject === subject),
    ),
  )
  return (
    <Card
      title={title}
      aside={
        <div class="segments" role="group" aria-label="How far back">
          {RANGES.map(([count, words]) => (
            <button key={count} type="button" aria-pressed={hours === count} onClick={() => setHours(count)}>
              {words}
            </button>
          ))}
        </div>
      }
    >
      {value === undefined ? (
        <Awaited fetched={fetched} rows={2} />
      ) : own.length === 0 ? (
        <p class="muted">No data yet: croft draws what it sees while it runs.</p>
      ) : (
        <div class="charts">
          {own.map((gauge) => (
            <Chart
              key={`${gauge.gauge}/${gauge.subject}`}
              gauge={gauge}
              name={of.length > 1 || gauge.what === 'storage'}
              hours={hours}
            />
          ))}
        </div>
      )}
    </Card>
  )
}

interface Sort {
  readonly title: string
  readonly show: (value: number) => string
  /** A fixed end of the axis, for all values. */
  readonly most?: number
}

const SORTS: Readonly<Record<Gauge['gauge'], Sort>> = {
  cpu: { title: 'CPU', show: percent, most: 1 },
  memory: { title: 'Memory', show: percent, most: 1 },
  storage: { title: 'Storage', show: percent, most: 1 },
  temperature: { title: 'Temperature', show: (value) => `${Math.round(value)} °C` },
  watts: { title: 'Power draw', show: (value) => `${Math.round(value)} W` },
  etcdBytes: { title: 'etcd size', show: bytes },
  etcdMs: { title: 'etcd answer time', show: duration },
}

const HEIGHT = 60

function Chart({ gauge, name, hours }: { readonly gauge: Gauge; readonly name: boolean; readonly hours: number }) {
  const { title, show, most } = SORTS[gauge.gauge]
  const known = gauge.means.filter((mean) => mean !== null)
  const top = most ?? Math.max(...known) * 1.2
  const latest = known.at(-1) ?? 0
  const peak = Math.max(...known)
  const words = `${show(latest)} now, at most ${show(peak)}`
  const subject = gauge.what === 'storage' ? gauge.subject.slice(gauge.subject.indexOf('/') + 1) : gauge.subject
  return (
    <figure class="chart" data-gauge={`${gauge.gauge}/${gauge.subject}`}>
      <figcaption>
        <b>{title}</b> {name && <span class="muted clip">{subject}</span>}
      </figcaption>
      <svg
        viewBox={`0 0 ${gauge.means.length - 1} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} of ${subject}, ${hours} hours: ${words}`}
      >
        <path class="chart-area" d={areas(gauge.means, top)} />
        <path class="chart-line" d={lines(gauge.means, top)} vector-effect="non-scaling-stroke" />
      </svg>
      <p class="muted">{words}</p>
    </figure>
  )
}

/** Splits means into stretches of known values: the line breaks where they are unknown. A lone point is a stretch. */
function stretches(means: Gauge['means'], top: number): readonly (readonly [at: number, y: number])[][] {
  const found: [number, number][][] = []
  for (const [at, mean] of means.entries()) {
    if (mean === null) continue
    const point: [number, number] = [at, Math.round((1 - Math.min(1, mean / (top || 1))) * HEIGHT * 10) / 10]
    const last = found.at(-1)
    if (last?.at(-1)?.[0] === at - 1) last.push(point)
    else found.push([point])
  }
  return found
}

function lines(means: Gauge['means'], top: number): string {
  return stretches(means, top)
    .map((points) => `M${points.map(([at, y]) => `${at} ${y}`).join('L')}${points.length === 1 ? 'h.5' : ''}`)
    .join('')
}

function areas(means: Gauge['means'], top: number): string {
  return stretches(means, top)
    .map((points) => {
      const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0]
      return `M${first} ${HEIGHT}${points.map(([at, y]) => `L${at} ${y}`).join('')}L${last} ${HEIGHT}z`
    })
    .join('')
}
