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

export interface Lock {
  /** By how many: more than one only where it is shared. */
  held: number
  mode: 'exclusive' | 'shared'
  readonly waiting: { readonly mode: 'exclusive' | 'shared'; readonly grant: () => void }[]
}

/** A device in a slot of a host. Ids are `vendor:device`. */
export interface PciDevice {
  readonly path: string
  readonly id: string
  /** Who made the card around the chip. Known of devices that are described in full, which have no IOMMU group here. */
  readonly subsystem?: string
  /** What it is for, as the kernel writes it. */
  readonly class?: string
}

/** A device that is plugged into a host. The path is bus and port: `1-2`. */
export interface UsbDevice {
  readonly id: string
  readonly path: string
}

export interface StorageEntry {
  readonly id: string
  readonly type: string
  /** Files in a directory (with formats and sub-directories) or block volumes in a pool. */
  readonly files: boolean
  readonly path: string
  content: string[]
  shared: boolean
  nodes: string[] | undefined
  disabled: boolean
  totalBytes: number
  /** What others use of the same disk. */
  readonly baseUsedBytes: number
  readonly options: Record<string, string | number>
  /** Its disks exist in this world. Entries added by a call are checked first. */
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
  /** The content, where a guest may read it. */
  readonly bytes?: Uint8Array
  /** A file that can be run, and how it ends. */
  readonly script?: { readonly exit: number }
  /** Of a backup: its notes, and whether it is protected. */
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

/** What the system in a guest has become by what it read at boot. It stays on its disk when the disc is taken out. */
export interface Inside {
  readonly instanceId: string
  /** How often cloud-init has run its modules: once for each new instance id. */
  readonly runs: number
  readonly userData: string
  readonly hostname: string | undefined
  /** It came from the drive that Proxmox makes, and not from a disc. */
  readonly own?: true
  /** By hardware address; a card that is not in here was told nothing and stays down. Undefined: all use DHCP. */
  readonly cards: ReadonlyMap<string, { readonly dhcp: boolean; readonly addresses: readonly string[] }> | undefined
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
  /** Set by a stop: the task ends at its next step. */
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
