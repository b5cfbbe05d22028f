import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import { type CredentialFile, credentialFile } from './credential-file.ts'
import { SCOPES, type Scope } from './roles.ts'
import { fingerprintOf, sameSecret, unguessable } from './unguessable.ts'

const token = z.strictObject({
  id: z.string(),
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  scopes: z.array(z.enum(SCOPES)).min(1).readonly(),
  createdMs: z.number(),
  expiresMs: z.number(),
  /** SHA-256 of the secret half. The token itself is shown once and kept nowhere. */
  hash: z.string(),
})
const file = z.strictObject({ tokens: z.array(token).max(LIMITS.apiTokens).readonly() })

export type ApiToken = z.output<typeof token>
export type TokensFile = CredentialFile<z.output<typeof file>>

export function tokensFile(path: string): TokensFile {
  return credentialFile(path, file, { tokens: [] })
}

export interface NewToken {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly nowMs: number
  readonly expiresMs: number
}

/** The token as its owner must keep it: it cannot be shown again. */
export async function createToken(tokens: TokensFile, wanted: NewToken): Promise<string> {
  const id = unguessable(6).replace(/[_-]/g, 'x')
  const secret = unguessable()
  await tokens.change(({ tokens: before }) => {
    if (before.some((one) => one.name === wanted.name))
      throw new Error(`There is a token named ${wanted.name}. Revoke it first, or take another name.`)
    const { nowMs, ...rest } = wanted
    return { tokens: [...before, { id, ...rest, createdMs: nowMs, hash: fingerprintOf(secret) }] }
  })
  return `croft_${id}_${secret}`
}

/** Revokes by name or by id. Returns false if there is none. */
export async function revokeToken(tokens: TokensFile, which: string): Promise<boolean> {
  const is = (one: ApiToken) => one.name === which || one.id === which
  if (!(await tokens.read()).tokens.some(is)) return false
  await tokens.change(({ tokens: before }) => ({ tokens: before.filter((one) => !is(one)) }))
  return true
}

/** Returns the holder of this token, or why it is refused. */
export async function judgeToken(
  tokens: TokensFile,
  given: string,
  nowMs: number,
): Promise<ApiToken | 'unknown' | 'expired'> {
  const [, id, secret] = /^croft_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})$/.exec(given) ?? []
  if (id === undefined || secret === undefined) return 'unknown'
  const found = (await tokens.read()).tokens.find((one) => one.id === id)
  if (found === undefined || !sameSecret(found.hash, fingerprintOf(secret))) return 'unknown'
  return found.expiresMs <= nowMs ? 'expired' : found
}
