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

/** Everything that is seen of a cluster or site and its power at one moment. */
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
  /** Each UPS that feeds a host, by its name. Unknown: it has never answered. */
  readonly ups: Readonly<Record<string, UpsReading | 'unknown'>>
  /** Hooks that ran for the state that is wanted now, by name. */
  readonly hooks: Readonly<Record<string, { readonly ok: boolean; readonly output: string }>>
  /** HealthChecks that must pass on the way up and have answered, by name. */
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
  /** It has been there once. One that is only being made has nothing to put down, or to bring up. */
  readonly formed: boolean
  /** Do object calls get answers? */
  readonly api: YesNoUnknown
  /** Have enough servers come back to decide anything? */
  readonly quorum: YesNoUnknown
  readonly workloads: readonly PowerWorkload[] | 'unknown'
  readonly attachments: readonly { readonly name: string; readonly node: string }[] | 'unknown'
  readonly nodes: readonly PowerNode[]
  /** Pods that wait for a node that sleeps: by node, which pods only it could run. */
  readonly wanting: Readonly<Record<string, readonly string[]>>
  /** Is the cluster's DNS up? The message says what it lacks. */
  readonly dns: { readonly up: YesNoUnknown; readonly message: string }
  readonly storage: { readonly up: YesNoUnknown; readonly message: string }
}

export interface PowerNode {
  readonly name: string
  readonly role: 'server' | 'agent'
  readonly onDemand: boolean
  /** Its machine, where a hypervisor has one. */
  readonly machine?: ResourceKey
  /** The box that it is on, or that carries its machine; only where the Power names it. */
  readonly host?: string
  /** Of the machine or, without one, of the box. */
  readonly power: OnOffUnknown
  readonly kube: 'ready' | 'not-ready' | 'absent' | 'unknown'
  /** What its Node says is new: a Node that was put down shows what it was until its kubelet has come back. */
  readonly back: boolean
  readonly unschedulable: boolean
  readonly tainted: boolean
  readonly mark?: PowerMark
  readonly podsToMove: number | 'unknown'
  /** How many of them are storage clients: they stay until the last volume is off. */
  readonly clientsToMove?: number
  readonly drainBlockedBy?: string
  readonly k3s: 'running' | 'starting' | 'stopped' | 'absent' | 'unknown'
}

/** Our mark on a Node that we put down: what of its state is our doing. */
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
  /** Is it there at all? */
  readonly exists: YesNoUnknown
}

export interface ObservedPowerHost {
  readonly name: string
  readonly power: OnOffUnknown
  /** What runs there; unknown: its hypervisor cannot be asked. */
  readonly guests: HostGuests | 'unknown'
  readonly watts?: number
}

/** Every running guest of a host is in exactly one of these. */
export interface HostGuests {
  /** This Power switches them. */
  readonly mine: readonly string[]
  /** Declared, and switched by another Power or by none. */
  readonly others: readonly string[]
  /** No manifest declares them. */
  readonly undeclared: readonly string[]
}

export interface ObservedPowerHold {
  readonly kind: 'person' | 'backup' | 'job'
  readonly who: string
  readonly where: string
  readonly sinceMs?: number
  /** How long nothing has been heard of it. */
  readonly idleMs?: number
  /** Its age by the clock of those that it runs on: ours may be wrong. */
  readonly ageMs?: number
}

export interface UpsReading {
  readonly onBattery: boolean
  readonly charge: number
  /** The battery is about to be empty, or a power-off of the UPS has been ordered. */
  readonly low: boolean
  readonly watts?: number
  /** It has not answered since: this is what it said last. */
  readonly silentSinceMs?: number
}

/** What to do next about the power of a cluster or site, and what blocks it. */
export interface PowerDecision {
  readonly phase: PowerPhase
  /** Which state is wanted, since when, and who says so. */
  readonly wanted: { readonly state: 'on' | 'off'; readonly sinceMs: number; readonly why: string }
  readonly steps: readonly Step<'power'>[]
  readonly waits: readonly PowerWait[]
  readonly holds: readonly PowerHold[]
  readonly refusals: readonly PowerHold[]
  readonly warnings: readonly string[]
  /** In the order in which they are gone through. */
  readonly tiers: readonly TierRow[]
  /** What becomes of machines in the hypervisor's hands: switched on or off, or left. Others are as declared. */
  readonly machines: Readonly<Record<ResourceKey, 'on' | 'off' | 'leave'>>
  /** Everything else about the cluster stands still while this is so. */
  readonly holdsCluster: boolean
  /** Nodes that are off and meant to be. */
  readonly asleep: readonly string[]
  /** The change of state came to its end with this look. */
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
  /** How much of it is done: `3 of 5`. */
  readonly progress: string
  /** The evidence that is awaited before the next one begins. */
  readonly awaits: string
}

/** What the planner of Powers decides on. */
export interface PowerInput {
  readonly declaration: PowerDeclaration
  readonly observed: ObservedPower
  readonly requests: PowerRequests
  readonly done?: PowerDone
  /** When all of this was read: orders count from the moment that they were given. */
  readonly atMs: number
  /** What was used today, as of the pass before. */
  readonly energy?: PowerEnergy
}

/** One Power in one pass: what was declared, seen and ordered, and what follows from it. */
export interface PowerPlan extends PowerInput {
  readonly decision: PowerDecision
}

/** A Power as the page and the API show it. */
export interface PowerView
  extends Pick<PowerDecision, 'phase' | 'wanted' | 'tiers' | 'waits' | 'holds' | 'refusals' | 'warnings' | 'asleep'> {
  readonly key: ResourceKey
  readonly name: string
  readonly cluster?: string
  /** What is done right now, in a person's words. */
  readonly doing: readonly string[]
  readonly watts: { readonly estimated: number; readonly measured?: number }
  readonly energy?: PowerEnergy
  /** When the schedule speaks next, and what it will say. */
  readonly next?: { readonly state: 'on' | 'off'; readonly atMs: number }
  readonly schedule?: PowerSchedule
  /** Holds that people set, whether or not anything is to go off now. */
  readonly held: readonly PersonHold[]
  readonly hosts: readonly PowerHostView[]
  readonly onDemand: readonly OnDemandView[]
  /** How long a node on demand may have nothing to run. */
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

/** What would be done if it were switched now. Nothing is ordered by asking. */
export interface PowerPreview extends Pick<PowerDecision, 'tiers' | 'holds' | 'refusals' | 'warnings'> {
  readonly state: 'on' | 'off'
  /** The first steps, in a person's words. */
  readonly first: readonly string[]
}
