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

/** How an outside system is reached. Declared in Git; secrets only by reference. */
export interface Connection {
  readonly name: string
  /** Which driver speaks to it. */
  readonly driver: string
  readonly endpoint: string
  /** SHA-256 of the server certificate, `AA:BB:…`. Without it the system's trust store decides. */
  readonly fingerprint?: string
  /** Where the system is reached by a token of its API. */
  readonly token?: SecretReference
  /** Where address and token are both inside one secret: that of a Crossplane ProviderConfig. */
  readonly credentials?: SecretReference
  /** Where it is reached over SSH, or is this very computer. */
  readonly ssh?: SshTarget
  /** How its hosts are reached over SSH, by what it calls them: for the little that it lets only root do. */
  readonly hosts?: Readonly<Record<string, SshTarget>>
  /** Where it is the API of a cluster that croft keeps: what is needed to find the way there. */
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
    /** Guests that are made on one host at once. Absent: as many as other changes. */
    readonly creations?: number
  }
  readonly origin: Origin
}

/** How the API of a cluster that croft does not run is reached. Without a kubeconfig: as the pod that croft is in. */
export interface ExistingCluster {
  readonly name: string
  readonly kubeconfig?: SecretReference
  readonly context?: string
  /** HTTP proxy on the way; else HTTPS_PROXY and NO_PROXY say. */
  readonly proxy?: string
}

/** The name of a cluster, managed by croft or not. */
export function clusterName({ cluster, existing, name }: Connection): string {
  return cluster?.name ?? existing?.name ?? name
}

/** A cluster as Git declares it, with what is needed to reach and build its nodes. */
export interface ClusterDeclaration {
  readonly key: ResourceKey
  readonly name: string
  readonly estate: string
  readonly spec: ClusterSpec
  /** Where K3s comes from: tried in order, `{version}` and `{arch}` filled in. */
  readonly artifacts: readonly ArtifactSource[]
  /** SHA-256 of the program by `v1.34.3+k3s1/amd64`; what is not here is read from the release or its mirror. */
  readonly checksums?: Readonly<Record<string, string>>
  /** Boxes that were there before, by the name in `NodeMachine.host`. */
  readonly hosts: ReadonlyMap<string, SshTarget>
  /** Every other box that is declared: one that was a node before is reached this way to take K3s off it. */
  readonly otherHosts?: ReadonlyMap<string, SshTarget>
  /** What a node waits for before K3s may start for the first time: seconds by gate, and a name that must be found. */
  readonly gates?: { readonly deadlines: Readonly<Record<string, number>>; readonly dnsName?: string }
  /** What `upgrade.healthChecks` names, by name. */
  readonly healthChecks?: Readonly<Record<string, HealthCheckSpec>>
  /** The machine that a backup is tried on. Made when that is due, and destroyed after it. */
  readonly drill?: Resource
  /** HTTP proxy on the way to the Kubernetes API; else HTTPS_PROXY and NO_PROXY say. */
  readonly proxy?: string
  /** Where its source may send croft: mirrors, proxies and all that they lead to. Absent: everywhere. */
  readonly egress?: readonly string[]
  /** Where people find it: `vault` beside the store, or a SOPS file of the repository. */
  readonly policy: Policy
  readonly origin: Origin
  readonly generation: string
}

export type ArtifactSource =
  | { readonly release: true }
  /** Base address of a mirror with the layout of the official releases. */
  | { readonly mirror: string }
  /** Already on the node, put there with the image. */
  | { readonly file: string }

/** Why a thing may leave. That it is marked and not declared is no reason: absence proves nothing. */
export type Proof =
  /** This estate's own record says that this source declared it. */
  | { readonly by: 'record'; readonly source: string }
  /** The history of the source's repository has the commit that removed it. */
  | { readonly by: 'commit'; readonly commit: string }
  /** A person named it. */
  | { readonly by: 'approval'; readonly name: string }

/** A declaration that a repository once had, and the commit that took it out. */
export interface Removed {
  readonly commit: string
  /** As it was declared last. */
  readonly policy: Policy
}

