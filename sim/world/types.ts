import type { Random } from '../../src/lib/random.ts'
import type { Computer } from '../guest/computer.ts'
import type { Machine, Trouble } from '../guest/machine.ts'
import type { K3sSite } from '../k3s/types.ts'
import type { Box } from '../metal/box.ts'
import type { SimClock } from '../sim-clock.ts'
import type { Inside } from './guest-inside.ts'
import type { PciDevice, UsbDevice } from './hardware.ts'

/** Everything there is in the simulated datacentre. Plain data: handlers read and write it, presets fill it. */
export interface World {
  readonly clock: SimClock
  readonly random: Random
  readonly timing: Timing
  readonly hosts: Map<string, Host>
  /** Storage entries of the datacentre, by id. What lies on them is kept per host. */
  readonly storages: Map<string, StorageEntry>
  readonly guests: Map<number, Guest>
  readonly pools: Map<string, Pool>
  readonly access: Access
  /** Lists of small things that most clients only read or write whole: firewall, SDN, HA and so on. */
  readonly shelves: Map<string, Map<string, Record<string, unknown>>>
  /** What can be downloaded. An address that is not listed gives a file made from its text. */
  readonly downloads: Map<string, Downloadable>
  /** Without the status daemon nodes show as unknown and every other number is fresh: so it was in the recordings. */
  readonly statusDaemon: boolean
  quorate: boolean
  /** For how long the lock of each storage was held, by host and storage: `pve1/local`. */
  readonly storageBusyMs: Map<string, number>
  /** All that K3s is besides what lies on single machines. */
  readonly k3s: K3sSite
  /** Physical computers that stand beside the hosts, by name. */
  readonly metal: Map<string, Box>
}

/** How long things take, in milliseconds unless the name says otherwise. Pairs are the least and the most. */
export interface Timing {
  readonly callMs: readonly [number, number]
  readonly taskStartMs: number
  readonly allocateMs: readonly [number, number]
  readonly freeMs: readonly [number, number]
  readonly importBytesPerSecond: number
  readonly cloneBytesPerSecond: number
  readonly downloadBytesPerSecond: number
  readonly startMs: readonly [number, number]
  readonly bootMs: readonly [number, number]
  readonly shutdownMs: readonly [number, number]
  readonly shortTaskMs: number
  readonly statusCycleMs: number
  readonly statusCacheMs: number
}

export interface Host {
  readonly name: string
  readonly address: string
  readonly cpus: number
  readonly memoryBytes: number
  power: 'on' | 'off'
  /** How busy an experiment makes its processors, and since when. */
  load?: { readonly value: number; readonly sinceMs: number }
  /** Changes with every power loss: work that began in an earlier life must not go on. */
  life: number
  bootedAtMs: number
  offSinceMs: number | undefined
  /** When its status daemon reports, as an offset into the cycle. */
  readonly statusPhaseMs: number
  nextPid: number
  /** Newest last. */
  readonly tasks: Task[]
  readonly runningTasks: Set<Task>
  readonly tasksById: Map<string, Task>
  readonly locks: Map<string, Lock>
  /** What lies on each storage here, by volume name (the volume id without the storage). Shared ones share the map. */
  readonly volumes: Map<string, Map<string, Volume>>
  readonly interfaces: Map<string, Record<string, unknown>>
  /** The network configuration as written but not loaded yet. */
  newInterfaces: Map<string, Record<string, unknown>> | undefined
  readonly pci: PciDevice[]
  readonly usb: UsbDevice[]
}

export interface Lock {
  /** By how many: more than one only where it is shared. */
  held: number
  mode: 'exclusive' | 'shared'
  readonly waiting: { readonly mode: 'exclusive' | 'shared'; readonly grant: () => void }[]
}

export interface StorageEntry {
  readonly id: string
  readonly type: string
  /** Files in a directory (with formats and sub-directories) or block volumes in a pool. */
  readonly files: boolean
  readonly path: string
  content: string[]
  readonly shared: boolean
  nodes: string[] | undefined
  disabled: boolean
  totalBytes: number
  /** What others use of the same disk. */
  readonly baseUsedBytes: number
  readonly options: Record<string, string | number>
  /** It stands on disks that this world has. Entries that somebody writes down have to be looked into first. */
  readonly backed?: boolean
}

