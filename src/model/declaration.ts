import { hash } from 'node:crypto'

/** `EnvironmentVM/k3s-vm-fun-bedbug`, or with a namespace `EnvironmentVM/prod/web-1`. Unique in an estate. */
export type ResourceKey = string

/** A key from its parts. Cluster-scoped things have no namespace. */
export function resourceKey(kind: string, name: string, namespace?: string): ResourceKey {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`
}

/**
 * The identity that croft writes into the things it makes. Derived from the estate and the key, never drawn by
 * chance: a lost database, or a second controller, arrives at the same uid and so finds the same things again.
 */
export function resourceUid(estate: string, key: ResourceKey): string {
  return hash('sha256', `${estate}\0${key}`).slice(0, 16)
}

/** `HostConfig/base@cow/file:/etc/motd` is a part of `HostConfig/base`. What is no part is its own. */
export function ownerOf(key: ResourceKey): ResourceKey {
  return key.split('@')[0] ?? key
}

/** Where a thing was written down: the file, the position in it, and the commit when it came from Git. */
export interface Origin {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly commit?: string
}

/** `machines/web.yaml:12:3`, or with the commit `machines/web.yaml:12:3@a1b2c3d`. */
export function showOrigin(origin: Origin): string {
  const at = origin.commit === undefined ? '' : `@${origin.commit.slice(0, 7)}`
  return `${origin.file}:${origin.line}:${origin.column}${at}`
}

/**
 * Something wrong with what a person wrote. Always names the place, what is wrong and, where we know it, what to do.
 * A problem never stops other objects from being read (one bad object must not hide the others).
 */
export interface Problem {
  /** Stable identifier for documentation and tests, e.g. `unknown-field`. */
  readonly code: string
  readonly origin: Origin
  /** `EnvironmentVM/web-1` when the object could be identified. */
  readonly object?: string
  /** Field path inside the document, e.g. `spec.forProvider.memory`. */
  readonly field?: string
  readonly message: string
  /** What to do about it: "did you mean networkDevice?". */
  readonly hint?: string
  /** The source lines around the place, already cut to a sane width, with terminal control characters removed. */
  readonly excerpt?: string
  /** A warning is shown and nothing is refused for it. */
  readonly severity: 'error' | 'warning'
}

/** What a person allows croft to do with one resource. Read from the manifest by the kind, judged by the guards. */
export interface Policy {
  /** What happens to the thing when its declaration goes away. Orphan: it stays, unmarked work for a person. */
  readonly deletion: 'Delete' | 'Orphan'
  /** Deletion and replacement are refused while this is set, even if `deletion` allows them. */
  readonly protect: boolean
  /** Nothing is written while this is set (`crossplane.io/paused`, `croft.dev/paused`). */
  readonly paused: boolean
  /** croft itself paused it until this happens. Only for declarations that are cluster objects. */
  readonly pausedUntil?: string
  /** `observe`: look and report, never write (`managementPolicies: [Observe]`). */
  readonly manage: 'full' | 'observe'
  /** May the thing be destroyed and created again when a field cannot be changed in place? */
  readonly replace: 'refused' | 'allowed'
  /** An existing thing, not made by us, that a person asked us to take over (`crossplane.io/external-name`). */
  readonly adopt?: string
  /** The birth of the guest that a person means, where another one has taken its id (`croft.dev/birth`). */
  readonly birth?: string
  /**
   * What is taken over keeps its own looks: an object of a cluster says whose it is, so no mark is written on it. Only of
   * declarations that are such objects.
   */
  readonly unmarked?: true
  /** Secrets that no answer shows are sent again when this text changes (`croft.dev/rotate`). */
  readonly rotate?: string
  /** The cluster whose memory it holds as a server: it goes by that cluster's doing, and not because the cluster is gone. */
  readonly serverOf?: ResourceKey
  /**
   * What happens when the world moves and Git does not (`croft.dev/drift`). correct: it is put back. report: it is shown
   * and held until a person decides. ignore: it is left alone. Absent: correct.
   */
  readonly drift?: 'correct' | 'report' | 'ignore'
  /** A person said `protect: false`: what is on its data disks may go with it. */
  readonly dataMayGo?: true
  /**
   * What comes of a first boot that went wrong (`croft.dev/cloud-init`). require: the machine is not Ready before
   * cloud-init has ended well. report: it is Ready when it answers, and what went wrong is only said. Absent: require.
   */
  readonly firstBoot?: FirstBoot
  /** Declarations that are Ready before it is made (`dependsOn`). It leaves before them. */
  readonly after?: readonly ResourceKey[]
  /** CEL expressions about itself that hold before it counts as Ready (`readyWhen`). */
  readonly readyWhen?: readonly string[]
}

/** What a failed cloud-init means for a machine that croft made. */
export type FirstBoot = 'require' | 'report'

export const DEFAULT_POLICY: Policy = {
  deletion: 'Delete',
  protect: false,
  paused: false,
  manage: 'full',
  replace: 'refused',
}

/** The instance of a composed API (`K3sNode/agent-1`) that became a declaration, and what says so. */
export interface ComposedBy {
  readonly instance: ResourceKey
  /** `ResourceGraphDefinition/k3snode`, `Composition/k3snode`. */
  readonly definition: string
  /** Where the instance is written. The declaration's own origin is its template. */
  readonly origin: Origin
}

/** The same as a record keeps it: what has to be there for a thing to be declared. */
export type Composed = Pick<ComposedBy, 'instance' | 'definition'>

/** A parsed and valid manifest with its origin. `spec` has the shape that its kind's schema gives it. */
export interface Declaration<Spec = unknown> {
  readonly key: ResourceKey
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Spec
  readonly policy: Policy
  readonly origin: Origin
  /** Hash of everything that matters to reconciling (not of comments or position): changes when the meaning does. */
  readonly generation: string
  readonly composedBy?: ComposedBy
}
