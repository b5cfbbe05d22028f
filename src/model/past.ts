import type { Course } from './course.ts'
import type { EstateView } from './estate-view.ts'

/** A state at one moment: healthy, unhealthy, unknown, or off by order of a person or a schedule. */
export type HealthState = 'up' | 'down' | 'unknown' | 'off'

export interface HealthSubject {
  readonly what: 'cluster' | 'host' | 'check' | 'resource'
  readonly subject: string
  readonly state: HealthState
}

/** Yields the state of every cluster, host, check and resource of a view, unless it is changing. Pure. */
export function* healthOf(view: EstateView): Generator<HealthSubject> {
  yield* healthOfServices(view)
  for (const resource of view.resources) {
    const ready = resource.conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown'
    if (ready !== 'True' && UNDER_WAY.has(resource.action.do)) continue
    yield {
      what: 'resource',
      subject: resource.key,
      state: ready === 'True' ? 'up' : ready === 'False' ? 'down' : 'unknown',
    }
  }
}

/** Yields the subjects with a long history: clusters, hosts and checks. */
export function* healthOfServices(view: EstateView): Generator<HealthSubject> {
  const off = offByRequest(view)
  for (const { name, decision, operation, observed } of view.clusters) {
    // A restore stops every server, so the API does not answer.
    const stopped = operation !== undefined && observed.api !== 'yes'
    const state = stopped ? 'down' : clusterState(decision.phase)
    yield { what: 'cluster', subject: name, state: off.clusters.has(name) ? 'off' : state }
  }
  for (const { name, online } of view.hosts)
    yield { what: 'host', subject: name, state: online ? 'up' : off.hosts.has(name) ? 'off' : 'down' }
  for (const { name, passed } of view.checks) yield { what: 'check', subject: name, state: STATE_OF[passed] }
}

const UNDER_WAY: ReadonlySet<string> = new Set(['create', 'update', 'adopt', 'replace', 'delete', 'wait'])

/** Clusters and hosts that a person or the schedule has ordered off, or that are starting. */
function offByRequest({ power = [] }: EstateView) {
  const going = power.filter(({ wanted, phase }) => wanted.state === 'off' || phase === 'PoweringOn')
  return {
    clusters: new Set(going.flatMap(({ cluster }) => cluster ?? [])),
    hosts: new Set(going.flatMap(({ hosts }) => hosts.filter(({ power: is }) => is === 'off').map(({ name }) => name))),
  }
}

const STATE_OF = { yes: 'up', no: 'down', unknown: 'unknown' } as const

function clusterState(phase: string): HealthState {
  if (phase === 'Unknown') return 'unknown'
  return ['Degraded', 'Blocked', 'QuorumLost'].includes(phase) ? 'down' : 'up'
}

/** Seconds in which it was healthy, unhealthy and unknown. The rest of an hour or a day it was off or not observed. */
export interface HealthSeconds {
  readonly up: number
  readonly down: number
  readonly unknown: number
}

/** One cluster, host or check over time, one entry per hour or day, oldest first. Undefined: no data. */
export interface HealthPast {
  readonly what: 'cluster' | 'host' | 'check'
  readonly subject: string
  readonly spans: readonly (HealthSeconds | undefined)[]
}

export type GaugeName = 'cpu' | 'memory' | 'storage' | 'temperature' | 'watts' | 'etcdBytes' | 'etcdMs'

/** A quantity of a host, a storage, a node or a cluster over time: the mean of each slot, oldest first. */
export interface GaugePast {
  readonly what: 'host' | 'storage' | 'node' | 'cluster'
  /** `pumped-piglet`, `pumped-piglet/local-zfs`, `k3s-1`, `homelab`. */
  readonly subject: string
  readonly gauge: GaugeName
  readonly means: readonly (number | undefined)[]
}

/** croft's history over days, of bounded size. Days are in UTC. */
export interface Past {
  /** Returns the days up to and including the given time's. */
  days(nowMs: number, count: number): readonly HealthPast[]
  hours(nowMs: number, count: number): readonly HealthPast[]
  gauges(nowMs: number, slots: number): readonly GaugePast[]
  /** Recent upgrades, restores and power changes, newest first. */
  courses(): readonly Course[]
}
