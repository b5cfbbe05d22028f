import { z } from 'zod'
import { foreignPattern, PatternRefused } from '../../lib/foreign-pattern.ts'

/** Rules that decide which values of a file are encrypted, by path. */
export interface SopsRules {
  readonly unencryptedSuffix?: string
  readonly encryptedSuffix?: string
  readonly unencryptedRegex?: string
  readonly encryptedRegex?: string
  readonly macOnlyEncrypted: boolean
}

/** The content of `sops` in a file: its recipients, and its MAC. */
export interface SopsMetadata {
  /** The data key, encrypted to each of these recipients. */
  readonly age: readonly { readonly recipient: string; readonly enc: string }[]
  readonly mac: string
  readonly lastModified: string
  readonly rules: SopsRules
}

/** Other key types of sops, with their names. */
const OTHER_KEYS: readonly (readonly [string, string])[] = [
  ['pgp', 'PGP'],
  ['kms', 'AWS KMS'],
  ['gcp_kms', 'Google Cloud KMS'],
  ['azure_kv', 'Azure Key Vault'],
  ['hc_vault', 'HashiCorp Vault Transit'],
]

const text = z.string().max(1000)
const schema = z.looseObject({
  age: z.array(z.looseObject({ recipient: z.string().max(5000), enc: z.string().max(100_000) })).nullish(),
  mac: text,
  lastmodified: text,
  unencrypted_suffix: text.nullish(),
  encrypted_suffix: text.nullish(),
  unencrypted_regex: text.nullish(),
  encrypted_regex: text.nullish(),
  unencrypted_comment_regex: text.nullish(),
  encrypted_comment_regex: text.nullish(),
  mac_only_encrypted: z.union([z.boolean(), z.enum(['true', 'false'])]).nullish(),
  shamir_threshold: z.coerce.number().nullish(),
  key_groups: z.array(z.unknown()).nullish(),
})

/** The metadata, or in one sentence why it cannot be used. */
export function readMetadata(value: unknown): SopsMetadata | string {
  if (value === undefined) return 'it is not encrypted with sops'
  const parsed = schema.safeParse(value)
  if (!parsed.success) return 'its sops section cannot be read'
  const { data } = parsed
  if ((data.key_groups?.length ?? 0) > 0 || (data.shamir_threshold ?? 0) > 1)
    return 'its key is divided among several groups, which croft does not read'
  if (data.unencrypted_comment_regex || data.encrypted_comment_regex)
    return 'comments in it say what is encrypted, which croft does not read'
  if ((data.age?.length ?? 0) === 0) {
    const other = OTHER_KEYS.find(([name]) => Array.isArray(data[name]) && data[name].length > 0)?.[1]
    return other === undefined
      ? 'it is not encrypted to any age key'
      : `it is encrypted to ${other}, which croft does not use: add an age key (sops rotate -i --add-age age1… FILE)`
  }
  for (const regex of [data.unencrypted_regex, data.encrypted_regex]) {
    if (regex && !isPattern(regex)) return 'its rule of what is encrypted cannot be read'
  }
  return {
    age: (data.age ?? []).map(({ recipient, enc }) => ({ recipient, enc })),
    mac: data.mac,
    lastModified: data.lastmodified,
    rules: {
      macOnlyEncrypted: data.mac_only_encrypted === true || data.mac_only_encrypted === 'true',
      ...(data.unencrypted_suffix ? { unencryptedSuffix: data.unencrypted_suffix } : {}),
      ...(data.encrypted_suffix ? { encryptedSuffix: data.encrypted_suffix } : {}),
      ...(data.unencrypted_regex ? { unencryptedRegex: data.unencrypted_regex } : {}),
      ...(data.encrypted_regex ? { encryptedRegex: data.encrypted_regex } : {}),
    },
  }
}

/** Reports whether the value at this path is encrypted. The last rule that is set decides. */
export function shouldBeEncrypted(path: readonly string[], rules: SopsRules): boolean {
  const { unencryptedSuffix, encryptedSuffix, unencryptedRegex, encryptedRegex } = rules
  let encrypted = true
  if (unencryptedSuffix !== undefined && path.some((name) => name.endsWith(unencryptedSuffix))) encrypted = false
  if (encryptedSuffix !== undefined) encrypted = path.some((name) => name.endsWith(encryptedSuffix))
  if (unencryptedRegex !== undefined) {
    const rule = foreignPattern(unencryptedRegex)
    if (path.some((name) => rule.finds(name))) encrypted = false
  }
  if (encryptedRegex !== undefined) {
    const rule = foreignPattern(encryptedRegex)
    encrypted = path.some((name) => rule.finds(name))
  }
  return encrypted
}

function isPattern(source: string): boolean {
  try {
    foreignPattern(source)
    return true
  } catch (error) {
    if (error instanceof PatternRefused) return false
    throw error
  }
}
