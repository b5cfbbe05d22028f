import type { ResourceKey } from './key.ts'
import type { YesNoUnknown } from './observed-cluster.ts'
import type { PowerWorkload } from './power.ts'

export type PowerSeen = 'on' | 'off' | 'unknown'

/** Everything that is seen of a cluster or site and its power at one moment. */
export interface ObservedPower {
  /** Undefined: this Power has no cluster. */
  readonly cluster?: ClusterPower
  readonly machines: readonly SeenMachine[]
  readonly hosts: readonly SeenHost[]
  readonly ha: readonly {
    readonly connection: string
    readonly armed: 'armed' | 'disarming' | 'disarmed' | 'none' | 'unknown'
  }[]
  /** People, backups and jobs that stand in the way. Holds set by command are in the orders. */
  readonly holds: readonly SeenHold[]
  readonly ups?: UpsReading | 'unknown'
  /** Hooks that ran for the state that is wanted now, by name. */
  readonly hooks: Readonly<Record<string, { readonly ok: boolean; readonly output: string }>>
  /** HealthChecks that must pass on the way up and have answered, by name. */
  readonly checks: Readonly<Record<string, CheckSeen>>
  /**
   * For how long each wait goes on, by its name, on a clock that never jumps. Lost with the process: then it counts
   * anew, so that nothing is ever forced too early.
   */
  readonly waitedMs: Readonly<Record<string, number>>
}

export interface CheckSeen {
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
  /** Is the cluster's DNS up? What it lacks stands in the message. */
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
  readonly power: PowerSeen
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

export interface SeenMachine {
  readonly key: ResourceKey
  readonly name: string
  readonly role: 'node' | 'machine' | 'infrastructure'
  readonly host?: string
  readonly power: PowerSeen
  /** Is it there at all? */
  readonly exists: YesNoUnknown
}

export interface SeenHost {
  readonly name: string
  readonly power: PowerSeen
  /** Guests that run there and that nobody declared. */
  readonly strangers: readonly string[]
  readonly watts?: number
}

export interface SeenHold {
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
  readonly low: boolean
  readonly watts?: number
  /** It was on battery and has not answered since: this is what it said last. */
  readonly silentSinceMs?: number
}
