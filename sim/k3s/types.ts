import type { Frozen } from '../kubernetes/store.ts'

export interface SnapshotContent {
  readonly id: string
  readonly frozen: Frozen
  readonly bootstrap: Bootstrap
  readonly atMs: number
  readonly bytes: number
  readonly tokenHash: string
  readonly version: string
  readonly encryption: Encryption
  readonly podCidrs: number
}

/** What servers share through the datastore, encrypted with the password of the token. */
export interface Bootstrap {
  readonly tokenHash: string
  /** Path below server/tls → PEM. */
  readonly files: ReadonlyMap<string, string>
  readonly password: string
  readonly agentPassword: string | undefined
}

export interface Encryption {
  readonly enabled: boolean
  readonly stage: string
  readonly hash: string
  readonly key: string
}

/** Where a start of K3s has got to. `removed`: put out of etcd and still running. */
export type Phase = 'starting' | 'supervisor' | 'waiting' | 'apiserver' | 'ready' | 'removed'

/** Something that must hold before K3s may start, and does not yet. */
export interface Gate {
  readonly name: string
  readonly message: string
  readonly sinceMs: number
}

export interface JournalLine {
  readonly atMs: number
  readonly level: string
  readonly message: string
}
