import type { Secret } from './secret.ts'

/**
 * What makes a cluster itself: kept encrypted, beside the store or in Git, and written down together with the name of
 * the first server before anything is started. With it a rebuilt cluster is the same cluster.
 */
export interface ClusterSecrets {
  readonly cluster: string
  /** Hash of the server CA, as in the K10 token. */
  readonly caHash: string
  readonly firstServer: string
  /** The first server has answered once. */
  readonly formed: boolean
  readonly recordedMs: number
  /** Path below server/tls → PEM. Private keys are among them. */
  readonly files: ReadonlyMap<string, Secret>
  /** Password of the server token. */
  readonly password: Secret
  /** Password of the agent token; agents then cannot join with the server's. */
  readonly agentPassword?: Secret
  /** Passwords that older snapshots still need, newest first. */
  readonly formerPasswords: readonly Secret[]
}

/** A record that is there and that nobody here can open; what to do about it stands in the message. */
export class RecordClosed extends Error {
  /** A copy in Git stays there whatever is recorded anew; the only record must not be written over. */
  readonly kept: 'vault' | 'escrow'

  constructor(place: string, why: string, kept: 'vault' | 'escrow') {
    super(
      `${place} is sealed: ${why}. If the key is lost for good, move the file away: croft then reads CA and token back from a server that runs`,
    )
    this.kept = kept
  }
}
