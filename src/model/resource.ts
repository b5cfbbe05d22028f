import type { Neighbour } from '../lib/neighbour-probe.ts'
import type { ContainerSpec } from './container.ts'
import type { Composed, Origin, Policy, ResourceKey } from './declaration.ts'
import type { FileSpec } from './file.ts'
import type { Bounds } from './grant.ts'
import type { WantedItem } from './host-item.ts'
import type { WantedObject } from './kube-object.ts'
import type { SettingSpec } from './rest.ts'
import type { Refusal, Step } from './step.ts'
import type { SystemReading } from './system-id.ts'
import type { GuestBasics, VmSpec } from './vm.ts'

/** What one driver manages: the type selects its rules, which compare `desired` with the world. */
export type Desired =
  | { readonly type: 'vm'; readonly vm: VmSpec }
  | { readonly type: 'container'; readonly container: ContainerSpec }
  | { readonly type: 'file'; readonly file: FileSpec }
  | { readonly type: 'setting'; readonly setting: SettingSpec }
  | { readonly type: 'item'; readonly item: WantedItem }
  | { readonly type: 'object'; readonly object: WantedObject }

/** An accepted declaration, expanded to one thing of one driver. */
export interface Resource {
  readonly key: ResourceKey
  readonly uid: string
  readonly kind: string
  readonly name: string
  readonly driver: string
  readonly connection: string
  /** The estate of the resource, by name and uid; written into the mark to show the owner. */
  readonly estate?: string
  /** Who declares it: the uid of the estate, or the address of its source. */
  readonly declaredBy?: string
  /** The instance that it expands from, and that one's definition. */
  readonly composedBy?: Composed
  readonly desired: Desired
  /** What must be Ready first. The order depends on this, never on the position in a file. */
  readonly needs: readonly ResourceKey[]
  readonly policy: Policy
  /** croft chooses its host: until then `desired` is its state on the first candidate. */
  readonly placement?: Placement
  /** croft can reach its host as root, for calls that only root may make. */
  readonly rootLane?: true
  /** Created only once another resource needs it: a machine without a fixed host needs its image on the chosen one. */
  readonly justInCase?: true
  /** The limits of its source, if it has a grant. */
  readonly bounds?: Bounds
  readonly origin: Origin
  readonly generation: string
}

/** Returns the desired state of a VM or container, or undefined for other types. */
export function guestIn(desired: Desired): VmSpec | ContainerSpec | undefined {
  if (desired.type === 'vm') return desired.vm
  return desired.type === 'container' ? desired.container : undefined
}

/** Returns it with these fields set if it is a VM or container, and unchanged otherwise. */
export function withGuestFields(desired: Desired, fields: Partial<GuestBasics>): Desired {
  if (desired.type === 'vm') return { type: 'vm', vm: { ...desired.vm, ...fields } }
  return desired.type === 'container' ? { type: 'container', container: { ...desired.container, ...fields } } : desired
}

/** Reports whether the type is a computer that people use, whose loss hurts. */
export function isGuest(type: Desired['type'] | 'cluster'): boolean {
  return type === 'vm' || type === 'container'
}

export interface Candidate {
  /** Name of the Host. */
  readonly host: string
  /** The hypervisor's name of it. */
  readonly node: string
  readonly desired: Desired
  readonly needs: readonly ResourceKey[]
  /** Why new machines must not go there; existing ones may stay. */
  readonly barred?: string
  /** Processor load, 0 to 1, above which for this time no new machine goes there. */
  readonly busy?: { readonly above: number; readonly forMs: number }
}

/** The possible hosts of a machine whose host croft chooses. */
export interface Placement {
  /** One per declared host that could hold it, by name: its desired state there. */
  readonly candidates: readonly Candidate[]
  /** Hosts that can never hold it, and why: they lack a network or a storage that it names. */
  readonly unfit: readonly { readonly host: string; readonly why: string }[]
  /** Machines of one such group are spread evenly over the hosts. */
  readonly spread?: string
  /** No two machines of one such group share a host. */
  readonly apart?: string
  /** The Host that its devices are plugged into: a machine elsewhere is moved there. */
  readonly pinned?: string
  /** The choice; set after placement. */
  readonly chosen?: { readonly host: string; readonly why: string }
  readonly refused?: { readonly reason: string; readonly allow: string }
}

