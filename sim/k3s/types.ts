import type { Computer } from '../guest/computer.ts'
import type { Files } from '../guest/files.ts'
import type { Frozen, Store } from '../kubernetes/store.ts'
import type { Scheduled } from '../sim-clock.ts'
import type { K3sTiming } from './timing.ts'

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
  readonly holders: Map<string, { process: K3sProcess; fromMs: number }>
  /** Further programs that can be fetched: by URL or path, with their checksum and version. */
  /** Pods (`namespace/name`) that refuse to be evicted, whatever their budget says. */
  readonly blockedEvictions: Set<string>
  readonly artifacts: Map<string, { readonly sha256: string; readonly version: string }>
}

export interface SnapshotContent {
  readonly id: string
  readonly frozen: Frozen
  readonly bootstrap: Bootstrap
  readonly atMs: number
  readonly bytes: number
  readonly tokenHash: string
  readonly version: string
  readonly encryption: Encryption
  readonly podCidrs: number
}

/** What servers share through the datastore, encrypted with the password of the token. */
export interface Bootstrap {
  readonly tokenHash: string
  /** Path below server/tls → PEM. */
  readonly files: ReadonlyMap<string, string>
  readonly password: string
  readonly agentPassword: string | undefined
}

export interface Encryption {
  readonly enabled: boolean
  readonly stage: string
  readonly hash: string
  readonly key: string
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

/** Where a start of K3s has got to. `removed`: put out of etcd and still running. */
export type Phase = 'starting' | 'supervisor' | 'waiting' | 'apiserver' | 'ready' | 'removed'

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
  /** Called when it ends, whatever it ends of. */
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
