/** What came of one attempt to perform a step. */
export type Outcome =
  | { readonly result: 'done' }
  | { readonly result: 'started'; readonly taskId: string }
  /** The request never reached the system: nothing happened. */
  | { readonly result: 'not-sent'; readonly message: string }
  /** It may have happened: look before doing anything again. */
  | { readonly result: 'unclear'; readonly message: string }
  | { readonly result: 'refused'; readonly refusal: Refusal }

/** A foreign error in our words: what it means for retrying. */
export interface Refusal {
  /** Stable word: `IdTaken`, `Locked`, `PermissionDenied`, `Unauthorized`, `DigestMismatch`, `NotFound`, `NoQuorum`… */
  readonly reason: string
  /** stalled: a person must act. waiting: nothing is wrong, look again. backoff: try again, each time later. */
  readonly meaning: 'stalled' | 'waiting' | 'backoff'
  /** What could not be done, to which thing, why, what to do. Already free of secrets and control characters. */
  readonly message: string
  /** True when the whole connection is affected (401, no quorum), not this one thing. */
  readonly connectionWide?: boolean
}
