import { LIMITS } from '../../lib/limits.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import type { GaugeName, GaugePast } from '../../model/past.ts'
import type { Survey } from '../../model/resource.ts'
import { createDayBook, DAY_MS, type DayBook, dayOf } from './day-book.ts'
import { quantityCode, quantityOf } from './packed.ts'

const SLOT_MS = LIMITS.gaugeSlotMs
const WHATS = ['host', 'storage', 'node', 'cluster'] as const
const GAUGES: readonly GaugeName[] = ['cpu', 'memory', 'storage', 'temperature', 'watts', 'etcdBytes', 'etcdMs']

interface Reading {
  readonly what: GaugePast['what']
  readonly subject: string
  readonly gauge: GaugeName
  readonly value: number | undefined
}

/** Observations of a pass: no extra call is made for graphs. */
export interface GaugeInput {
  readonly surveys: readonly Survey[]
  readonly clusters: readonly ClusterPlan[]
}

/** Records usage of hosts, storages and nodes, and the etcd of clusters, as means of quarter hours. */
export interface GaugeBook {
  readonly book: DayBook
  note(seen: GaugeInput, atMs: number): void
  gauges(nowMs: number, slots: number): readonly GaugePast[]
}

export function createGaugeBook(): GaugeBook {
  const perDay = DAY_MS / SLOT_MS
  const book = createDayBook('gauges', {
    days: LIMITS.gaugeDays,
    subjects: LIMITS.gaugeSubjects,
    numbers: perDay,
  })
  /** Sums of the slot that is not over yet, by what it is of. */
  const open = new Map<string, { slot: number; sum: number; count: number }>()

  return {
    book,
    note(seen, atMs) {
      const slot = Math.floor(atMs / SLOT_MS)
      for (const { what, subject, gauge, value } of readingsOf(seen)) {
        if (value === undefined || !Number.isFinite(value)) continue
        const name = `${gauge}/${what}/${subject}`
        const page = book.page(dayOf(atMs), name)
        if (page === undefined) continue
        const known = open.get(name)
        const now = known?.slot === slot ? known : { slot, sum: 0, count: 0 }
        open.set(name, { slot, sum: now.sum + value, count: now.count + 1 })
        page[slot % perDay] = quantityCode((now.sum + value) / (now.count + 1))
      }
      // Drop open means of subjects that are gone.
      if (open.size > LIMITS.gaugeSubjects) for (const [name, one] of open) if (one.slot < slot - 1) open.delete(name)
    },
    gauges(nowMs, slots) {
      const last = Math.floor(nowMs / SLOT_MS)
      const first = last - slots + 1
      return book.subjects(Math.floor(first / perDay), Math.floor(last / perDay)).flatMap((name) => {
        const [gaugeName, whatName, ...rest] = name.split('/')
        const gauge = GAUGES.find((one) => one === gaugeName)
        const what = WHATS.find((one) => one === whatName)
        if (gauge === undefined || what === undefined) return []
        const means = Array.from({ length: slots }, (_, index) => {
          const slot = first + index
          return quantityOf(book.seen(Math.floor(slot / perDay), name)?.[slot % perDay] ?? 0)
        })
        return means.every((mean) => mean === undefined) ? [] : [{ what, subject: rest.join('/'), gauge, means }]
      })
    },
  }
}

function* readingsOf({ surveys, clusters }: GaugeInput): Generator<Reading> {
  const nodes = new Set(clusters.flatMap(({ observed }) => observed.nodes.map(({ name }) => name)))
  for (const { hosts, storages, resources } of surveys) {
    for (const { name: subject, online, load, memoryBytes, memoryUsedBytes, temperatureC, watts } of hosts) {
      if (!online) continue
      yield { what: 'host', subject, gauge: 'cpu', value: load }
      yield { what: 'host', subject, gauge: 'memory', value: share(memoryUsedBytes, memoryBytes) }
      yield { what: 'host', subject, gauge: 'temperature', value: temperatureC }
      yield { what: 'host', subject, gauge: 'watts', value: watts }
    }
    for (const { host, name, available, usedBytes, totalBytes } of storages)
      if (available)
        yield { what: 'storage', subject: `${host}/${name}`, gauge: 'storage', value: share(usedBytes, totalBytes) }
    for (const { name, power, load, memoryBytes, memoryUsedBytes } of resources) {
      if (name === undefined || power !== 'running' || !nodes.has(name)) continue
      yield { what: 'node', subject: name, gauge: 'cpu', value: load }
      yield { what: 'node', subject: name, gauge: 'memory', value: share(memoryUsedBytes, memoryBytes) }
    }
  }
  for (const { declaration, observed } of clusters) {
    const sizes = observed.nodes.flatMap(({ k3s }) => (k3s === 'unknown' ? [] : (k3s.etcd?.bytes ?? [])))
    const waits = observed.nodes.flatMap(({ k3s }) => (k3s === 'unknown' ? [] : (k3s.etcd?.answerMs ?? [])))
    const subject = declaration.name
    yield { what: 'cluster', subject, gauge: 'etcdBytes', value: sizes.length === 0 ? undefined : Math.max(...sizes) }
    yield { what: 'cluster', subject, gauge: 'etcdMs', value: waits.length === 0 ? undefined : Math.max(...waits) }
  }
}

function share(part: number | undefined, whole: number | undefined): number | undefined {
  return part === undefined || whole === undefined || whole <= 0 ? undefined : part / whole
}
