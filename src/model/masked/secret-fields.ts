import { namesSecret } from './secret-name.ts'
import { isPlaceholder } from './secret-text.ts'

/** A field of a mapping, for the rules below. */
export interface JudgedField {
  readonly name: string
  /** The name of the field that contains the mapping, or the list around it. */
  readonly parent: string
  /** The text of a sibling field in the same mapping, if it is a single text. */
  sibling(name: string): string | undefined
}

/** The hidden part of a field: nothing, a plain value or list, or everything below it. */
export type Hidden = 'none' | 'plain' | 'all'

const NAME_FIELDS = ['name', 'key', 'variable', 'parameter', 'header', 'option'] as const
const VALUE_FIELDS: ReadonlySet<string> = new Set(['value', 'default', 'values'])
const FILE_FIELDS = ['path', 'filename', 'file', 'dest', 'name'] as const
const CONTENT_FIELDS: ReadonlySet<string> = new Set(['content', 'contents', 'inline', 'text'])
const SECRET_FILE =
  /(?:^|\/)(?:\.?pgpass|\.?netrc|\.?htpasswd|\.my\.cnf|shadow|id_(?:rsa|ed25519|ecdsa)|[^/]*\.key|[^/]*\.pem)$/
/** A reference to a secret contains names, also under `key`. */
const REFERENCE = /(?:Ref|Reference|From|Selector)$|^(?:sops|vault|onePassword)$/

/** Forms of a secret as a mapping: `password: {value: x}`, `passwords: {anna: x}`. `secrets` are often objects. */
const SINGLE = /passw|passphrase|token|key/i
const INSIDE = /^(?:env|file|name|namespace|key|field|item|path|mount|source|kind|type|user|username|id|\w*Name)$/

/** People choose the names inside, so they are no fields. */
const LABELS = /^(?:labels|matchLabels|nodeSelector)$/

/** Judges one field by its name, its parent and its siblings. Pure. */
export function hiddenOf({ name, parent, sibling }: JudgedField): Hidden {
  if (/^(?:data|stringData|binaryData)$/.test(name) && sibling('kind') === 'Secret') return 'all'
  if (parent === 'chpasswd' && name === 'list') return 'all'
  if (namesSecret(name)) return REFERENCE.test(parent) || LABELS.test(parent) ? 'none' : 'plain'
  if (namesSecret(parent) && SINGLE.test(parent) && !INSIDE.test(name)) return 'plain'
  if (VALUE_FIELDS.has(name) && NAME_FIELDS.some((one) => namesSecret(sibling(one) ?? ''))) return 'plain'
  if (CONTENT_FIELDS.has(name) && FILE_FIELDS.some((one) => isSecretFile(sibling(one) ?? ''))) return 'all'
  if (name === 'key' && !REFERENCE.test(parent) && isOpaque(sibling('key') ?? '')) return 'plain'
  return 'none'
}

function isSecretFile(path: string): boolean {
  return SECRET_FILE.test(path) || namesSecret(path.slice(path.lastIndexOf('/') + 1).replace(/\.[a-z]{1,5}$/, ''))
}

/** Reports whether a value looks like a key: long, of letters and digits, without dots and slashes. */
function isOpaque(value: string): boolean {
  return /^[A-Za-z0-9+=_-]{16,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value)
}

/** Reports whether a value under a secret name is secret: switches, empty values and placeholders are not. */
export function isSecretValue(value: unknown): boolean {
  if (typeof value === 'string') return !isPlaceholder(value)
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Reports whether the item after this one in a list of arguments is a secret: `["--password", "hunter2"]`. */
export function announcesSecret(item: unknown): boolean {
  return typeof item === 'string' && /^--?[A-Za-z][\w-]*$/.test(item) && namesSecret(item)
}
