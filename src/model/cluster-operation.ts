import type { Lane } from './step.ts'

/**
 * Something that people ask for by command and that takes a whole cluster: a restore, a rotation. Its steps are data:
 * printed before anything happens, done one after the other, and each can be repeated.
 */
export interface ClusterOperation {
  readonly name: string
  readonly steps: readonly OperationStep[]
  /** Found before anything was touched: then nothing is. */
  readonly refusals: readonly { readonly reason: string; readonly allow: string }[]
  readonly warnings: readonly string[]
}

export type OperationVerb =
  /** Everything else stands still until the operation is over. */
  | 'hold'
  | 'release'
  | 'stop-k3s'
  | 'start-k3s'
  | 'restart-k3s'
  /** Tokens and config.yaml as they must be from now on. */
  | 'write-files'
  /** The password that opens the snapshot becomes the cluster's own again. */
  | 'take-password'
  | 'restore-snapshot'
  | 'forget-db'
  | 'delete-node'
  | 'snapshot'
  /** A new password is written down, before anybody uses it. */
  | 'make-password'
  | 'rotate-token'
  /** New CAs under the old roots, written down before anybody uses them. */
  | 'make-authorities'
  | 'rotate-ca'
  | 'rotate-keys'
  /** All certificates of one node made anew by the same CAs, while its K3s stands still. */
  | 'renew-certificates'
  | 'install-k3s'
  /** What an earlier drill left on the machine goes; anything else on it stays, and forbids the drill. */
  | 'clear-drill'
  | 'copy-snapshot'
  | 'write-drill-files'
  | 'compare-objects'
  | 'wipe-k3s'

export interface OperationStep {
  readonly do: OperationVerb
  readonly node?: string
  readonly lane: Lane
  readonly summary: string
  /** What is seen when it is done; the next step waits for it. */
  readonly awaits: string
  readonly until?: OperationGoal
  /** Path or name of a snapshot, hash of a password, release. */
  readonly target?: string
  /** Another node that it is taken from. */
  readonly from?: string
  /** Where it goes, where that is another path. */
  readonly to?: string
}

/** What a step waits for before the next one begins. */
export type OperationGoal =
  | 'stopped'
  | 'job-done'
  | 'api-answers'
  /** A voter of etcd, or as an agent a Node, and Ready. */
  | 'node-well'
  | 'nothing'

const DESTROYING: ReadonlySet<OperationVerb> = new Set(['restore-snapshot', 'forget-db', 'wipe-k3s'])

/** Nodes that lose what they hold: the one that starts over from a snapshot, and those whose data is deleted. Pure. */
export function destroyedBy({ steps }: Pick<ClusterOperation, 'steps'>): readonly string[] {
  return [...new Set(steps.flatMap(({ do: verb, node }) => (DESTROYING.has(verb) && node !== undefined ? [node] : [])))]
}
