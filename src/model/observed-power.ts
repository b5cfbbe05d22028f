import type { ResourceKey } from './declaration.ts'
import type { YesNoUnknown } from './observed-cluster.ts'
import type {
  PersonHold,
  PowerDeclaration,
  PowerDone,
  PowerEnergy,
  PowerRequests,
  PowerSchedule,
  PowerWorkload,
  Tier,
  UpsSpec,
} from './power.ts'
import type { Step } from './step.ts'

export type OnOffUnknown = 'on' | 'off' | 'unknown'

/** A cluster or site and its power as observed at one moment. */
export interface ObservedPower {
  /** Undefined: this Power has no cluster. */
  readonly cluster?: ClusterPower
  readonly machines: readonly PowerMachine[]
  readonly hosts: readonly ObservedPowerHost[]
  readonly ha: readonly {
    readonly connection: string
    readonly armed: 'armed' | 'disarming' | 'disarmed' | 'none' | 'unknown'
  }[]
  /** People, backups and jobs that block it. Holds set by command are in the orders. */
  readonly holds: readonly ObservedPowerHold[]
  /** Each UPS that feeds a host, by name. Unknown: it has never answered. */
  readonly ups: Readonly<Record<string, UpsReading | 'unknown'>>
  /** Hooks that ran for the wanted state, by name. */
  readonly hooks: Readonly<Record<string, { readonly ok: boolean; readonly output: string }>>
  /** Answers of HealthChecks that must pass on the way up, by name. */
  readonly checks: Readonly<Record<string, CheckOutput>>
  /**
   * How long each wait has lasted, by name, on a monotonic clock. Lost with the process: then it restarts at 0, so that
   * nothing is forced too early.
   */
  readonly waitedMs: Readonly<Record<string, number>>
}

export interface CheckOutput {
  readonly passed: YesNoUnknown
  readonly output: string
}

export interface ClusterPower {
  /** It existed once. A cluster under formation has nothing to stop or start. */
  readonly formed: boolean
  /** Whether calls for objects are answered. */
  readonly api: YesNoUnknown
  /** Whether enough servers have returned for a quorum. */
  readonly quorum: YesNoUnknown
  readonly workloads: readonly PowerWorkload[] | 'unknown'
  readonly attachments: readonly { readonly name: string; readonly node: string }[] | 'unknown'
  readonly nodes: readonly PowerNode[]
  /** Pods that only a sleeping node could run, by node. */
  readonly wanting: Readonly<Record<string, readonly string[]>>
  /** Whether the cluster's DNS is up, and what it lacks. */
  readonly dns: { readonly up: YesNoUnknown; readonly message: string }
  readonly storage: { readonly up: YesNoUnknown; readonly message: string }
}

export interface PowerNode {
  readonly name: string
  readonly role: 'server' | 'agent'
  readonly onDemand: boolean
  /** Its machine, if it has a hypervisor. */
  readonly machine?: ResourceKey
  /** Its box, or its machine's; only if the Power names it. */
  readonly host?: string
  /** Of the machine, or of the box if there is none. */
  readonly power: OnOffUnknown
  readonly kube: 'ready' | 'not-ready' | 'absent' | 'unknown'
  /** Its Node's state is current: a stopped Node shows its old state until its kubelet has returned. */
  readonly back: boolean
  readonly unschedulable: boolean
  readonly tainted: boolean
  readonly mark?: PowerMark
  readonly podsToMove: number | 'unknown'
  /** How many of them are storage clients: they stay until the last volume is detached. */
  readonly clientsToMove?: number
  readonly drainBlockedBy?: string
  readonly k3s: 'running' | 'starting' | 'stopped' | 'absent' | 'unknown'
}

/** Our mark on a Node that croft took down: which part of its state croft set. */
export interface PowerMark {
  readonly sinceMs: number
  readonly cordoned: boolean
  readonly tainted: boolean
}

export interface PowerMachine {
  readonly key: ResourceKey
  readonly name: string
  readonly role: 'node' | 'machine' | 'infrastructure'
  readonly host?: string
  readonly power: OnOffUnknown
  /** Whether it exists. */
  readonly exists: YesNoUnknown
}

export interface ObservedPowerHost {
  readonly name: string
  readonly power: OnOffUnknown
  /** Its guests; unknown if its hypervisor does not answer. */
  readonly guests: HostGuests | 'unknown'
  readonly watts?: number
}

/** Every running guest of a host is in exactly one of these. */
export interface HostGuests {
  /** This Power switches them. */
  readonly mine: readonly string[]
  /** Declared, but switched by another Power or none. */
  readonly others: readonly string[]
  /** No manifest declares them. */
  readonly undeclared: readonly string[]
}

export interface ObservedPowerHold {
  readonly kind: 'person' | 'backup' | 'job'
  readonly who: string
  readonly where: string
  readonly sinceMs?: number
  /** How long it has been idle. */
  readonly idleMs?: number
  /** Its age by its own system's clock, since croft's may be wrong. */
  readonly ageMs?: number
}

