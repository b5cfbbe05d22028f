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

/** Fields whose content is foreign: `labels: {env: production}` is no reference there. */
const FOREIGN: ReadonlySet<string> = new Set([
  'annotations',
  'environmentVariables',
  'labels',
  'objects',
  'userData',
  'values',
  'with',
])

/**
 * Returns the secrets that a manifest names, before its kind reads it, so that a grant's refusal can show the written
 * line. The kind's result is judged again, by type (`secretsOf`).
 */
export function writtenSecrets(value: unknown): readonly SecretReference[] {
  const found: SecretReference[] = []
  collect(value, found)
  return [...found, ...filledFrom(value)]
}

function collect(value: unknown, found: SecretReference[]): void {
  if (value === null || typeof value !== 'object') return
  if (Array.isArray(value)) {
    for (const inner of value) collect(inner, found)
    return
  }
  const fields = Object.entries(value)
  const [only] = fields
  if (only !== undefined && fields.length === 1 && isReference(...only)) found.push(value as SecretReference)
  else for (const [name, inner] of fields) if (!FOREIGN.has(name)) collect(inner, found)
}

/** Finds references in places for secrets, also in forms that no schema accepts. */
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

/** Reports whether an object with this one field has the shape of a reference to a secret. */
export function isReference(name: string, value: unknown): boolean {
  if (name === 'env') return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value)
  if (name === 'file') return typeof value === 'string' && /^~?\//.test(value)
  if (value === null || typeof value !== 'object') return false
  if (name === 'vault') return 'path' in value && 'key' in value
  if (name === 'onePassword') return 'item' in value && 'field' in value
  if (name === 'sops') return 'file' in value && 'key' in value
  return name === 'secretRef' && 'name' in value && 'key' in value
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
