import type { SecretReference } from './secret.ts'

/** How a computer is reached over SSH. The host key stands in Git: nothing is trusted because it was met first. */
export interface SshTarget {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly user: string
  /** `ssh-ed25519 AAAA…`, one or more lines. */
  readonly hostKeys: readonly string[]
  /** Without it the person's agent is asked. */
  readonly key?: SecretReference
  readonly jump?: SshTarget
  /** How the user becomes root: `none` when it is root. */
  readonly sudo: 'none' | 'passwordless' | { readonly password: SecretReference }
  /** croft itself runs on this computer: programs are started here, no connection is made. */
  readonly local?: boolean
}
