import type { Random } from '../../src/lib/random.ts'
import type { Files } from '../guest/files.ts'
import type { Job, Login, Process, SystemState, Trouble, UnitLine } from '../guest/types.ts'
import type { K3sTiming } from '../k3s/timing.ts'
import type { Bootstrap, Encryption, Gate, JournalLine, Phase, SnapshotContent } from '../k3s/types.ts'
import type { Frozen, Store } from '../kubernetes/store.ts'
import type { Scheduled, SimClock } from '../sim-clock.ts'
import type {
  Access,
  Downloadable,
  Inside,
  Lock,
  PciDevice,
  Pool,
  Run,
  Seen,
  Snapshot,
  StorageEntry,
  Task,
  Timing,
  UsbDevice,
  Volume,
} from './parts.ts'

// Types that know each other, in one file: the world holds computers, and these know their world. What they are made
// of lies in parts.ts here and in types.ts of guest/ and k3s/.

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
  /** How many of the next tasks lose their process before it begins: those that are asked for while others end. */
  losesWorkers: number
  /** For how long the lock of each storage was held, by host and storage: `pve1/local`. */
  readonly storageBusyMs: Map<string, number>
  /** State of K3s that does not lie on single machines. */
  readonly k3s: K3sSite
  /** Physical computers that stand beside the hosts, by name. */
  readonly metal: Map<string, Box>
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
  /** Its files and processes, made at the first look. */
  machine?: Machine
  /** The same as others on its network see it. */
  computer?: Computer
  /** What was made to go wrong inside. */
  readonly trouble: Trouble
  /** States that the status daemon could have seen, oldest first, while lists may still show them. */
  readonly seen: Seen[]
}

/** A computer with a running system that others reach over a network: the inside of a guest, or a physical box. */
export interface Computer {
  /** `qemu/101`, `metal/nuc-1`. */
  readonly id: string
  readonly world: World
  readonly machine: Machine
  /** The system runs and its network works. */
  isUp(): boolean
  /** The current name, which is not always the requested one. */
  hostname(): string
  /** Without their prefix lengths, the first one first. */
  addresses(): readonly string[]
  /** Shuts its system down and powers it off. Absent where this is not simulated. */
  goDown?(): void
}

/** The running system inside a guest, as far as commands show it. */
export interface Machine {
  readonly files: Files
  readonly processes: Map<number, Process>
  /** Units that run and units that start by themselves. */
  readonly active: Set<string>
  readonly enabled: Set<string>
  /** Addresses that were added by hand, by card: `192.168.4.9/24`. */
  readonly addresses: Map<string, string[]>
  nextPid: number
  /** Which start of the guest the processes belong to. */
  life: number
  readonly system: SystemState
  /** What was made to go wrong on it. */
  readonly trouble: Trouble
  /** K3s as systemd keeps it, once there has been one. */
  k3s?: Service
  job?: Job
  /** Current sessions; a restart ends them. */
  readonly logins: Login[]
  /** What units that ran once have written. */
  readonly journal: UnitLine[]
}

/** A physical computer: no hypervisor under it, its disk outlives everything, and power is a wire away. */
export interface Box {
  readonly name: string
  readonly mac: string
  readonly addresses: string[]
  power: 'on' | 'off'
  /** Its system is up. */
  booted: boolean
  life: number
  readonly machine: Machine
  readonly computer: Computer
  readonly trouble: Trouble
  /** Answers of its management controller that are lost, though what was asked is done. */
  bmcRepliesLost: number
  /** What its management controller was told, in the words of Redfish. */
  readonly resets: string[]
  /** It starts when its network card hears its address called. */
  wakeOnLan: boolean
  readonly bootMs: readonly [number, number]
}

/** The unit of K3s on one computer, as systemd keeps it: always restarted, five seconds after its end. */
export interface Service {
  state: 'stopped' | 'starting' | 'running' | 'failed'
  sinceMs: number
  /** It was started and not stopped since. */
  wanted: boolean
  process: K3sProcess | undefined
  /** The last fatal line since it was started. */
  failure: string | undefined
  lastExit: number | undefined
  /** Automatic restarts since the last requested start, and the time of that request. */
  restarts: number
  orderedMs: number
  readonly journal: JournalLine[]
  gates: readonly Gate[]
  timer: Scheduled | undefined
}

