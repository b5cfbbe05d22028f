import type { ResourceKey } from './declaration.ts'
import type { Secret, SecretReference } from './secret.ts'

/** A K3s cluster as declared. Cluster-wide settings are here once; settings per node are in NodeSpec. */
export interface ClusterSpec {
  readonly name: string
  /** The exact release, `v1.34.3+k3s1`. A commit resolves a channel to it. */
  readonly version: string
  readonly endpoint: ClusterEndpoint
  readonly network: ClusterNetwork
  /** Packaged components to omit: `traefik`, `servicelb`. */
  readonly disable: readonly string[]
  /** Names and addresses, in addition to the endpoint's, that the API's certificate must carry. */
  readonly tlsSans: readonly string[]
  readonly secretsEncryption: boolean
  readonly registries?: Registries
  /** Further flags of every server, by their name in config.yaml. */
  readonly serverFlags: Flags
  /** Further flags of every node, server or agent. */
  readonly nodeFlags: Flags
  readonly servers: readonly NodeSpec[]
  readonly agents: readonly NodeSpec[]
  readonly upgrade: UpgradePolicy
  readonly remediation: RemediationPolicy
  readonly backup?: BackupPolicy
  /** What to do with a machine that has the K3s data of another cluster, or mixed CA files. */
  readonly staleState: 'refuse' | 'wipe' | 'recreate'
  /** etcd members without a node in Git. `ask`: a person removes each by command. */
  readonly ghostMembers: 'ask' | 'remove'
  readonly allow: ClusterAllowances
}

/** Risks that a person accepts in Git. */
export interface ClusterAllowances {
  /** An even number of servers, or too few to survive a failure. */
  readonly degraded: boolean
  /** Interrupt the API briefly if one or two servers allow no other way. */
  readonly interruption: boolean
  /** Change flags and releases of a cluster that croft found and did not set up. */
  readonly takeOver?: boolean
}

/** The address of the API for clients and nodes. */
export type ClusterEndpoint =
  /** kubeVip: croft announces the address with that release of kube-vip. Without it another system announces it. */
  | { readonly vip: string; readonly kubeVip?: KubeVip }
  | { readonly dns: string }
  /** A server's own address: lost together with that server. */
  | { readonly server: string }

export interface KubeVip {
  readonly version: string
  /** The image's repository, without its tag. */
  readonly image?: string
  /** The network card for the address. Default: that of the default route. */
  readonly interface?: string
}

export interface ClusterNetwork {
  /** One range, or one per family for dual stack. */
  readonly podCidrs: readonly string[]
  readonly serviceCidrs: readonly string[]
  /** The prefix length of each node's part of the pod ranges. Default: 24 and 64. */
  readonly nodeMasks?: { readonly ipv4?: number; readonly ipv6?: number }
  readonly flannelBackend: 'vxlan' | 'host-gw' | 'wireguard-native' | 'none'
  readonly kubeProxy: boolean
  readonly networkPolicy: boolean
  readonly clusterDomain?: string
}

export type FlagValue = string | number | boolean | readonly string[]
export type Flags = Readonly<Record<string, FlagValue>>

export type NodeRole = 'server' | 'agent'

export interface NodeSpec {
  readonly name: string
  readonly role: NodeRole
  readonly machine: NodeMachine
  /** The first one is the address that etcd uses; one of each family for dual stack. */
  readonly nodeIps: readonly string[]
  readonly externalIps?: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly string[]
  /** onDemand: off is healthy. Never for a server: it would hold a vote while it sleeps. */
  readonly power: 'always' | 'onDemand'
  readonly flags?: Flags
}

/** A machine that croft creates and destroys, or an existing box that it only wipes. */
export type NodeMachine = { readonly key: ResourceKey } | { readonly host: string }

export interface Registries {
  readonly mirrors: Readonly<
    Record<string, { readonly endpoint: readonly string[]; readonly rewrite?: Readonly<Record<string, string>> }>
  >
  readonly configs?: Readonly<
    Record<string, { readonly auth?: SecretReference; readonly tls?: Readonly<Record<string, string | boolean>> }>
  >
}

export interface UpgradePolicy {
  /** inPlace: upgrades the program on the same machine. replace: a new machine for each node. */
  readonly method: 'inPlace' | 'replace'
  readonly drain: DrainPolicy
  /** How long a node must have been healthy before the next one changes. */
  readonly soakMs: number
  /** How long a node may take to return. */
  readonly nodeTimeoutMs: number
  /** Names of checks that must pass before each node. */
  readonly healthChecks: readonly string[]
  /** When work on nodes may start; none means always. Work that has started is finished. */
  readonly windows: readonly MaintenanceWindow[]
  /** How many agents may be under work at the same time. */
  readonly agentsSurge: number
}

