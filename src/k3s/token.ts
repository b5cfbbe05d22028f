import { createHash, X509Certificate } from 'node:crypto'

/** The parts of a token. Its passwords are secrets: keep it in a Secret. */
export interface K3sToken {
  /** Undefined for a short token, which trusts any CA. croft never hands one out. */
  readonly caHash?: string
  readonly credentials:
    | { readonly user: string; readonly password: string }
    /** A bootstrap token, for agents only. */
    | { readonly id: string; readonly secret: string }
}

export type TokenProblem = 'token must not be empty' | 'invalid token format' | 'invalid token CA hash length'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g
const BOOTSTRAP = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const HASH_DIGITS = 64

/**
 * The hash of a CA as K3s computes it. One certificate: of the file's bytes, so its last newline counts. Several: of
 * the root that the first one leads to, or of the whole file when no chain holds at `nowMs` (expiry breaks it too).
 */
export function caHash(file: Uint8Array, nowMs: number): string {
  const certificates = (Buffer.from(file).toString('latin1').match(CERTIFICATE) ?? []).map(
    (pem) => new X509Certificate(pem),
  )
  const [leaf, ...others] = certificates
  if (leaf === undefined) throw new Error('the CA file holds no certificate')
  if (others.length === 0) return sha256(file)
  const root = isCurrent(leaf, nowMs) ? rootOf(leaf, others, nowMs) : undefined
  return sha256(root === undefined ? file : root.raw)
}

/** `K10<hash>::server:<password>`, or with an id and a secret `K10<hash>::abcdef.0123456789abcdef`. */
export function formatToken(token: K3sToken & { readonly caHash: string }): string {
  const { credentials } = token
  const text =
    'id' in credentials ? `${credentials.id}.${credentials.secret}` : `${credentials.user}:${credentials.password}`
  return `K10${token.caHash}::${text}`
}

/** Reads a token in the words in which K3s refuses one. */
export function parseToken(text: string): K3sToken | { readonly problem: TokenProblem } {
  const trimmed = text.trim()
  if (trimmed === '') return { problem: 'token must not be empty' }
  if (!trimmed.startsWith('K10')) return shortToken(trimmed)
  const at = trimmed.indexOf('::')
  if (at < 0) return { problem: 'invalid token format' }
  const [hash, rest] = [trimmed.slice(3, at), trimmed.slice(at + 2)]
  const credentials = credentialsOf(rest)
  if (credentials === undefined) return { problem: 'invalid token format' }
  if (hash.length !== HASH_DIGITS) return { problem: 'invalid token CA hash length' }
  return { caHash: hash, credentials }
}

/** Returns the hash that snapshots and bootstrap data are stored under: a token with another cannot open them. */
export function tokenHash(password: string): string {
  return sha256(Buffer.from(password)).slice(0, 12)
}

function shortToken(text: string): K3sToken {
  const bootstrap = BOOTSTRAP.exec(text)
  if (bootstrap !== null) return { credentials: { id: bootstrap[1] ?? '', secret: bootstrap[2] ?? '' } }
  return { credentials: { user: '', password: text } }
}

function credentialsOf(text: string): K3sToken['credentials'] | undefined {
  const bootstrap = BOOTSTRAP.exec(text)
  if (bootstrap !== null) return { id: bootstrap[1] ?? '', secret: bootstrap[2] ?? '' }
  const at = text.indexOf(':')
  if (at < 0 || at === text.length - 1) return undefined
  return { user: text.slice(0, at), password: text.slice(at + 1) }
}

/** The root of the first chain that holds. */
function rootOf(leaf: X509Certificate, others: readonly X509Certificate[], nowMs: number): X509Certificate | undefined {
  const roots = others.filter(isRoot)
  const between = others.filter((certificate) => !isRoot(certificate))
  const signs = (child: X509Certificate, parent: X509Certificate) =>
    parent.ca && child.issuer === parent.subject && isCurrent(parent, nowMs) && child.verify(parent.publicKey)
  const climb = (child: X509Certificate, seen: readonly X509Certificate[]): X509Certificate | undefined => {
    const root = roots.find((candidate) => signs(child, candidate))
    if (root !== undefined) return root
    for (const parent of between) {
      if (seen.includes(parent) || !signs(child, parent)) continue
      const found = climb(parent, [...seen, parent])
      if (found !== undefined) return found
    }
    return undefined
  }
  return climb(leaf, [leaf])
}

/** Reports whether the certificate is a root: its authority key id is absent or its own. */
function isRoot(certificate: X509Certificate): boolean {
  const authority = keyId(certificate, AUTHORITY_KEY)
  return authority === '' || authority === keyId(certificate, SUBJECT_KEY)
}

const SUBJECT_KEY = 0x0e
const AUTHORITY_KEY = 0x23

/** Returns the key id in an extension 2.5.29.x, in hex; empty if there is none. Node does not offer these two. */
function keyId(certificate: X509Certificate, last: number): string {
  const der = certificate.raw
  const at = der.indexOf(Buffer.from([0x06, 0x03, 0x55, 0x1d, last]))
  // After the object id comes an octet string with the value; neither extension is ever critical.
  if (at < 0 || der[at + 5] !== 0x04) return ''
  const value = at + 7
  if (last === SUBJECT_KEY) return bytesAt(der, value)
  // A sequence whose first part, tag 0, is the key id.
  return der[value + 2] === 0x80 ? bytesAt(der, value + 2) : ''
}

function bytesAt(der: Uint8Array, at: number): string {
  return Buffer.from(der.subarray(at + 2, at + 2 + (der[at + 1] ?? 0))).toString('hex')
}

function isCurrent(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime()
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