export interface Volume {
  name: string
  content: string
  format: string
  /** Size of the file; of the virtual disk for a guest's disk. */
  sizeBytes: number
  /** Size of the virtual disk inside an image that lies in a file. */
  readonly virtualBytes?: number
  readonly vmid?: number
  parent?: string
  readonly ctimeSeconds: number
  usedBytes?: number
  /** What boots from it, if anything. */
  system?: GuestSystem
  readonly text?: string
  /** The file itself, where somebody inside a guest may read it. */
  readonly bytes?: Uint8Array
  /** A file that can be run, and how it ends. */
  readonly script?: { readonly exit: number }
  /** Of a backup: what somebody wrote beside it, and that it must not be thrown away. */
  notes?: string
  protected?: boolean
  readonly checksumSeed?: string
}

export interface GuestSystem {
  readonly agent: boolean
  readonly acpi: boolean
  /** An image that was not cleaned before it became one: every machine made from it has the same. */
  readonly machineId?: string
}

export interface Downloadable {
  readonly sizeBytes: number
  readonly virtualBytes: number
  readonly sha256: string
  readonly sha512: string
  readonly status?: number
  readonly mimetype?: string
}

export interface Guest {
  readonly vmid: number
  readonly type: 'qemu' | 'lxc'
  node: string
  /** The configuration file, key by key, as text. */
  config: Map<string, string>
  readonly pending: Map<string, string>
  readonly pendingDelete: Set<string>
  readonly snapshots: Map<string, Snapshot>
  /** Goes up with every write, so that the digest is made once for each. */
  version: number
  digest: { readonly version: number; readonly value: string } | undefined
  run: Run
  /** What its system has become; absent for one that never read anything. */
  inside?: Inside
  /** The configuration that its cloud-init drive was last made from. */
  seed?: ReadonlyMap<string, string>
  /** Its files and processes, once somebody has looked into it. */
  machine?: Machine
  /** The same as others on its network see it. */
  computer?: Computer
  /** What was made to go wrong inside. */
  readonly trouble: Trouble
  /** What the status daemon could have seen, oldest first, for as long as somebody may still be shown it. */
  readonly seen: Seen[]
}

export interface Snapshot {
  readonly config: Map<string, string>
  description: string | undefined
  readonly timeSeconds: number
  readonly parent: string | undefined
  /** Being made or removed, or left so by work that died. */
  state?: 'prepare' | 'delete'
}

/** The process of a guest. `life` changes with each start: what was planned for an earlier one does not happen. */
export interface Run {
  status: 'running' | 'stopped'
  paused: boolean
  life: number
  startedAtMs: number
  pid: number
  /** Undefined: nothing that boots is on its disk. */
  system: GuestSystem | undefined
  bootedAtMs: number | undefined
  /** Did the configuration offer an agent channel when it started? */
  agentChannel: boolean
  /** What it was called when it started: the process keeps that name. */
  readonly name?: string
  /** Its agent got half a message and waits for the rest until the next start. */
  deaf?: boolean
  /** Its file systems are held still for a backup. */
  frozen?: boolean
}

export interface Seen {
  readonly atMs: number
  readonly gone?: boolean
  readonly status: 'running' | 'stopped'
  readonly name: string
  readonly startedAtMs: number
}

export interface Task {
  readonly upid: string
  readonly node: string
  readonly pid: number
  readonly pstart: number
  readonly startSeconds: number
  readonly type: string
  readonly id: string
  readonly user: string
  readonly log: string[]
  endSeconds: number | undefined
  exit: string | undefined
  /** Set by somebody who stops it: it ends at its next step. */
  interrupted: boolean
}

export interface Pool {
  readonly id: string
  comment: string | undefined
  readonly guests: Set<number>
  readonly storages: Set<string>
}

export interface Access {
  readonly users: Map<string, User>
  readonly groups: Map<string, { comment?: string; readonly users: Set<string> }>
  readonly roles: Map<string, { privileges: Set<string>; readonly special: boolean }>
  readonly acl: AclEntry[]
  readonly tickets: Map<string, { readonly user: string; readonly csrf: string; readonly expiresMs: number }>
  /** Goes up with every change, so that what was worked out before is thrown away. */
  version: number
  /** Guests that an identity cannot see although its rights say otherwise: for experiments. */
  readonly hidden: Map<string, (vmid: number) => boolean>
}

export interface User {
  password: string | undefined
  enable: boolean
  expireSeconds: number
  readonly tokens: Map<string, Token>
  /** Comment, names, address: words about a person. */
  readonly details: Record<string, string>
}

export interface Token {
  secret: string
  privsep: boolean
  expireSeconds: number
  comment?: string
}

export interface AclEntry {
  readonly path: string
  readonly type: 'user' | 'group' | 'token'
  readonly ugid: string
  readonly roleid: string
  propagate: boolean
}
