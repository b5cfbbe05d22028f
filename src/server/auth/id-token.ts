import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'

/** Only these. `none` and the symmetric ones are how such checks have been walked around. */
const ALGORITHMS = {
  RS256: { kty: 'RSA', hash: 'sha256', crv: undefined },
  ES256: { kty: 'EC', hash: 'sha256', crv: 'P-256' },
} as const
type TokenAlgorithm = keyof typeof ALGORITHMS

const header = z.looseObject({ alg: z.string(), kid: z.string().optional(), crit: z.unknown().optional() })
const claims = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1),
  aud: z.union([z.string(), z.array(z.string())]),
  azp: z.string().optional(),
  exp: z.number(),
  iat: z.number(),
  nbf: z.number().optional(),
  nonce: z.string().optional(),
})
export type Claims = z.output<typeof claims>

export const keySet = z.looseObject({
  keys: z.array(
    z.looseObject({
      kty: z.string(),
      kid: z.string().optional(),
      use: z.string().optional(),
      alg: z.string().optional(),
      crv: z.string().optional(),
    }),
  ),
})
export type KeySet = z.output<typeof keySet>

export interface ExpectedClaims {
  readonly issuer: string
  readonly clientId: string
  readonly nonce: string
  readonly nowMs: number
}

export type IdTokenVerdict =
  | { readonly ok: true; readonly claims: Claims }
  /** `unknown-key`: the issuer may have a new one, so its keys are asked for once more. */
  | { readonly ok: false; readonly reason: string; readonly unknownKey?: boolean }

/** Is this token really of that issuer, for us, for this login, and still valid? Everything else is refused. */
export function judgeIdToken(token: string, keys: KeySet, expected: ExpectedClaims): IdTokenVerdict {
  const parts = token.split('.')
  const [head, body, signature] = parts
  if (parts.length !== 3 || head === undefined || body === undefined || signature === undefined)
    return no('it is not a signed token')
  const parsedHead = header.safeParse(decode(head))
  if (!parsedHead.success) return no('its header cannot be read')
  const { alg, kid, crit } = parsedHead.data
  if (!isAlgorithm(alg)) return no(`its algorithm ${alg.slice(0, 20)} is not accepted`)
  if (crit !== undefined) return no('it demands an extension that croft does not know')
  const key = findKey(keys, alg, kid)
  if (key === undefined) return { ok: false, reason: 'no key of the issuer fits it', unknownKey: true }
  if (!verifies(`${head}.${body}`, signature, alg, key)) return no('its signature is wrong')
  const parsed = claims.safeParse(decode(body))
  if (!parsed.success) return no('its claims cannot be read')
  return judgeClaims(parsed.data, expected)
}

function judgeClaims(it: Claims, { issuer, clientId, nonce, nowMs }: ExpectedClaims): IdTokenVerdict {
  const audiences = typeof it.aud === 'string' ? [it.aud] : it.aud
  if (it.iss !== issuer) return no('it is from another issuer')
  if (!audiences.includes(clientId)) return no('it is meant for another audience')
  if (audiences.length > 1 && it.azp !== clientId) return no('it was issued to another party')
  if (it.azp !== undefined && it.azp !== clientId) return no('it was issued to another party')
  if (it.exp * 1000 + LIMITS.clockSkewMs <= nowMs) return no('it has expired')
  if (it.iat * 1000 - LIMITS.clockSkewMs > nowMs) return no('it is from the future')
  if (it.nbf !== undefined && it.nbf * 1000 - LIMITS.clockSkewMs > nowMs) return no('it is not valid yet')
  if (it.nonce !== nonce) return no('it belongs to another login')
  return { ok: true, claims: it }
}

function no(reason: string): IdTokenVerdict {
  return { ok: false, reason }
}

function isAlgorithm(text: string): text is TokenAlgorithm {
  return Object.hasOwn(ALGORITHMS, text)
}

/** The type of the key must be that of the algorithm: a public RSA key must never serve as something else. */
function findKey(keys: KeySet, alg: TokenAlgorithm, kid: string | undefined): KeyObject | undefined {
  const { kty, crv } = ALGORITHMS[alg]
  const fitting = keys.keys.filter(
    (key) =>
      key.kty === kty &&
      (crv === undefined || key.crv === crv) &&
      (key.use === undefined || key.use === 'sig') &&
      (key.alg === undefined || key.alg === alg) &&
      (kid === undefined || key.kid === kid),
  )
  const [only] = fitting
  if (only === undefined || (kid === undefined && fitting.length > 1)) return undefined
  try {
    return createPublicKey({ key: only as JsonWebKey, format: 'jwk' })
  } catch {
    return undefined
  }
}

function verifies(signed: string, signature: string, alg: TokenAlgorithm, key: KeyObject): boolean {
  const { hash, kty } = ALGORITHMS[alg]
  const options = kty === 'EC' ? { key, dsaEncoding: 'ieee-p1363' as const } : { key }
  try {
    return verify(hash, Buffer.from(signed), options, Buffer.from(signature, 'base64url'))
  } catch {
    return false
  }
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