export interface UpsReading {
  readonly onBattery: boolean
  readonly charge: number
  /** The battery is nearly empty, or the UPS's power-off was ordered. */
  readonly low: boolean
  readonly watts?: number
  /** Silent since then: this is its last answer. */
  readonly silentSinceMs?: number
}

/** The next steps for the power of a cluster or site, and what blocks it. */
export interface PowerDecision {
  readonly phase: PowerPhase
  /** The wanted state, since when, and who wants it. */
  readonly wanted: { readonly state: 'on' | 'off'; readonly sinceMs: number; readonly why: string }
  readonly steps: readonly Step<'power'>[]
  readonly waits: readonly PowerWait[]
  readonly holds: readonly PowerHold[]
  readonly refusals: readonly PowerHold[]
  readonly warnings: readonly string[]
  /** In order of execution. */
  readonly tiers: readonly TierRow[]
  /** The hypervisor's orders for machines: on, off, or unchanged. Others are as declared. */
  readonly machines: Readonly<Record<ResourceKey, 'on' | 'off' | 'leave'>>
  /** While true, croft makes no other change to the cluster. */
  readonly holdsCluster: boolean
  /** Nodes that are off as intended. */
  readonly asleep: readonly string[]
  /** The change of state ended in this pass. */
  readonly ended?: { readonly result: 'done' | 'aborted'; readonly reason: string }
}

export type PowerPhase = 'On' | 'PoweringOff' | 'Off' | 'PoweringOn' | 'Held' | 'Unknown'

export interface PowerWait {
  readonly tier: Tier
  readonly what: string
  readonly awaits: string
  /** The current state instead, if it is known. */
  readonly seen?: string
  readonly waitedMs: number
  /** Time until the declared choice applies. */
  readonly leftMs?: number
  /** The choice that then applies. */
  readonly afterwards?: 'wait' | 'force' | 'abort'
}

export interface PowerHold {
  readonly tier?: Tier
  readonly guard: string
  readonly reason: string
  readonly allow: string
  readonly sinceMs?: number
  readonly untilMs?: number
}

export interface TierRow {
  readonly tier: Tier
  readonly state: 'done' | 'doing' | 'todo'
  /** Its progress: `3 of 5`. */
  readonly progress: string
  /** The evidence that the next one waits for. */
  readonly awaits: string
}

/** The input of the planner of Powers. */
export interface PowerInput {
  readonly declaration: PowerDeclaration
  readonly observed: ObservedPower
  readonly requests: PowerRequests
  readonly done?: PowerDone
  /** When all of this was read: an order counts from the time it was given. */
  readonly atMs: number
  /** Today's usage as of the previous pass. */
  readonly energy?: PowerEnergy
}

/** One Power in one pass: declared, observed, ordered, decided. */
export interface PowerPlan extends PowerInput {
  readonly decision: PowerDecision
}

/** A Power as the page and the API show it. */
export interface PowerView
  extends Pick<PowerDecision, 'phase' | 'wanted' | 'tiers' | 'waits' | 'holds' | 'refusals' | 'warnings' | 'asleep'> {
  readonly key: ResourceKey
  readonly name: string
  readonly cluster?: string
  /** The current work, for display. */
  readonly doing: readonly string[]
  readonly watts: { readonly estimated: number; readonly measured?: number }
  readonly energy?: PowerEnergy
  /** The schedule's next change. */
  readonly next?: { readonly state: 'on' | 'off'; readonly atMs: number }
  readonly schedule?: PowerSchedule
  /** People's holds, whether or not a power-off is due. */
  readonly held: readonly PersonHold[]
  readonly hosts: readonly PowerHostView[]
  readonly onDemand: readonly OnDemandView[]
  /** How long an on-demand node may be idle. */
  readonly idleMs: number
  readonly ups?: UpsView
}

export interface PowerHostView {
  readonly name: string
  readonly power: OnOffUnknown
  readonly level: number
  /** How it is woken. Absent: only a person can. */
  readonly wokenBy?: 'Wake-on-LAN' | 'management controller'
  /** croft itself runs there: it goes off last. */
  readonly own: boolean
  readonly watts?: number
  /** Undeclared guests that keep it on. */
  readonly strangers: readonly string[]
}

export interface OnDemandView {
  readonly node: string
  readonly power: OnOffUnknown
  /** Pods that only it could run. */
  readonly wanting: readonly string[]
}

export interface UpsView {
  readonly name: string
  readonly state: 'mains' | 'battery' | 'unknown'
  readonly charge?: number
  readonly low?: boolean
  readonly watts?: number
  readonly levels: UpsSpec['levels']
}

/** The effect of switching it now. Reading it orders nothing. */
export interface PowerPreview extends Pick<PowerDecision, 'tiers' | 'holds' | 'refusals' | 'warnings'> {
  readonly state: 'on' | 'off'
  /** The first steps, for display. */
  readonly first: readonly string[]
}