/** Looks for the commits that removed these declarations. What is not in the answer was never there, or is not known. */
export type History = (keys: readonly ResourceKey[], signal?: AbortSignal) => Promise<ReadonlyMap<ResourceKey, Removed>>

/** One line for a person, and for the event of a deletion. */
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
  /** Also what its own policy would leave behind (Orphan): a person named it and meant it (`croft delete`). */
  readonly orphans?: boolean
  /** Connections on which machines that were there are known to be gone for good. */
  readonly absence?: readonly string[]
  /** Clusters that may be restored although they run. */
  readonly restores?: readonly ResourceKey[]
  /** Plans that wait for a person, by their hash. */
  readonly plans?: readonly string[]
  readonly expiresMs?: number
  readonly origin: Origin
}

/** Everything that Git declares at one revision, linked: each resource knows its connection and what it needs. */
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
  /** Keys that are declared but could not be accepted. They are not gone: nothing of theirs may be deleted. */
  readonly unreadable: readonly ResourceKey[]
  /** Some file could not be read at all, so what is missing proves nothing: no deletes from this revision. */
  readonly incomplete: boolean
  /** Sources with a grant that were read only in part: nothing that they could name is deleted. */
  readonly partlyRead?: readonly { readonly source: string; readonly names: readonly string[] }[]
  /** Paths that are not read as manifests. In an observed estate: those that leave the absence of keys unproven. */
  readonly unread?: readonly UnreadPath[]
  /** Undeclared keys that no unread path declares: it was proven before, or a person named them. */
  readonly proven?: ReadonlySet<ResourceKey>
  /** Kinds of documents that croft does not know: they may be instances of a deleted definition. */
  readonly leftAlone?: ReadonlySet<string>
  /** What sources with a grant use of their quotas. */
  readonly quotas?: readonly SourceQuota[]
  /** Who declares here: uids of estates, and where each source is. Records of other estates prove nothing. */
  readonly sources?: readonly string[]
  /** Asks the history of the sources which commit took a declaration out. */
  readonly history?: History
  /** What that said of things that are marked and not declared. */
  readonly removed?: ReadonlyMap<ResourceKey, Removed>
  /** What people have allowed of held actions. */
  readonly consents?: readonly Consent[]
  /** What waits for values that only the world can say. Absent: nothing does, and nothing ever did. */
  readonly later?: Later
  /** The estate in which machines keep what they have. Absent: nothing that machines have was left to croft. */
  readonly keeping?: (kept: KeptChoices) => Estate
  readonly problems: readonly Problem[]
}

/** What a machine has of what its declaration leaves to croft: it keeps that until a manifest says otherwise. */
export interface KeptChoice {
  /** What croft gave it comes first. */
  readonly addresses: readonly string[]
  /** Only the guest itself says so, which may say anything: no record and no configuration does. */
  readonly told?: true
  /** What the hypervisor calls the host that it is on. */
  readonly node?: string
  /** The connection that host belongs to: hosts that stand alone are often called the same. */
  readonly connection?: string
}

export type KeptChoices = ReadonlyMap<ResourceKey, KeptChoice>

/** Declarations that are whole only by what was seen. */
export interface Later {
  readonly waiting: readonly WaitingFor[]
  /** Objects of clusters that they take values from, as far as their sources may read them. */
  readonly reads: readonly PermittedRead<ForeignObject>[]
  /** Another one where something else is declared. */
  readonly stamp: string
  /** The estate by what was seen. */
  settle(known: KnownObjects): Estate
  /** Has expressions evaluated that `settle` will need for this. */
  prepare?(known: KnownObjects): Promise<void>
}

/** The estate with a change that also holds for the estates that it becomes by what is seen of the world. */
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
 * Whose a mark is: the name of the estate, and since estates have a uid, that as well: `default/3f2a9c0d1b2e4f60`. The
 * name alone is what marks had before.
 */
export function estateMark(name: string, uid: string | undefined): string {
  return uid === undefined ? name : `${name}/${uid}`
}

/**
 * Does what carries this mark belong to us? A mark without a uid was made before there were any and is judged by its name.
 * One with a uid belongs to that estate alone, also when ours has none yet.
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

/** The same estate under the uid that it is known by, where its files do not say it. */
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
