import { createDecipheriv, createHash, timingSafeEqual } from 'node:crypto'
import type { Node, Pair } from 'yaml'
import { LIMITS } from '../../lib/limits.ts'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { type SopsMetadata, type SopsRules, shouldBeEncrypted } from './sops-metadata.ts'

/** A SOPS file that cannot be used, and why. Never what is in it. */
export class SopsFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SopsFailed'
  }
}

/** A leaf or a branch of an encrypted file, in the order in which it is written: the order counts for the checksum. */
export type SopsTree =
  | SopsLeaf
  | { readonly map: readonly (readonly [string, SopsTree])[] }
  | { readonly list: readonly SopsTree[] }
type SopsLeaf = { readonly leaf: string | number | boolean | null; readonly written?: string }

/** A plain value of a decrypted file. */
export type SopsValue = string | number | boolean | null | readonly SopsValue[] | { readonly [key: string]: SopsValue }

/**
 * Decrypts the values of a file with its data key and checks its MAC over all of them, in order. Throws on any
 * mismatch: a plain value that should be encrypted, a value moved to another key, or a changed one.
 */
export function openTrees(trees: readonly SopsTree[], metadata: SopsMetadata, key: Uint8Array): readonly SopsValue[] {
  const hash = createHash('sha512')
  if (metadata.rules.macOnlyEncrypted) hash.update(createHash('sha256').update('sops').digest())
  const opened = trees.map((tree) => open(tree, [], { key, rules: metadata.rules, hash }))
  const expected = openText(metadata.mac, key, metadata.lastModified, 'the code of the file')
  const computed = hash.digest('hex').toUpperCase()
  const a = Buffer.from(String(expected.value))
  const b = Buffer.from(computed)
  if (a.length !== b.length || !timingSafeEqual(a, b))
    throw new SopsFailed('its code does not fit: it was changed without sops')
  return opened
}

interface Opening {
  readonly key: Uint8Array
  readonly rules: SopsRules
  readonly hash: { update(data: string | Uint8Array): unknown }
}

function open(tree: SopsTree, path: readonly string[], opening: Opening): SopsValue {
  if ('map' in tree) {
    const map: Record<string, SopsValue> = Object.create(null)
    for (const [name, value] of tree.map) map[name] = open(value, [...path, name], opening)
    return map
  }
  if ('list' in tree) return tree.list.flatMap((item) => openItem(item, path, opening))
  const [first = null] = openItem(tree, path, opening)
  return first
}

/** Opens one leaf. A comment that sops keeps as a list item is not part of the MAC. */
function openItem(tree: SopsTree, path: readonly string[], opening: Opening): readonly SopsValue[] {
  if (!('leaf' in tree)) return [open(tree, path, opening)]
  const { leaf } = tree
  if (leaf === null) return [null]
  if (!shouldBeEncrypted(path, opening.rules)) {
    if (!opening.rules.macOnlyEncrypted) opening.hash.update(bytesOf(leaf, tree.written))
    return [leaf]
  }
  if (leaf === '') return ['']
  const where = path.join('.')
  if (typeof leaf !== 'string') throw new SopsFailed(`${where} should be encrypted and is not`)
  const { value, type, bytes } = openText(leaf, opening.key, `${path.join(':')}:`, where)
  if (type === 'comment') return []
  opening.hash.update(type === 'bool' ? bytesOf(value) : bytes)
  return [value]
}

const ENCRYPTED =
  /^ENC\[AES256_GCM,data:([A-Za-z0-9+/=]*),iv:([A-Za-z0-9+/=]+),tag:([A-Za-z0-9+/=]+),type:(str|int|float|bool|bytes|comment|time)\]$/

function openText(text: string, key: Uint8Array, path: string, where: string) {
  const match = ENCRYPTED.exec(text)
  if (match === null) throw new SopsFailed(`${where} should be encrypted and is not`)
  const [, data = '', iv = '', tag = '', type = 'str'] = match
  const authentication = Buffer.from(tag, 'base64')
  // A short tag could be guessed.
  if (authentication.length !== 16) throw new SopsFailed(`${where} cannot be decrypted: its tag is cut`)
  let bytes: Buffer
  try {
    const cipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64'), { authTagLength: 16 })
    cipher.setAAD(Buffer.from(path, 'utf8'))
    cipher.setAuthTag(authentication)
    bytes = Buffer.concat([cipher.update(Buffer.from(data, 'base64')), cipher.final()])
  } catch {
    throw new SopsFailed(`${where} cannot be decrypted: it was changed, or moved here from another key`)
  }
  const plain = bytes.toString('utf8')
  const value =
    type === 'bool' ? plain === 'True' || plain === 'true' : type === 'int' || type === 'float' ? Number(plain) : plain
  return { value, type, bytes }
}

