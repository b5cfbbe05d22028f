import type { Sealed, SecretReference } from './secret.ts'

/** One effect on a host, as data: it is part of the step, so that the plan can show it. */
export type Command =
  | {
      readonly do: 'run'
      readonly argv: readonly string[]
      readonly input?: string
      /** Exit codes that mean success. Default: 0. */
      readonly ok?: readonly number[]
      readonly timeoutMs?: number
      /** Runs dpkg: it survives the caller's timeout, and first completes half-done work of an earlier run. */
      readonly packages?: true
    }
  | {
      readonly do: 'put'
      readonly path: string
      readonly content?: string
      readonly secret?: SecretReference
      readonly mode?: number
      readonly owner?: string
      readonly group?: string
    }
  | { readonly do: 'remove'; readonly path: string }
  /** Until `disarm`, the host reverts everything by itself after this many seconds, even if it is unreachable. */
  | { readonly do: 'arm'; readonly name: string; readonly seconds: number; readonly revert: readonly Command[] }
  /** A new connection must reach the host. */
  | { readonly do: 'prove' }
  | { readonly do: 'disarm'; readonly name: string }

/** A text that the host's storage keeps as a file; written if the existing one differs. */
export interface SnippetCommand {
  readonly do: 'put-snippet'
  readonly volume: string
  readonly sha256: string
  readonly mode: number
  readonly text: Sealed<string>
}

/** A call of a hypervisor's own client on the host about one object: one write, or a job that it starts. */
export interface ClientCommand {
  readonly do: 'make' | 'set' | 'delete'
  /** `/domains/{uuid}/start`; every part escaped. */
  readonly object: string
  readonly options: Readonly<Record<string, string>>
  /** Values of its definition, by their paths. */
  readonly values: Readonly<Record<string, unknown>>
}
