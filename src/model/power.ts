import type { Origin, Policy, ResourceKey } from './declaration.ts'
import type { SecretReference, SshTarget } from './secret.ts'

/** A declared cluster or site that can be switched off and on. */
export interface PowerDeclaration {
  readonly key: ResourceKey
  readonly name: string
  readonly spec: PowerSpec
  readonly policy: Policy
  readonly origin: Origin
  readonly generation: string
}

export interface PowerSpec {
  /** The Cluster whose workloads and nodes it switches. Absent: only machines and hosts. */
  readonly cluster?: string
  /** The state before any order and any switching time of the schedule. */
  readonly state: 'on' | 'off'
  /** Boxes to switch as well. Empty: only their guests and workloads. */
  readonly hosts: readonly PowerHost[]
  /** Further machines that go off with it, after the nodes. */
  readonly machines: readonly ResourceKey[]
  /** Gateway, DNS, DHCP: last off, first on. */
  readonly infrastructure: readonly ResourceKey[]
  /** Tried in order, before the table of common software. */
  readonly rules: readonly TierRule[]
  readonly hooks: readonly PowerHook[]
  readonly deadlines: Readonly<Record<Deadline, DeadlineRule>>
  readonly holds: HoldRules
  readonly schedule?: PowerSchedule
  /** How long a node with `power: onDemand` may be idle before it sleeps. */
  readonly idleMs: number
  readonly ups?: UpsSpec
  /** croft disarms the hypervisor's HA before guests stop, and arms it again at start. */
  readonly ha: boolean
  /** Undeclared guests on a host that goes off: they hold the host, or go down with it. */
  readonly strangers: 'hold' | 'shutdown'
  /** HealthChecks that must pass on the way up, in addition to croft's own checks. */
  readonly checks: { readonly dns: readonly string[]; readonly storage: readonly string[] }
}

export interface PowerHost {
  readonly name: string
  /** The hypervisor that it belongs to and its name there; absent for a box without one. */
  readonly connection?: string
  readonly node?: string
  readonly ssh?: SshTarget
  readonly wake?: { readonly mac: string; readonly broadcast: string; readonly port: number }
  readonly bmc?: BmcTarget
  /** The UPS that feeds it, if the Power watches one. */
  readonly fedBy?: string
  /** The UPSs whose NUT server runs here: without it their state is unknown. */
  readonly tells: readonly string[]
  /** The UPS level at which it goes off: 1 first. */
  readonly level: number
  /** croft itself runs here: it goes off last and alone. */
  readonly own: boolean
  readonly watts?: { readonly on: number; readonly off: number }
}

export interface BmcTarget {
  readonly address: string
  readonly port: number
  readonly user: string
  readonly password: SecretReference
  readonly fingerprint?: string
  readonly system?: string
}

/** Assigns workloads to a tier by name or label. */
export interface TierRule {
  readonly tier: WorkloadTier
  readonly namespaces: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/**
 * In shutdown order; between the last two the volumes are detached from the nodes. `system` and `storage` are not
 * scaled: they stop with their nodes, after all workloads, and start with them before anything can be scheduled.
 */
export const WORKLOAD_TIERS = ['gitops', 'operators', 'apps', 'databases', 'storage-clients'] as const
export type ScaledTier = (typeof WORKLOAD_TIERS)[number]
export type WorkloadTier = ScaledTier | 'storage' | 'system'

export type Tier =
  | ScaledTier
  | 'volumes'
  | 'ha'
  | 'workers'
  | 'servers'
  | 'machines'
  | 'hosts'
  | 'infrastructure'
  | 'last-hosts'
  /** Only on the way up. */
  | 'quorum'
  | 'dns'
  | 'storage'
  | 'nodes'

export interface PowerHook {
  readonly name: string
  /** Before the shutdown of this tier, or after its start. */
  readonly tier: Tier
  readonly when: 'off' | 'on'
  /** The Host's name, and the way to it. */
  readonly on: string
  readonly target?: SshTarget
  readonly run: readonly string[]
}

export type Deadline = 'scale' | 'detach' | 'drain' | 'stop' | 'start'

export interface DeadlineRule {
  readonly afterMs: number
  /** wait: continue to wait. force: force it, or continue without it. abort: go back. */
  readonly choice: 'wait' | 'force' | 'abort'
}

export interface HoldRules {
  readonly people: boolean
  /** A person without input for this long has left. */
  readonly idleMs: number
  readonly backups: boolean
  readonly jobs: boolean
  /** A job that has run for this long is stuck and does not hold the cluster. */
  readonly jobsMs: number
}

export interface PowerSchedule {
  readonly timeZone: string
  /** Five fields, as in cron. */
  readonly off: readonly string[]
  readonly on: readonly string[]
  /** Local days, `2026-12-24`, on which it is not switched off. */
  readonly except: readonly string[]
}

export interface UpsSpec {
  /** `rack@192.168.4.2:3493`. It feeds every host without another one. */
  readonly name: string
  /** On battery, at or below this percentage, hosts of this and all previous levels go off. */
  readonly levels: readonly { readonly below: number; readonly level: number }[]
  /** Below this percentage no host is woken, even after the mains have returned. */
  readonly wakeAbove: number
}

/** People's orders by command; stored until they end. */
export interface PowerRequests {
  readonly wanted?: PowerRequest
  readonly holds: readonly PersonHold[]
}

export interface PowerRequest {
  readonly state: 'on' | 'off'
  readonly by: string
  readonly why: string
  readonly atMs: number
  /** The order expires then. */
  readonly untilMs?: number
  /** Does not wait for people, backups and jobs. */
  readonly ignoreHolds?: boolean
}

export interface PersonHold {
  readonly by: string
  readonly why: string
  readonly sinceMs: number
  readonly untilMs: number
}

export const NO_POWER_REQUESTS: PowerRequests = { holds: [] }

/** The result of the newest change of state; written by the engine. */
export interface PowerDone {
  /** The time of the order, which identifies it. */
  readonly sinceMs: number
  readonly state: 'on' | 'off'
  readonly result: 'done' | 'aborted'
  readonly reason?: string
}

/** Energy of one day (in UTC), estimated from the declared draw of hosts, and measured where possible. */
export interface PowerEnergy {
  readonly dayMs: number
  readonly estimatedWh: number
  readonly measuredWh?: number
  readonly yesterday?: { readonly dayMs: number; readonly estimatedWh: number; readonly measuredWh?: number }
}

export interface PowerWorkload {
  readonly kind: 'Deployment' | 'StatefulSet' | 'CronJob' | 'Database'
  readonly namespace: string
  readonly name: string
  readonly tier: WorkloadTier
  /** The wanted number; for a suspended CronJob or database 0. */
  readonly replicas: number
  /** Existing pods, regardless of the wanted number. */
  readonly pods: number
  readonly ready: number
  /** croft's mark: the replicas before croft scaled it down. */
  readonly remembered?: number
}
