import type { ClusterDeclaration } from './cluster-declaration.ts'
import type { Connection } from './connection.ts'
import type { HealthCheckSpec } from './health-check.ts'
import type { ResourceKey } from './key.ts'
import type { Origin } from './origin.ts'
import type { PowerDeclaration } from './power.ts'
import type { Problem } from './problem.ts'
import type { History, Removed } from './proof.ts'
import type { Resource } from './resource.ts'

/** A person's explicit permission in Git for deletions beyond the usual limit. */
export interface Approval {
  readonly name: string
  readonly deletes: readonly ResourceKey[]
  readonly maxDeletes?: number
  /** Also what its own policy would leave behind (Orphan): a person named it and meant it (`croft delete`). */
  readonly orphans?: boolean
  /** Connections on which machines that were there are known to be gone for good. */
  readonly absence?: readonly string[]
  readonly expiresMs?: number
  readonly origin: Origin
}

/** Everything that Git declares at one revision, linked: each resource knows its connection and what it needs. */
export interface Estate {
  /** Commit, or a hash of the directory. */
  readonly revision: string
  readonly connections: readonly Connection[]
  readonly resources: readonly Resource[]
  /** Hosts of which nothing is declared: looked at only while something that croft did is left there. */
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
  /** Who declares here: uids of estates, and where each source is. A record of anybody else proves nothing. */
  readonly sources?: readonly string[]
  /** Asks the history of the sources which commit took a declaration out. */
  readonly history?: History
  /** What that said of things that are marked and not declared. */
  readonly removed?: ReadonlyMap<ResourceKey, Removed>
  readonly problems: readonly Problem[]
}