export interface DrainPolicy {
  readonly timeoutMs: number
  /** wait: keep evicting. force: delete pods that refuse. abort: uncordon the node and stop. */
  readonly onTimeout: 'wait' | 'force' | 'abort'
}

export interface MaintenanceWindow {
  /** The weekdays on which it opens; 0 is Sunday, and none means every day. */
  readonly days: readonly number[]
  /** Minutes after midnight. `to` before `from` runs over midnight. */
  readonly fromMinute: number
  readonly toMinute: number
  /** `Europe/Berlin`; UTC when absent. */
  readonly timeZone?: string
}

export interface RemediationPolicy {
  readonly enabled: boolean
  /** Above this many unhealthy nodes nothing is replaced, since the cause is elsewhere. The larger limit applies. */
  readonly brake: { readonly nodes: number; readonly percent: number }
  /** A node that is unready for this time without a break is dead. */
  readonly deadAfterMs: number
  /** At most one replacement of a server, and one of an agent, in this time. */
  readonly pauseMs: number
  /** After this absence a server loses its vote, even if replacement is off. Absent: never. */
  readonly evictAfterMs?: number
  /** The machine of a dead node may be destroyed with all its disks. Otherwise a person orders each replacement. */
  readonly dataMayGo: boolean
}

export interface BackupPolicy {
  /** Five fields, as in cron. */
  readonly schedule: string
  readonly keep: number
  /** When to restore the newest backup on a temporary node, as proof that it can be restored. */
  readonly drill?: { readonly schedule: string }
  readonly to:
    | { readonly directory: string }
    | { readonly nfs: { readonly server: string; readonly path: string } }
    | {
        readonly s3: {
          readonly endpoint: string
          readonly bucket: string
          readonly folder?: string
          readonly region?: string
          readonly credentials?: SecretReference
        }
      }
}

export type WorkPurpose = 'upgrade' | 'configure' | 'restart' | 'replace' | 'remove' | 'remediate'

/**
 * The identity of a cluster: stored encrypted, beside the store or in Git, and recorded with the name of the first
 * server before anything starts. With it a rebuilt cluster is the same cluster.
 */
export interface ClusterSecrets {
  readonly cluster: string
  /** Hash of the server CA, as in the K10 token. */
  readonly caHash: string
  readonly firstServer: string
  /** The first server has answered once. */
  readonly formed: boolean
  /** Read from a copy that predates the cluster's formation. Never written. */
  readonly unsure?: true
  readonly recordedMs: number
  /** Path below server/tls → PEM. Private keys are among them. */
  readonly files: ReadonlyMap<string, Secret>
  /** Password of the server token. */
  readonly password: Secret
  /** Password of a rotation that may have reached K3s: it is current once a server shows it. */
  readonly pendingPassword?: Secret
  /** Password of the agent token; agents then cannot join with the server's. */
  readonly agentPassword?: Secret
  /** Passwords that older snapshots still need, newest first. */
  readonly formerPasswords: readonly Secret[]
}

/** Returns every password that may open a snapshot, the current one first. */
export function passwordsOf({ password, pendingPassword, formerPasswords }: ClusterSecrets): readonly Secret[] {
  return [password, ...(pendingPassword === undefined ? [] : [pendingPassword]), ...formerPasswords]
}

/** Returns the record with another current password. Its other passwords stay for older snapshots. */
export function withPassword(secrets: ClusterSecrets, password: Secret): ClusterSecrets {
  const { pendingPassword: _, ...rest } = secrets
  const formerPasswords = passwordsOf(secrets).filter((one) => one.reveal() !== password.reveal())
  return { ...rest, password, formerPasswords }
}

/** The age key is missing: an environment variable is set and names no usable key. */
export class AgeKeyUnusable extends Error {
  constructor(what: string) {
    super(`${what}: correct it, or set SOPS_AGE_KEY_FILE to the file that holds your age key`)
  }
}

/** A record that exists and that no available key can open. */
export class RecordClosed extends Error {
  /** An escrow in Git survives a new record; the vault's only record must not be overwritten. */
  readonly kept: 'vault' | 'escrow'
  /** The message in two parts: a plan shows the reason and the next step on separate lines. */
  readonly reason: string
  readonly next: string

  constructor(place: string, { why, key }: { readonly why: string; readonly key: string }, kept: 'vault' | 'escrow') {
    const reason = `${place} is sealed: ${why}`
    const next = `${key}. If the key is lost for good, move ${place} away: croft then reads CA and token back from a running server`
    super(`${reason}: ${next}`)
    this.reason = reason
    this.next = next
    this.kept = kept
  }
}