/** One difference between a declaration and the live thing. */
export interface Change {
  /** The field's name in the declaration: `memory.dedicatedMb`, `disks.scsi0.sizeGb`. */
  readonly path: string
  readonly from: unknown
  readonly to: unknown
  /** live: takes effect at once. restart: takes effect after a restart. replace: only a new thing can have it. */
  readonly effect: 'live' | 'restart' | 'replace'
  /** A secret value is shown only as changed. */
  readonly secret?: boolean
  /** The API does not show it, so nothing was compared: it is sent again because its reference has changed. */
  readonly resent?: true
  /** The next step of croft's own work: the world did not change, so it is no drift. */
  readonly own?: true
  /** Why croft cannot make this change, and what a person can do. The resource stays unchanged meanwhile. */
  readonly blocked?: { readonly message: string; readonly allow: string }
}

/** croft's mark on what it creates. The uid is in a tag (visible in the survey), the rest in the description. */
export interface Mark {
  readonly uid: string
  /** Known only after a close look. */
  readonly owner?: ResourceKey
  readonly estate?: string
  readonly deletion?: 'Delete' | 'Orphan'
  /** It was declared protected: this survives the loss of a database. */
  readonly protect?: true
  /** The cluster that it serves, unless that releases its servers. */
  readonly serverOf?: ResourceKey
  /** Slots of the configuration that croft filled: it empties only these. */
  readonly devices?: readonly string[]
  /** First twelve digits of the hash of the document that the guest has read; `none` if it has read none. */
  readonly seed?: string
  /** A document on its way to the guest, and the storage of its image. */
  readonly seeding?: { readonly hash: string; readonly storage: string }
  /** The storage with seed images that are no longer needed and must be deleted. */
  readonly unseeding?: string
}

/** Reports whether a guest has read its declared document. One without a document has nothing to read. */
export function readsDeclaredSeed(
  { desired }: Pick<Resource, 'desired'>,
  { mark }: Pick<ObservedResource, 'mark'>,
): boolean {
  const seed = desired.type === 'vm' ? desired.vm.seed : undefined
  return seed === undefined || (mark?.seed !== undefined && seed.hash.startsWith(mark.seed))
}

/** Returns the part of a policy that a mark carries, so that a directory without a database knows it too. */
export function keptBy({ protect, serverOf }: Policy): Pick<Mark, 'protect' | 'serverOf'> {
  return { ...(protect ? { protect: true as const } : {}), ...(serverOf === undefined ? {} : { serverOf }) }
}

export type PowerState = 'running' | 'stopped' | 'paused' | 'unknown'

/** One object of an outside system: a guest, a file. */
export interface ObservedResource {
  readonly connection: string
  readonly type: 'vm' | 'container' | 'file' | 'setting' | 'item' | 'object'
  /** The list that contains it, for things outside the survey (files, settings). */
  readonly list?: string
  /** VMID as text, or a listed thing's name in its list. */
  readonly externalId: string
  readonly host: string
  readonly name?: string
  readonly mark?: Mark
  readonly power?: PowerState
  /** `clone`, `create`, `backup`…: a task is working on it. */
  readonly lock?: string
  readonly template?: boolean
  /** A high-availability manager may move it to another host. */
  readonly highlyAvailable?: boolean
  /** Its resource pool, if the system has pools. */
  readonly pool?: string
  readonly uptimeSeconds?: number
  /** Its limits. */
  readonly memoryBytes?: number
  readonly diskBytes?: number
  readonly cpus?: number
  /** Its current processor load, 0 to 1, and its used memory. */
  readonly load?: number
  readonly memoryUsedBytes?: number
  /** Its creation, if the thing counts as created so without being read: an equal creation was read and matched. */
  readonly asMade?: Step
  /** Names of other things that it contains and that are deleted with it: the objects of a Helm release. */
  readonly brings?: readonly string[]
  /** The close look; undefined if only the survey has shown it. Its shape depends on the driver. */
  readonly close?: ObservedDetails
}

export type CloudInitResult =
  /** `none`: no cloud-init has run in it. */
  { readonly state: 'none' | 'running' | 'done' } | { readonly state: 'error'; readonly message: string }

