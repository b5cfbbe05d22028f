import type { ResourceKey } from './key.ts'
import type { Policy } from './policy.ts'

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
