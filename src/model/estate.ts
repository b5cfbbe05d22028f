import type { ClusterSpec } from './cluster.ts'
import type { Consent } from './consent.ts'
import type { Origin, Policy, Problem, ResourceKey } from './declaration.ts'
import type { ForeignObject, PermittedRead } from './foreign-object.ts'
import type { SourceQuota } from './grant.ts'
import type { HealthCheckSpec } from './health-check.ts'
import type { PowerDeclaration } from './power.ts'
import type { Resource } from './resource.ts'
import type { SecretReference, SshTarget } from './secret.ts'
import type { UnreadPath } from './unread.ts'
import type { KnownObjects, WaitingFor } from './waiting.ts'

/** The way to an outside system. Declared in Git; secrets only by reference. */
export interface Connection {
  readonly name: string
  /** The name of its driver. */
  readonly driver: string
  readonly endpoint: string
  /** SHA-256 of the server certificate, `AA:BB:…`. Without it the system's trust store decides. */
  readonly fingerprint?: string
  /** The token, for a system with an API token. */
  readonly token?: SecretReference
  /** Address and token in one secret: that of a Crossplane ProviderConfig. */
  readonly credentials?: SecretReference
  /** Set if it is reached over SSH, or is this computer. */
  readonly ssh?: SshTarget
  /** SSH access to its hosts by their names: for the few calls that only root may make. */
  readonly hosts?: Readonly<Record<string, SshTarget>>
  /** Set if this is the API of a cluster that croft manages: what leads there. */
  readonly cluster?: ClusterDeclaration
  /** Set if this is the API of a cluster that another system manages. */
  readonly existing?: ExistingCluster
  /** Separates two repositories that manage the same system; part of every uid. */
  readonly estate: string
  /** External ids that croft may choose from when a declaration names none. */
  readonly ids: { readonly from: number; readonly to: number }
  readonly limits: {
    readonly perHost: number
    readonly perStorage: number
    readonly reads: number
    /** Parallel creations of guests on one host. Absent: the limit of other changes. */
    readonly creations?: number
  }
  readonly origin: Origin
}

/** The way to the API of a cluster that croft does not manage. Without a kubeconfig: as croft's own pod. */
export interface ExistingCluster {
  readonly name: string
  readonly kubeconfig?: SecretReference
  readonly context?: string
  /** HTTP proxy on the way; else HTTPS_PROXY and NO_PROXY apply. */
  readonly proxy?: string
}

/** The name of a cluster, managed by croft or not. */
export function clusterName({ cluster, existing, name }: Connection): string {
  return cluster?.name ?? existing?.name ?? name
}

/** A declared cluster, with what is needed to reach and build its nodes. */
export interface ClusterDeclaration {
  readonly key: ResourceKey
  readonly name: string
  readonly estate: string
  readonly spec: ClusterSpec
  /** Sources of K3s, tried in order, with `{version}` and `{arch}` filled in. */
  readonly artifacts: readonly ArtifactSource[]
  /** SHA-256 of the program by `v1.34.3+k3s1/amd64`; others are read from the release or its mirror. */
  readonly checksums?: Readonly<Record<string, string>>
  /** Boxes that croft did not create, by the name in `NodeMachine.host`. */
  readonly hosts: ReadonlyMap<string, SshTarget>
  /** All other declared boxes: to remove K3s from a former node. */
  readonly otherHosts?: ReadonlyMap<string, SshTarget>
  /** What a node waits for before its first K3s start: seconds by gate, and a name that DNS must resolve. */
  readonly gates?: { readonly deadlines: Readonly<Record<string, number>>; readonly dnsName?: string }
  /** The checks of `upgrade.healthChecks`, by name. */
  readonly healthChecks?: Readonly<Record<string, HealthCheckSpec>>
  /** The machine for drills. Created for a drill, and deleted after it. */
  readonly drill?: Resource
  /** HTTP proxy on the way to the Kubernetes API; else HTTPS_PROXY and NO_PROXY apply. */
  readonly proxy?: string
  /** Hosts that its source may make croft contact: mirrors, proxies and their targets. Absent: all. */
  readonly egress?: readonly string[]
  readonly policy: Policy
  readonly origin: Origin
  readonly generation: string
}

