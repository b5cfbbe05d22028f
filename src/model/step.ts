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
    | 'mark'
  /** One line for a person: `grow scsi0 to 50 GiB`. */
  readonly summary: string
  readonly lane: Lane
  readonly host: string
  /** What must not be used by two at once: `host/fun-bedbug`, `storage/fun-bedbug/local`. */
  readonly queues: readonly string[]
  readonly call: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
    readonly path: string
    readonly params: Readonly<Record<string, string>>
  }
  /** Names in `call.params` whose values must not be shown; the value there is a reference, resolved when sent. */
  readonly secretParams?: readonly string[]
  readonly disruption: 'none' | 'restart' | 'data-loss'
}
