import { hash } from 'node:crypto'

/** `EnvironmentVM/k3s-vm-fun-bedbug`, or with a namespace `EnvironmentVM/prod/web-1`. Unique in an estate. */
export type ResourceKey = string

/** Returns a key from its parts. Cluster-scoped things have no namespace. */
export function resourceKey(kind: string, name: string, namespace?: string): ResourceKey {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`
}

/**
 * Returns the identity that croft writes into the things it creates. Derived from the estate and the key, never random:
 * an empty database, or a second controller, computes the same uid and so finds the same things.
 */
export function resourceUid(estate: string, key: ResourceKey): string {
  return hash('sha256', `${estate}\0${key}`).slice(0, 16)
}

/** Returns the owner of a part: `HostConfig/base` for `HostConfig/base@cow/file:/etc/motd`. */
export function ownerOf(key: ResourceKey): ResourceKey {
  return key.split('@')[0] ?? key
}

/** Where a thing is declared: the file, the position in it, and the commit if it is from Git. */
export interface Origin {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly commit?: string
}

/** Returns `machines/web.yaml:12:3`, or with the commit `machines/web.yaml:12:3@a1b2c3d`. */
export function showOrigin(origin: Origin): string {
  const at = origin.commit === undefined ? '' : `@${origin.commit.slice(0, 7)}`
  return `${origin.file}:${origin.line}:${origin.column}${at}`
}

/**
 * An error in a manifest. Names the place, the error and, if known, the correction. A problem never stops other objects
 * from being read.
 */
export interface Problem {
  /** Stable identifier for documentation and tests, e.g. `unknown-field`. */
  readonly code: string
  readonly origin: Origin
  /** `EnvironmentVM/web-1`, if the object is known. */
  readonly object?: string
  /** Field path inside the document, e.g. `spec.forProvider.memory`. */
  readonly field?: string
  readonly message: string
  /** How to correct it: "did you mean networkDevice?". */
  readonly hint?: string
  /** The source lines around the place, already cut to a sane width, with terminal control characters removed. */
  readonly excerpt?: string
  /** A warning is shown, but refuses nothing. */
  readonly severity: 'error' | 'warning'
}

/** What a person allows croft to do with one resource. The kind reads it from the manifest; the guards judge by it. */
export interface Policy {
  /** What to do with the thing once its declaration is removed. Orphan: it stays, for a person. */
  readonly deletion: 'Delete' | 'Orphan'
  /** Deletion and replacement are refused while this is set, even if `deletion` allows them. */
  readonly protect: boolean
  /** While set, croft writes nothing (`crossplane.io/paused`, `croft.dev/paused`). */
  readonly paused: boolean
  /** croft itself paused it until this happens. Only for declarations that are cluster objects. */
  readonly pausedUntil?: string
  /** `observe`: read and report, never write (`managementPolicies: [Observe]`). */
  readonly manage: 'full' | 'observe'
  /** Whether the thing may be destroyed and created again if a field cannot change in place. */
  readonly replace: 'refused' | 'allowed'
  /** An existing thing, not created by croft, to take over (`crossplane.io/external-name`). */
  readonly adopt?: string
  /** The birth of the intended guest, if another one has taken its id (`croft.dev/birth`). */
  readonly birth?: string
  /**
   * An adopted thing gets no mark: an object of a cluster names its owner. Only for declarations that are such objects.
   */
  readonly unmarked?: true
  /** Secrets that no answer shows are sent again when this text changes (`croft.dev/rotate`). */
  readonly rotate?: string
  /** The cluster that it serves: only that cluster's coordinator deletes it, not the removal of the cluster. */
  readonly serverOf?: ResourceKey
  /**
   * What to do if the world changes and Git does not (`croft.dev/drift`). correct: restore it. report: show it and hold
   * until a person decides. ignore: leave it. Default: correct.
   */
  readonly drift?: 'correct' | 'report' | 'ignore'
  /** A person declared `protect: false`: its data disks may be destroyed with it. */
  readonly dataMayGo?: true
  /**
   * The effect of a failed first boot (`croft.dev/cloud-init`). require: the machine is Ready only after cloud-init has
   * succeeded. report: it is Ready once it answers, and the failure is only shown. Default: require.
   */
  readonly firstBoot?: FirstBoot
  /** Declarations that must be Ready before its creation (`dependsOn`). It leaves before them. */
  readonly after?: readonly ResourceKey[]
  /** CEL expressions about the thing that must hold before it is Ready (`readyWhen`). */
  readonly readyWhen?: readonly string[]
}

/** The effect of a failed cloud-init on a machine that croft created. */
export type FirstBoot = 'require' | 'report'

export const DEFAULT_POLICY: Policy = {
  deletion: 'Delete',
  protect: false,
  paused: false,
  manage: 'full',
  replace: 'refused',
}

/** The instance of a composed API (`K3sNode/agent-1`) that expanded to a declaration, and its definition. */
export interface ComposedBy {
  readonly instance: ResourceKey
  /** `ResourceGraphDefinition/k3snode`, `Composition/k3snode`. */
  readonly definition: string
  /** The instance's place. The declaration's own origin is its template. */
  readonly origin: Origin
}

/** The same in a record: both must exist for a thing to count as declared. */
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
  /** Hash of all fields that matter (not of comments or position). */
  readonly generation: string
  readonly composedBy?: ComposedBy
}