export type ArtifactSource =
  | { readonly release: true }
  /** Base address of a mirror with the layout of the official releases. */
  | { readonly mirror: string }
  /** Already on the node, as part of its image. */
  | { readonly file: string }

/** Why a thing may leave. A mark without a declaration is no reason: absence proves nothing. */
export type Proof =
  /** The estate's own record names the source that declared it. */
  | { readonly by: 'record'; readonly source: string }
  /** The history of the source's repository has the commit that removed it. */
  | { readonly by: 'commit'; readonly commit: string }
  /** A person named it. */
  | { readonly by: 'approval'; readonly name: string }

/** A declaration that a repository once had, and the commit that removed it. */
export interface Removed {
  readonly commit: string
  /** Its last declaration. */
  readonly policy: Policy
}

/** Finds the commits that removed these declarations. Keys missing in the answer are unknown. */
export type History = (keys: readonly ResourceKey[], signal?: AbortSignal) => Promise<ReadonlyMap<ResourceKey, Removed>>

/** Returns one line for display, and for the event of a deletion. */
export function showProof(proof: Proof): string {
  switch (proof.by) {
    case 'record':
      return `declared by ${proof.source} before`
    case 'commit':
      return `removed by commit ${proof.commit.slice(0, 12)}`
    case 'approval':
      return `approved by ${proof.name}`
  }
}

/** A person's explicit permission in Git for deletions beyond the usual limit. */
export interface Approval {
  readonly name: string
  readonly deletes: readonly ResourceKey[]
  readonly maxDeletes?: number
  /** Includes things that their own policy would leave (Orphan): a person named them (`croft delete`). */
  readonly orphans?: boolean
  /** Connections whose missing machines are known to be gone for good. */
  readonly absence?: readonly string[]
  /** Clusters that may be restored although they run. */
  readonly restores?: readonly ResourceKey[]
  /** Plans that wait for a person, by their hash. */
  readonly plans?: readonly string[]
  readonly expiresMs?: number
  readonly origin: Origin
}

/** All declarations of one revision, linked: each resource knows its connection and its needs. */
export interface Estate {
  /** Commit, or a hash of the directory. */
  readonly revision: string
  readonly connections: readonly Connection[]
  readonly resources: readonly Resource[]
  /** Hosts without declarations: surveyed only while they still hold something that croft made. */
  readonly idleHosts?: readonly Connection[]
  readonly approvals: readonly Approval[]
  /** K3s clusters; their machines are among the resources. */
  readonly clusters?: readonly ClusterDeclaration[]
  /** Clusters and sites that are switched off and on. */
  readonly powers?: readonly PowerDeclaration[]
  /** Health checks, by name. */
  readonly checks?: ReadonlyMap<string, HealthCheckSpec>
  /** Keys that are declared but invalid. They still exist: nothing of theirs may be deleted. */
  readonly unreadable: readonly ResourceKey[]
  /** A file could not be read at all, so a missing declaration proves nothing: no deletions from this revision. */
  readonly incomplete: boolean
  /** Sources with a grant that were read only in part: nothing that they could name is deleted. */
  readonly partlyRead?: readonly { readonly source: string; readonly names: readonly string[] }[]
  /** Paths that are not read as manifests. In an observed estate: those that leave absences unproven. */
  readonly unread?: readonly UnreadPath[]
  /** Undeclared keys that no unread path can declare: proven before, or named by a person. */
  readonly proven?: ReadonlySet<ResourceKey>
  /** Kinds of documents that croft does not know: they may be instances of a deleted definition. */
  readonly leftAlone?: ReadonlySet<string>
  /** The quota usage of sources with a grant. */
  readonly quotas?: readonly SourceQuota[]
  /** Who declares here: uids of estates, and where each source is. Records of other estates prove nothing. */
  readonly sources?: readonly string[]
  /** Finds the commit that removed a declaration, in the sources' history. */
  readonly history?: History
  /** The history's answers about marked, undeclared things. */
  readonly removed?: ReadonlyMap<ResourceKey, Removed>
  /** People's consents to held actions. */
  readonly consents?: readonly Consent[]
  /** Declarations that wait for observed values. Absent: none. */
  readonly later?: Later
  /** Returns the estate in which machines keep their values. Absent: croft chose no value for machines. */
  readonly keeping?: (kept: KeptChoices) => Estate
  readonly problems: readonly Problem[]
}

