import type { ResourceKey } from './key.ts'
import type { Desired } from './resource.ts'

/** Where a machine may go that leaves the choice of its host to croft. */
export interface Placement {
  /** One for each declared host that could hold it at all, by name: what it would be there. */
  readonly candidates: readonly Candidate[]
  /** Hosts that cannot hold it whatever happens, and why: they do not bind a network or a storage that it names. */
  readonly unfit: readonly { readonly host: string; readonly why: string }[]
  /** Machines of one group are spread over the hosts as evenly as they can be. */
  readonly spread?: string
  /** Of one group no two are on the same host. */
  readonly apart?: string
  /** The Host that its devices are plugged into: a machine that is elsewhere is moved there. */
  readonly pinned?: string
  /** What came of it; only after placing. */
  readonly chosen?: { readonly host: string; readonly why: string }
  readonly refused?: { readonly reason: string; readonly allow: string }
}

export interface Candidate {
  /** Name of the Host. */
  readonly host: string
  /** What the hypervisor calls it. */
  readonly node: string
  readonly desired: Desired
  readonly needs: readonly ResourceKey[]
  /** Why a new machine must not go there, though one that is there may stay. */
  readonly barred?: string
  /** Load of the processors, 0 to 1, above which for so long nothing new goes there. */
  readonly busy?: { readonly above: number; readonly forMs: number }
}

/** How busy a host was, one value for a span of time. */
export interface LoadSample {
  readonly atMs: number
  /** 0 to 1. */
  readonly load: number
}