/** Everything of K3s that is not on one machine: who listens where, clusters of etcd, snapshots, releases. */
export interface K3sSite {
  timing: K3sTiming
  /** Servers by the addresses on which their port 6443 is open. */
  readonly listeners: Map<string, K3sProcess>
  readonly clusters: Map<string, EtcdCluster>
  /** What snapshot files hold, by the id that stands in the file. */
  readonly snapshots: Map<string, SnapshotContent>
  /** When what K3s wrote came to be, by the content: compared when a server meets its datastore. */
  readonly writtenMs: Map<string, number>
  /** Folders that computers mount from elsewhere, by what they call them: `nas:/srv/etcd`. */
  readonly shares: Map<string, Files>
  /** What the disks of etcd members that stand still hold, by cluster and member. */
  readonly disks: Map<string, Frozen>
  /** Who holds a virtual address or a name that is no machine's own. */
  readonly holders: Map<string, { process: K3sProcess; fromMs: number; lostMs?: number }>
  /** Pods (`namespace/name`) that refuse eviction even where their budget allows it. */
  readonly blockedEvictions: Set<string>
  /** Further programs that can be fetched: by URL or path, with their checksum and version. */
  readonly artifacts: Map<string, { readonly sha256: string; readonly version: string }>
}

/** One etcd cluster with all that it has committed. A restore makes another one. */
export interface EtcdCluster {
  readonly id: string
  readonly members: Map<string, Member>
  leader: string | undefined
  election: Scheduled | undefined
  /** When the leader's manager of learners looks, as an offset. */
  tickPhaseMs: number
  tick: Scheduled | undefined
  readonly store: Store
  bootstrap: Bootstrap
  encryption: Encryption
  /** Critical flags of the first server; those who join are compared with them. */
  config: ReadonlyMap<string, readonly string[]>
  /** `3.5` or `3.6`: the least that all members had. */
  version: string
  /** Members that were removed: they come back when etcd goes to 3.6 without having been repaired. */
  readonly removed: { readonly id: string; readonly name: string; readonly address: string }[]
  membershipChanged: boolean
  /** The server that leads the controllers. */
  manager: K3sProcess | undefined
  managerTimer: Scheduled | undefined
  /** What waits until something can be written again. */
  readonly waiting: Set<() => void>
  /** A pass of the controllers is asked for. */
  reconcile: Scheduled | undefined
  /** Pod address ranges given out so far. */
  podCidrs: number
  readonly kubelets: Map<string, K3sProcess>
  readonly quorumExits: Map<K3sProcess, Scheduled>
}

export interface Member {
  readonly id: string
  readonly name: string
  readonly address: string
  learner: boolean
  readonly addedMs: number
  process: K3sProcess | undefined
  connectedSinceMs: number
  etcd: string
  /** It has started with a release that repairs the list of members, or was born after the need for it. */
  repaired: boolean
}

export interface K3sProcess {
  readonly computer: Computer
  readonly role: 'server' | 'agent'
  readonly version: string
  readonly etcd: string
  readonly nodeName: string
  readonly nodeIps: readonly string[]
  readonly flags: ReadonlyMap<string, readonly string[]>
  readonly args: readonly string[]
  readonly startedMs: number
  alive: boolean
  phase: Phase
  /** Server: the cluster it is in. Agent: the one it has joined. */
  cluster: EtcdCluster | undefined
  member: string | undefined
  readonly timers: Set<Scheduled>
  /** Called when it ends, for every cause. */
  readonly ends: Set<() => void>
  readonly log: (level: string, message: string) => void
  /** Ends the process: what systemd sees is the code. */
  readonly exit: (code: number, level: 'fatal' | 'error' | undefined, message?: string) => void
  /** The program tells systemd that it is ready. */
  readonly ready: () => void
  /** CA files as they were read at the start. */
  files: ReadonlyMap<string, string>
  password: string
  agentPassword: string | undefined
  encryptionHash: string | undefined
  kubeletSinceMs: number | undefined
  /** Probes answer 500 from here on; undefined while etcd is well. */
  sickSinceMs: number | undefined
}