/** A machine's values for what its declaration leaves to croft: it keeps them until a manifest sets others. */
export interface KeptChoice {
  /** Addresses that croft assigned come first. */
  readonly addresses: readonly string[]
  /** Only the guest itself reports it, and may report anything: neither a record nor a configuration has it. */
  readonly told?: true
  /** The hypervisor's name of its host. */
  readonly node?: string
  /** The connection of that host: standalone hosts often share a name. */
  readonly connection?: string
}

export type KeptChoices = ReadonlyMap<ResourceKey, KeptChoice>

/** Declarations that are complete only with observed values. */
export interface Later {
  readonly waiting: readonly WaitingFor[]
  /** Objects of clusters that provide values, as far as the sources may read them. */
  readonly reads: readonly PermittedRead<ForeignObject>[]
  /** Differs if other things are declared. */
  readonly stamp: string
  /** Returns the estate with the observed values. */
  settle(known: KnownObjects): Estate
  /** Evaluates the expressions that `settle` will need. */
  prepare?(known: KnownObjects): Promise<void>
}

/** Changes an estate, and also the estates that observed values make of it. */
export function changedEstate(estate: Estate, change: (estate: Estate) => Estate): Estate {
  const { later, keeping } = estate
  return {
    ...change(estate),
    ...(later === undefined
      ? {}
      : { later: { ...later, settle: (known) => changedEstate(later.settle(known), change) } }),
    ...(keeping === undefined ? {} : { keeping: (kept) => changedEstate(keeping(kept), change) }),
  }
}

/**
 * Returns the owner in a mark: the estate's name, and its uid if it has one: `default/3f2a9c0d1b2e4f60`. Older marks
 * have only the name.
 */
export function estateMark(name: string, uid: string | undefined): string {
  return uid === undefined ? name : `${name}/${uid}`
}

/**
 * Reports whether a mark is our estate's. A mark without a uid predates uids and is judged by its name. One with a uid
 * belongs to that estate alone, even if ours has none yet.
 */
export function isOfEstate(mark: string | undefined, own: string): boolean {
  if (mark === undefined || mark === own) return true
  const [name, uid] = partsOf(mark)
  return uid === undefined && name === partsOf(own)[0]
}

/** The uid in a mark, where it has one. */
export function estateUidIn(mark: string | undefined): string | undefined {
  return mark === undefined ? undefined : partsOf(mark)[1]
}

function partsOf(mark: string): readonly [name: string, uid: string | undefined] {
  const at = mark.lastIndexOf('/')
  return at === -1 ? [mark, undefined] : [mark.slice(0, at), mark.slice(at + 1)]
}

/** Returns the estate with its known uid, if its files declare none. */
export function namedEstate(given: Estate, uid: string): Estate {
  return changedEstate(given, (estate) => ({
    ...estate,
    resources: estate.resources.map((one) => ({
      ...one,
      ...(one.estate === undefined ? {} : { estate: estateMark(one.estate, uid) }),
      declaredBy: uid,
    })),
    sources: [...(estate.sources ?? []), uid],
  }))
}
