import type { Sealed } from './sealed.ts'
import type { SeedDocument } from './seed.ts'

/** The way an operation reaches its target. */
export type Lane = 'api-token' | 'guest-agent' | 'ssh' | 'kubernetes' | 'local'

/** One call to an outside system, as data. The plan prints it and the engine performs it: they cannot differ. */
export interface Step {
  readonly verb:
    | 'create'
    | 'configure'
    | 'resize'
    | 'start'
    | 'shutdown'
    | 'stop'
    | 'reboot'
    | 'template'
    | 'delete'
    | 'download'
    | 'verify'
    | 'move'
    | 'mark'
    /** Of the disc with a seed: onto a storage, into the drive, out of it, off the storage. */
    | 'upload'
    | 'insert'
    | 'eject'
    | 'discard'
  /** One line for a person: `grow scsi0 to 50 GiB`. */
  readonly summary: string
  readonly lane: Lane
  readonly host: string
  /** What must not be used by two at once: `host/fun-bedbug`, `storage/fun-bedbug/local`. */
  readonly queues: readonly string[]
  readonly call: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    readonly path: string
    readonly params: Readonly<Record<string, string>>
  }
  /** Names in `call.params` whose values must not be shown; the value there is a reference, resolved when sent. */
  readonly secretParams?: readonly string[]
  /**
   * A file that goes with the call. It is built when the call is made, secrets and all; `bytes` is its size with their
   * references in their place.
   */
  readonly upload?: {
    readonly fileName: string
    readonly bytes: number
    readonly hash: string
    readonly document: Sealed<SeedDocument>
  }
  /** A text that is written over the SSH lane where the one that is there differs; its hash and size are in `call`. */
  readonly text?: Sealed<string>
  /** What the system's task names as its subject, where that is not the thing itself: of a clone it is the source. */
  readonly taskSubject?: string
  /** What is known, and kept in the record's details, once it has succeeded, or has failed for that reason. */
  readonly learns?: {
    readonly done: Readonly<Record<string, string>>
    readonly failed?: { readonly reason: string; readonly facts: Readonly<Record<string, string>> }
  }
  readonly disruption: 'none' | 'restart' | 'data-loss'
}
