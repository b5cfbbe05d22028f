import type { FieldProblem, ObjectsAt } from '../../kinds/kind.ts'
import type { Declaration, Origin, Problem, ResourceKey } from '../../model/declaration.ts'
import type { Grant } from '../../model/grant.ts'
import type { UnreadPath } from '../../model/unread.ts'
import type { KnownObjects, WaitingFor, WantedRead } from '../../model/waiting.ts'
import type { DefinedApi, LateInstances } from '../compose/api.ts'
import type { Doubtful } from '../doubtful.ts'

/** An object that croft does not read: foreign, or not a manifest. */
export interface Ignored {
  readonly file: string
  readonly line: number
  readonly apiVersion: string
  readonly kind: string
  readonly note?: string
  /** The only source that may use it. */
  readonly of?: string
}

/** A document, with an object's path in it. */
export interface DocumentPlace {
  readonly document: { readonly text: string; readonly line: number }
  readonly base: readonly (string | number)[]
}

/** A declaring source: its place, and the uid of its estate. */
export interface DeclaringSource {
  readonly place: string
  readonly uid?: string
}

/** Everything that a tree of files declares at one moment. */
export interface Revision {
  /** The commit, or a hash of the files. */
  readonly id: string
  readonly declarations: readonly Declaration[]
  readonly problems: readonly Problem[]
  readonly ignored: readonly Ignored[]
  /** Paths that are not read as manifests, and may declare what is not found elsewhere. */
  readonly unread?: readonly UnreadPath[]
  /** Documents that define an API, or are instances of one and became others. */
  readonly expanded?: readonly Ignored[]
  readonly files: number
  /** Keys that are declared but were refused. They are not gone: nothing of theirs may be deleted. */
  readonly unreadable: readonly ResourceKey[]
  /** Some file could not be read at all, so what is missing proves nothing. */
  readonly incomplete: boolean
  /** Declarations that wait for observed values. Their keys are unreadable until then. */
  readonly waiting?: readonly WaitingFor[]
  /** Objects of clusters that its values come from. */
  readonly reads?: readonly WantedRead[]
  /** The revision without its late instances, and those instances apart: plain data, to pass to another process. */
  readonly late?: { readonly base: Revision; readonly instances: LateInstances; readonly expanded: ExpandedInstances }
  /** Returns the revision with observed values filled in. */
  settle?(known: KnownObjects): Revision
  /** Evaluates in the cage what `settle` will be asked. What was not prepared still waits there. */
  prepare?(known: KnownObjects): Promise<void>
  /** Kinds that files here define themselves. */
  readonly apis?: readonly DefinedApi[]
  /** Refused objects without their problems, for a caller that lists the problems of all others at once. */
  doubtful?(): readonly Doubtful[]
  /** Where a field of a declaration stands in the source. */
  locate(declaration: Declaration, path: FieldProblem['path']): Origin
  /** Gives what a kind found while it expanded a declaration its place in the source. */
  problemAt(declaration: Declaration, problem: FieldProblem): Problem
  /** Reads another file of the tree by its path. Undefined: missing. For encrypted files, which are no manifests. */
  read?(file: string): Promise<string | undefined>
  /** Objects of manifests that are not ours, by the path or the address that a declaration names (of several sources: its own). */
  objectsAt?(place: string, declaration?: Declaration): ObjectsAt | undefined
  /** The grant of a declaration's source, if it has one. */
  grantOf?(declaration: Declaration): Grant | undefined
  /** The grant for a key that could not be read. */
  unreadableOf?(key: ResourceKey): Grant | undefined
  /** Granted sources that could be read only in part. */
  readonly partlyRead?: readonly { readonly source: string; readonly names: readonly string[] }[]
  /** The place of this source, for records of who declared a resource. */
  readonly place?: string
  /** With several sources: the source of a declaration. */
  sourceOf?(declaration: Declaration): DeclaringSource | undefined
  /** The history of its sources; for one with a grant, limited to what it could have declared. */
  readonly logs?: readonly { readonly log: RevisionLog; mayHaveDeclared?(key: ResourceKey): boolean }[]
  /** The document that it stands in, as it was written. */
  text?(declaration: Declaration): string | undefined
  /** The place with the line at which the document begins, and the path to the object in it. */
  written?(declaration: Declaration): DocumentPlace | undefined
}

/** The expansion of late instances. */
export interface ExpandedInstances {
  readonly revision: Revision
  readonly waiting: readonly WaitingFor[]
  readonly reads: readonly WantedRead[]
}

/** Returns the revision with a change that is applied again to each result of `settle`. */
export function changedRevision(revision: Revision, change: (revision: Revision) => Revision): Revision {
  const { settle } = revision
  const next = change(revision)
  return settle === undefined ? next : { ...next, settle: (known) => changedRevision(settle(known), change) }
}

/** The history of the repository that a revision is from, as far as it is here. */
export interface RevisionLog {
  /** Commits along the branch, newest first, that changed how often a text stands in its files; any for an empty one. */
  mentioning(text: string, signal?: AbortSignal): Promise<readonly string[]>
  /** Returns the declarations of a commit and of its parent. Undefined: it is the first, or history ends there. */
  around(
    commit: string,
    signal?: AbortSignal,
  ): Promise<{ readonly before: Revision; readonly after: Revision } | undefined>
}

/** A file as its source provides it. Git knows the hash beforehand. */
export type SourceFile = { readonly path: string; readonly blob?: string } & (
  | { readonly bytes: Uint8Array }
  | { readonly refused: { readonly code: string; readonly message: string; readonly hint?: string } }
)