/** Returns a plain value in the form that sops counts in the MAC. */
function bytesOf(value: string | number | boolean, written?: string): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value).toString() : decimal(value)
  return written ?? value
}

/** Prints a number without an exponent, like Go. */
function decimal(value: number): string {
  const text = String(value)
  if (!text.includes('e')) return text
  return value.toFixed(20).replace(/0+$/, '')
}

/** Refuses deep nesting: the parser recurses once per level, so deep texts overflow the stack. */
function parsedOrRefused(text: string, library: ReturnType<typeof yamlLibrary>) {
  try {
    return library.parseAllDocuments(text, {
      version: '1.2',
      schema: 'core',
      uniqueKeys: true,
      merge: false,
      prettyErrors: false,
      logLevel: 'silent',
    })
  } catch {
    throw new SopsFailed('it cannot be read as YAML or JSON')
  }
}

/** The documents of a YAML or JSON text as trees, `sops` taken out and handed over beside them. */
export function treesOf(text: string): { readonly trees: readonly SopsTree[]; readonly metadata: unknown } {
  if (Buffer.byteLength(text) > LIMITS.fileBytes) throw new SopsFailed('it is too large')
  const library = yamlLibrary()
  const parsed = parsedOrRefused(text, library)
  if ('empty' in parsed) throw new SopsFailed('it is empty')
  let metadata: unknown
  const trees = parsed.flatMap((document) => {
    // The message of the reader would show lines of the file.
    if (document.errors.length > 0) throw new SopsFailed('it cannot be read as YAML or JSON')
    if (document.contents === null) return []
    if (!library.isMap(document.contents)) throw new SopsFailed('it is not a map of fields')
    const rest: Pair[] = []
    for (const pair of document.contents.items) {
      if (library.isScalar(pair.key) && pair.key.value === 'sops')
        metadata ??= library.isMap(pair.value) ? pair.value.toJS(document) : undefined
      else rest.push(pair)
    }
    return [{ map: rest.map(pairOf) }]
  })
  return { trees, metadata }
}

function pairOf(pair: Pair): readonly [string, SopsTree] {
  const key = yamlLibrary().isScalar(pair.key) ? pair.key.value : undefined
  if (typeof key !== 'string' || key === '__proto__') throw new SopsFailed('a key in it is not text')
  return [key, treeOf(pair.value as Node | null, 0)]
}

function treeOf(node: Node | null, depth: number): SopsTree {
  const { isMap, isScalar, isSeq } = yamlLibrary()
  if (depth > LIMITS.yamlDepth) throw new SopsFailed('it is too deep')
  if (node === null) return { leaf: null }
  if (isMap(node)) {
    return {
      map: node.items.map((pair) => {
        const key = isScalar(pair.key) ? pair.key.value : undefined
        if (typeof key !== 'string' || key === '__proto__') throw new SopsFailed('a key in it is not text')
        return [key, treeOf(pair.value as Node | null, depth + 1)] as const
      }),
    }
  }
  if (isSeq(node)) return { list: node.items.map((item) => treeOf(item as Node | null, depth + 1)) }
  if (!isScalar(node)) throw new SopsFailed('aliases are not read in an encrypted file')
  const { value } = node
  if (value === null || value === undefined) return { leaf: null }
  if (typeof value === 'bigint') return { leaf: Number(value) }
  if (typeof value === 'number' || typeof value === 'boolean') return { leaf: value }
  if (typeof value !== 'string') throw new SopsFailed('a value in it cannot be read')
  const text = value
  const time = node.type === 'PLAIN' ? timeOf(text) : undefined
  return time === undefined ? { leaf: text } : { leaf: text, written: time }
}

/** An unquoted date is a time to sops, and counted as one. */
function timeOf(text: string): string | undefined {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `${text}T00:00:00Z`
  return undefined
}
