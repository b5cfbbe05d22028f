import type { ClusterDeclaration } from './cluster-declaration.ts'
import type { Connection } from './connection.ts'
import type { HealthCheckSpec } from './health-check.ts'
import type { ResourceKey } from './key.ts'
import type { Origin } from './origin.ts'
import type { PowerDeclaration } from './power.ts'
import type { Problem } from './problem.ts'
import type { History, Removed } from './proof.ts'
import type { SourceQuota } from './quota.ts'
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
  /** Sources with a grant of which something could not be read: nothing that they could name is deleted. */
  readonly partlyRead?: readonly { readonly source: string; readonly names: readonly string[] }[]
  /** What sources with a grant use of their quotas. */
  readonly quotas?: readonly SourceQuota[]
  /** Who declares here: uids of estates, and where each source is. A record of anybody else proves nothing. */
  readonly sources?: readonly string[]
  /** Asks the history of the sources which commit took a declaration out. */
  readonly history?: History
  /** What that said of things that are marked and not declared. */
  readonly removed?: ReadonlyMap<ResourceKey, Removed>
  readonly problems: readonly Problem[]
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
export function namedEstate(estate: Estate, uid: string): Estate {
  return {
    ...estate,
    resources: estate.resources.map((one) => ({
      ...one,
      ...(one.estate === undefined ? {} : { estate: estateMark(one.estate, uid) }),
      declaredBy: uid,
    })),
    sources: [...(estate.sources ?? []), uid],
  }
}
