import { inspect } from 'node:util'

/**
 * A value that must not be seen, printed or written down with what carries it. Every way of printing it gives `***`. A
 * class because JSON, template strings and util.inspect each ask the object itself.
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

/** A value that a server of secrets keeps. Which server and with which rights: whoever runs croft says, never a manifest. */
export type ServerReference =
  /** A key of a secret in Vault or OpenBao, of the engine KV version 2. */
  | { readonly vault: { readonly mount: string; readonly path: string; readonly key: string } }
  /** A field of an item in 1Password, through its Connect server. */
  | { readonly onePassword: { readonly vault: string; readonly item: string; readonly field: string } }

/** Where a secret's value is to be found. The value itself is never part of a declaration. */
export type SecretReference =
  | ServerReference
  | { readonly env: string }
  | { readonly file: string }
  /** A value in a file of the repository that sops has encrypted: `{file: secrets/pve.yaml, key: token}`. */
  | { readonly sops: { readonly file: string; readonly key: string } }
  /** `source`: only a Secret of that source is meant. */
  | {
      readonly secretRef: {
        readonly name: string
        readonly namespace?: string
        readonly key: string
        readonly source?: string
      }
    }

/** A text that must not be seen; only `reveal` at the point of use gives it. */
export class Secret extends Sealed<string> {}

/** Every reference to a secret in what is desired. A reference is an object of one key that says where it is found. */
export function referencesIn(value: unknown): readonly SecretReference[] {
  const found: SecretReference[] = []
  collect(value, found)
  return found
}

/** Into one list: all that thousands of machines declare passes here. */
function collect(value: unknown, found: SecretReference[]): void {
  if (value === null || typeof value !== 'object') return
  if (Array.isArray(value)) {
    for (const inner of value) collect(inner, found)
    return
  }
  const fields = value as Readonly<Record<string, unknown>>
  const names = Object.keys(fields)
  const [only] = names
  if (only !== undefined && names.length === 1 && isReference(only, fields[only])) found.push(value as SecretReference)
  else for (const name of names) collect(fields[name], found)
}

/**
 * The same, and whatever a place that is filled from a secret could be filled with, also where it is written as nobody
 * would: for those who ask whether somebody may have it.
 */
export function wantedSecrets(value: unknown): readonly SecretReference[] {
  return [...referencesIn(value), ...filledFrom(value)]
}

function filledFrom(value: unknown): readonly SecretReference[] {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]): readonly SecretReference[] => {
    const { env, file } = (name === 'valueFrom' && inner !== null ? inner : {}) as { env?: unknown; file?: unknown }
    return [
      ...(typeof env === 'string' ? [{ env }] : []),
      ...(typeof file === 'string' ? [{ file }] : []),
      ...filledFrom(inner),
    ]
  })
}

/** Is an object with this one field a reference to a secret? */
export function isReference(name: string, value: unknown): boolean {
  if (name === 'env') return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value)
  if (name === 'file') return typeof value === 'string' && /^~?\//.test(value)
  if (value === null || typeof value !== 'object') return false
  if (name === 'vault') return 'path' in value && 'key' in value
  if (name === 'onePassword') return 'item' in value && 'field' in value
  if (name === 'sops') return 'file' in value && 'key' in value
  return name === 'secretRef' && 'name' in value && 'key' in value
}

/** How a computer is reached over SSH. The host key is in Git: croft never trusts a key on first use. */
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
