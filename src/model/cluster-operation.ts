import type { OperationVerb, Step } from './step.ts'

/**
 * Something that people ask for by command and that takes a whole cluster: a restore, a rotation. Its steps are data:
 * printed before anything happens, done one after the other, and each can be repeated.
 */
export interface ClusterOperation {
  readonly name: string
  readonly steps: readonly Step<'operation'>[]
  /** Found before anything was touched: then nothing is. */
  readonly refusals: readonly { readonly reason: string; readonly allow: string }[]
  readonly warnings: readonly string[]
  /** It destroys what lives, so a yes is not enough: a person names the cluster. */
  readonly naming?: { readonly cluster: string; readonly reason: string; readonly allow: string }
}

const DESTROYING: ReadonlySet<OperationVerb> = new Set(['restore-snapshot', 'forget-db', 'wipe-k3s'])

/** Nodes that lose what they hold: the one that starts over from a snapshot, and those whose data is deleted. Pure. */
export function destroyedBy({ steps }: Pick<ClusterOperation, 'steps'>): readonly string[] {
  return [...new Set(steps.flatMap(({ verb, node }) => (DESTROYING.has(verb) && node !== undefined ? [node] : [])))]
}