export interface ObservedDetails {
  /** The system's version of the configuration, sent back with a write as compare-and-set. */
  readonly digest?: string
  /** Flat configuration as in the system's answer. */
  readonly config: Readonly<Record<string, unknown>>
  /** Keys whose value in `config` waits for a restart. */
  readonly pending?: readonly string[]
  /** The current values of those keys; a key that is missing here has none. */
  readonly inForce?: Readonly<Record<string, unknown>>
  /** Power read from the guest itself, not from a cache. */
  readonly power?: PowerState
  /** Distinguishes it from another thing with the same id: `uuid 51f8…` of a VM, `mac BC:24:…` of a container. */
  readonly birth?: string
  /** When it was created, if the system stores that. */
  readonly createdMs?: number
  /** Whether the agent inside answers. Undefined: not asked. */
  readonly agent?: 'up' | 'down'
  readonly addresses?: readonly string[]
  /** The result of its first boot as cloud-init reports it. Absent: not read, or not available. */
  readonly cloudInit?: CloudInitResult
  /** Images for this guest, on the mark's storage. Absent: the mark names none. */
  readonly seedImages?: readonly { readonly id: string; readonly bytes: number }[]
  /** Facts for the record, as observed: so it is correct again after a crash or the loss of the store. */
  readonly facts?: Readonly<Record<string, string>>
  /** The bridges of its host, read if the guest must use a bridge that it does not use yet. */
  readonly hostBridges?: readonly string[]
  /** Its name in the survey, if that differed from its name in the close look. */
  readonly surveyedName?: string
  readonly atMs: number
}

/** A running or ended task of the outside system. */
export interface RemoteTask {
  readonly id: string
  readonly host: string
  readonly verb: string
  /** Its subject, e.g. the VMID. For a clone this is the source. */
  readonly subject: string
  readonly user: string
  readonly state: 'running' | 'succeeded' | 'failed'
  /** It succeeded with a warning: a part of it may not be done. */
  readonly warned?: true
  readonly message?: string
  /** A failure's meaning for retries, if the driver read the outcome. */
  readonly refusal?: Refusal
  readonly startedMs: number
  readonly endedMs?: number
}

export interface ObservedHost {
  readonly name: string
  readonly online: boolean
  /** The bridges that a network card can use, and those declared for the host. Absent: not read, or unreadable. */
  readonly bridges?: readonly string[]
  readonly memoryBytes?: number
  readonly memoryUsedBytes?: number
  readonly cpus?: number
  /** Its current processor load, 0 to 1. */
  readonly load?: number
  /** Its hottest part, in degrees Celsius. */
  readonly temperatureC?: number
  /** Its current power draw: of the whole box if measured, else of its processors. */
  readonly watts?: number
}

export interface ObservedStorage {
  readonly host: string
  readonly name: string
  readonly content: readonly string[]
  readonly available: boolean
  readonly shared: boolean
  readonly totalBytes?: number
  readonly usedBytes?: number
}

/** All that a connection shows at one moment, in a constant number of calls. */
export interface Survey {
  readonly connection: string
  readonly atMs: number
  readonly hosts: readonly ObservedHost[]
  readonly storages: readonly ObservedStorage[]
  readonly resources: readonly ObservedResource[]
  readonly tasks: readonly RemoteTask[]
  /** Which system this is. Absent: its driver does not tell systems apart. */
  readonly system?: SystemReading
  /** The kinds served now that the cluster learnt, as `cilium.io/v2 CiliumNode`. Absent: unreadable. */
  readonly served?: readonly string[]
}

/** A host's average load over a span of time. */
export interface LoadSample {
  readonly atMs: number
  /** Load from 0 to 1. */
  readonly load: number
}

/** An address in use on a host's networks, by a hypervisor's guest or another device. */
export interface AddressUse {
  readonly address: string
  /** The hardware address of its user, in lower case. Absent: unknown. */
  readonly hardware?: string
  /** The user in words: `52:54:00:12:34:56, which answers on the network of pve1`. */
  readonly by: string
}

/** Returns the addresses in use that a host's neighbour table shows. Pure. */
export function usedNear(host: string, neighbours: readonly Neighbour[]): readonly AddressUse[] {
  return neighbours.map(({ address, hardware, own }) => {
    if (own) return { address, by: `host ${host} itself` }
    const by = `${hardware ?? 'something'}, which answers on the network of ${host}`
    return { address, by, ...(hardware === undefined ? {} : { hardware }) }
  })
}

/** A guest under creation, by croft or others. It shows neither name nor tags. */
export function isBeingMade({ lock }: ObservedResource): boolean {
  return lock === 'create' || lock === 'clone'
}

/**
 * Reports whether only the lock of its creation shows, its host answers, and no task works on it. One observation
 * proves nothing: guests and tasks are listed by two calls, and a creation locks its id before its task starts.
 */
export function isUnattended(seen: ObservedResource, { hosts, tasks }: Survey): boolean {
  if (!isBeingMade(seen) || seen.mark !== undefined) return false
  if (!hosts.some(({ name, online }) => name === seen.host && online)) return false
  // A clone's task is named after its source.
  return !tasks.some(
    ({ state, subject, verb }) =>
      state === 'running' && (subject === seen.externalId || (seen.lock === 'clone' && verb.endsWith('clone'))),
  )
}
