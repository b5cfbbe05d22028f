import type { ContainerSpec } from './container.ts'
import type { FileSpec } from './file.ts'
import type { Bounds } from './grant.ts'
import type { GuestBasics } from './guest.ts'
import type { WantedItem } from './host-item.ts'
import type { ResourceKey } from './key.ts'
import type { WantedObject } from './kube-object.ts'
import type { Origin } from './origin.ts'
import type { Policy } from './policy.ts'
import type { SettingSpec } from './rest.ts'
import type { VmSpec } from './vm.ts'

/** What one driver keeps: the type says which of its rules apply, `desired` is what they compare with the world. */
export type Desired =
  | { readonly type: 'vm'; readonly vm: VmSpec }
  | { readonly type: 'container'; readonly container: ContainerSpec }
  | { readonly type: 'file'; readonly file: FileSpec }
  | { readonly type: 'setting'; readonly setting: SettingSpec }
  | { readonly type: 'item'; readonly item: WantedItem }
  | { readonly type: 'object'; readonly object: WantedObject }

/** An accepted declaration, expanded to one thing that one driver keeps. */
export interface Resource {
  readonly key: ResourceKey
  readonly uid: string
  readonly kind: string
  readonly name: string
  readonly driver: string
  readonly connection: string
  /** The estate it belongs to, by name and uid; written into the mark, so that it is seen whose it is. */
  readonly estate?: string
  /** Who declares it: the uid of the estate, or where its source is. */
  readonly declaredBy?: string
  readonly desired: Desired
  /** What must be Ready first. Order comes from here, never from the position in a file. */
  readonly needs: readonly ResourceKey[]
  readonly policy: Policy
  /** Its host is for croft to choose: until that is done, `desired` is what it would be on the first of them. */
  readonly placement?: Placement
  /** Its host can be reached as root, for what the system lets only root do. */
  readonly rootLane?: true
  /** Only wanted once something needs it: a machine that may go anywhere needs its image where it goes. */
  readonly justInCase?: true
  /** What its source is held to, where it is held to something. */
  readonly bounds?: Bounds
  readonly origin: Origin
  readonly generation: string
}

/** What is declared of a guest, whatever sort of guest it is; undefined for what is none. */
export function guestIn(desired: Desired): VmSpec | ContainerSpec | undefined {
  if (desired.type === 'vm') return desired.vm
  return desired.type === 'container' ? desired.container : undefined
}

/** The same with these fields of a guest, of whatever sort it is; what is none stays as it is. */
export function withGuestFields(desired: Desired, fields: Partial<GuestBasics>): Desired {
  if (desired.type === 'vm') return { type: 'vm', vm: { ...desired.vm, ...fields } }
  return desired.type === 'container' ? { type: 'container', container: { ...desired.container, ...fields } } : desired
}

/** Is it a computer that somebody works with, whose loss hurts? */
export function isGuest(type: Desired['type'] | 'cluster'): boolean {
  return type === 'vm' || type === 'container'
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
