import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { armor, Encrypter } from 'age-encryption'
import { defined } from '../../lib/defined.ts'

/** The content of a SOPS file: maps keep their order, lists and leaves as in JSON. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain }

export interface WriteOptions {
  readonly recipients: readonly string[]
  readonly encryptedRegex?: string
  readonly unencryptedSuffix?: string
  readonly macOnlyEncrypted?: boolean
}

const LAST = '2026-01-02T03:04:05Z'

/**
 * Writes a SOPS file from the format's description, independently of the reader: values with AES-GCM bound to their
 * path, a MAC over all of them, the key encrypted to each recipient with age.
 */
export async function encryptTree(
  tree: Readonly<Record<string, Plain>>,
  options: WriteOptions,
): Promise<{ readonly tree: Readonly<Record<string, Plain>>; readonly sops: Readonly<Record<string, unknown>> }> {
  const key = randomBytes(32)
  const hash = createHash('sha512')
  const only = options.macOnlyEncrypted === true
  if (only) hash.update(Buffer.from('8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69', 'hex'))
  const walk = (value: Plain, path: readonly string[]): Plain => {
    if (value === null) return null
    if (Array.isArray(value)) return value.map((item: Plain) => walk(item, path))
    if (typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, [...path, name])]))
    const secret = isSecret(path, options)
    const text = typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value)
    if (secret || !only) hash.update(text)
    return secret ? seal(text, key, `${path.join(':')}:`, typeOf(value as string | number | boolean)) : value
  }
  const sealed = walk(tree, []) as Readonly<Record<string, Plain>>
  const mac = seal(hash.digest('hex').toUpperCase(), key, LAST, 'str')
  const age = await Promise.all(
    options.recipients.map(async (recipient) => ({ recipient, enc: await toRecipient(key, recipient) })),
  )
  return {
    tree: sealed,
    sops: {
      age,
      lastmodified: LAST,
      mac,
      ...defined({ encrypted_regex: options.encryptedRegex, unencrypted_suffix: options.unencryptedSuffix }),
      ...(only ? { mac_only_encrypted: true } : {}),
      version: '3.13.3',
    },
  }
}

export async function sopsJson(tree: Readonly<Record<string, Plain>>, options: WriteOptions): Promise<string> {
  const written = await encryptTree(tree, options)
  return JSON.stringify({ ...written.tree, sops: written.sops }, undefined, 2)
}

/** JSON is YAML: only the layout differs. Written by hand, so that the reader's library has no part in it. */
export async function sopsYaml(tree: Readonly<Record<string, Plain>>, options: WriteOptions): Promise<string> {
  const written = await encryptTree(tree, options)
  return `# a comment\n${lines({ ...written.tree, sops: written.sops as Plain }, 0)}`
}

export async function sopsDotenv(values: Readonly<Record<string, string>>, options: WriteOptions): Promise<string> {
  const { tree, sops } = await encryptTree(values, options)
  const flat = Object.entries(tree).map(([name, value]) => `${name}=${value as string}`)
  const { age, ...rest } = sops as { readonly age: readonly { readonly recipient: string; readonly enc: string }[] }
  for (const [index, { recipient, enc }] of age.entries()) {
    flat.push(
      `sops_age__list_${index}__map_enc=${enc.replaceAll('\n', '\\n')}`,
      `sops_age__list_${index}__map_recipient=${recipient}`,
    )
  }
  for (const [name, value] of Object.entries(rest)) flat.push(`sops_${name}=${String(value)}`)
  return `${flat.join('\n')}\n`
}

function lines(value: Plain, indent: number): string {
  const pad = ' '.repeat(indent)
  return Object.entries(value as Readonly<Record<string, Plain>>)
    .map(([name, item]) => {
      if (item !== null && typeof item === 'object' && !Array.isArray(item))
        return `${pad}${name}:\n${lines(item, indent + 4)}`
      return `${pad}${name}: ${JSON.stringify(item)}\n`
    })
    .join('')
}

function isSecret(path: readonly string[], { encryptedRegex, unencryptedSuffix }: WriteOptions): boolean {
  if (encryptedRegex !== undefined) return path.some((name) => new RegExp(encryptedRegex).test(name))
  return !(unencryptedSuffix !== undefined && path.some((name) => name.endsWith(unencryptedSuffix)))
}

function typeOf(value: string | number | boolean): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'str'
  return Number.isInteger(value) ? 'int' : 'float'
}

function seal(text: string, key: Uint8Array, path: string, type: string): string {
  if (text === '') return ''
  const iv = randomBytes(32)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(path))
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  const tag = cipher.getAuthTag()
  return `ENC[AES256_GCM,data:${data.toString('base64')},iv:${iv.toString('base64')},tag:${tag.toString('base64')},type:${type}]`
}

async function toRecipient(key: Uint8Array, recipient: string): Promise<string> {
  const encrypter = new Encrypter()
  encrypter.addRecipient(recipient)
  return armor.encode(await encrypter.encrypt(key))
}
