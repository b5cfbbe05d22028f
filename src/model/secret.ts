import { inspect } from 'node:util'

/**
 * A value that must not be displayed, printed or stored with its owner. Every way of printing gives `***`. A class,
 * because JSON, template strings and util.inspect each ask the object itself.
 */
export class Sealed<T> {
  readonly #value: T
  constructor(value: T) {
    this.#value = value
  }
  reveal(): T {
    return this.#value
  }
  toString(): string {
    return '***'
  }
  toJSON(): string {
    return '***'
  }
  [inspect.custom](): string {
    return '***'
  }
}

/** A value on a server of secrets. croft's operator configures the server and its rights, never a manifest. */
export type ServerReference =
  /** A key of a secret in Vault or OpenBao, of the engine KV version 2. */
  | { readonly vault: { readonly mount: string; readonly path: string; readonly key: string } }
  /** A field of an item in 1Password, through its Connect server. */
  | { readonly onePassword: { readonly vault: string; readonly item: string; readonly field: string } }

/** Where to find a secret's value. The value itself is never part of a declaration. */
export type SecretReference =
  | ServerReference
  | { readonly env: string }
  | { readonly file: string }
  /** A value in a sops-encrypted file of the repository: `{file: secrets/pve.yaml, key: token}`. */
  | { readonly sops: { readonly file: string; readonly key: string } }
  /** `source`: only a Secret of that source is valid. */
  | {
      readonly secretRef: {
        readonly name: string
        readonly namespace?: string
        readonly key: string
        readonly source?: string
      }
    }

/** A text that must not be shown. `reveal` returns it byte for byte at the point of use. */
export class Secret extends Sealed<string> {
  /** Returns the text without surrounding white space: token and password files often end with a newline. */
  word(): string {
    return this.reveal().trim()
  }
}

/** The way to a computer over SSH. The host key is in Git: croft never trusts a key on first use. */
export interface SshTarget {
  readonly name: string
  readonly address: string
  readonly port: number
  readonly user: string
  /** `ssh-ed25519 AAAA…`, one or more lines. */
  readonly hostKeys: readonly string[]
  /** Default: the person's SSH agent. */
  readonly key?: SecretReference
  readonly jump?: SshTarget
  /** How the user becomes root: `none` if it is root. */
  readonly sudo: 'none' | 'passwordless' | { readonly password: SecretReference }
  /** croft runs on this computer: it starts programs here, without a connection. */
  readonly local?: boolean
}
