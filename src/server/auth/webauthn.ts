import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { LIMITS } from '../../lib/limits.ts'
import { sameSecret } from './unguessable.ts'

/*
 * The judgements of WebAuthn level 2 (sections 7.1 and 7.2) for attestation "none". A browser hands out the public key
 * as SPKI and the authenticator data by itself, so that nothing here reads CBOR: what comes after the id of a new key,
 * and after the 37 fixed bytes of an answer, is covered by a signature or worth nothing, and is not looked at.
 */

/** ECDSA on P-256, Ed25519, RSA with PKCS #1: what authenticators make. The numbers are COSE's. */
export const ALGORITHMS = [-7, -8, -257] as const
export type KeyAlgorithm = (typeof ALGORITHMS)[number]

/** What the server asked for, and where the page is that asked. */
export interface KeyChallenge {
  readonly challenge: string
  /** As browsers write it: `https://croft.lan`. */
  readonly origin: string
  readonly rpId: string
}

/** A key that can be asked. */
export interface Registered {
  readonly publicKey: string
  readonly algorithm: KeyAlgorithm
  readonly signCount: number
}

/** What a browser sends of a new key; everything in base64url. */
export interface NewKey {
  readonly id: string
  readonly clientData: string
  readonly authenticatorData: string
  readonly publicKey: string
  readonly algorithm: number
}

/** What a browser sends of a key that was asked. */
export interface KeyAssertion {
  readonly id: string
  readonly clientData: string
  readonly authenticatorData: string
  readonly signature: string
}

/** Why it does not count, for the audit log; it holds nothing of what was sent. */
export interface Refused {
  readonly refused: string
}

const RP_HASH_BYTES = 32
const FIXED_BYTES = 37
const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const MAY_BE_COPIED = 0x08
const IS_COPIED = 0x10
const HAS_KEY = 0x40
const HAS_EXTENSIONS = 0x80

/** Takes a new key, or says why not. Pure. */
export function judgeNewKey(given: NewKey, asked: KeyChallenge): Registered | Refused {
  const wrong = judgeClientData(given.clientData, 'webauthn.create', asked)
  if (wrong !== undefined) return wrong
  const data = bytesOf(given.authenticatorData)
  if (data === undefined) return refuse('authenticator data in base64url')
  const facts = judgeData(data, asked.rpId)
  if ('refused' in facts) return facts
  if ((facts.flags & HAS_KEY) === 0) return refuse('a key in the authenticator data')
  // After the fixed part: 16 bytes that name the model, the length of the id, the id, the key itself.
  const idAt = FIXED_BYTES + 18
  const idLength = data.length < idAt ? 0 : data.readUInt16BE(idAt - 2)
  const id = bytesOf(given.id)
  if (idLength < 1 || idLength > LIMITS.securityKeyIdBytes || data.length <= idAt + idLength)
    return refuse('an id in the authenticator data')
  if (id === undefined || !data.subarray(idAt, idAt + idLength).equals(id)) return refuse('the same id twice')
  const algorithm = ALGORITHMS.find((one) => one === given.algorithm)
  if (algorithm === undefined || keyOf(given.publicKey, algorithm) === undefined)
    return refuse('a public key of a known kind')
  return { publicKey: given.publicKey, algorithm, signCount: facts.signCount }
}

/** Did this key sign what was asked of it, here and now, with its owner at it? Answers its new count. Pure. */
export function judgeAnswer(
  given: KeyAssertion,
  key: Registered,
  asked: KeyChallenge,
): { readonly signCount: number } | Refused {
  const wrong = judgeClientData(given.clientData, 'webauthn.get', asked)
  if (wrong !== undefined) return wrong
  const [data, client, signature] = [given.authenticatorData, given.clientData, given.signature].map(bytesOf)
  const publicKey = keyOf(key.publicKey, key.algorithm)
  if (data === undefined || client === undefined || signature === undefined || publicKey === undefined)
    return refuse('base64url')
  const facts = judgeData(data, asked.rpId)
  if ('refused' in facts) return facts
  if ((facts.flags & HAS_KEY) !== 0) return refuse('an answer and not a new key')
  if ((facts.flags & HAS_EXTENSIONS) === 0 && data.length !== FIXED_BYTES) return refuse('nothing after the fixed part')
  const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
  if (!isSigned(key.algorithm, signed, publicKey, signature)) return refuse('a signature of this key')
  // A key that counts has counted on. An old number is a copy of the key, or an answer that somebody kept.
  const counts = facts.signCount !== 0 || key.signCount !== 0
  if (counts && facts.signCount <= key.signCount) return refuse('a count that goes up')
  return { signCount: facts.signCount }
}

function judgeClientData(given: string, type: string, { challenge, origin }: KeyChallenge): Refused | undefined {
  const bytes = bytesOf(given)
  if (bytes === undefined) return refuse('client data in base64url')
  let data: unknown
  try {
    data = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return refuse('client data in JSON')
  }
  if (typeof data !== 'object' || data === null) return refuse('client data')
  const client = data as Readonly<Record<string, unknown>>
  if (client.type !== type) return refuse(`the type ${type}`)
  if (typeof client.challenge !== 'string' || !sameSecret(client.challenge, challenge)) return refuse('this challenge')
  if (client.origin !== origin) return refuse('the origin of this page')
  if (client.crossOrigin !== undefined && client.crossOrigin !== false)
    return refuse('a page that is not inside another')
  if (client.topOrigin !== undefined) return refuse('a page that is not inside another')
  return undefined
}

function judgeData(data: Buffer, rpId: string): { readonly flags: number; readonly signCount: number } | Refused {
  if (data.length < FIXED_BYTES) return refuse('37 bytes of authenticator data')
  if (!data.subarray(0, RP_HASH_BYTES).equals(createHash('sha256').update(rpId).digest()))
    return refuse('the name of this page')
  const flags = data.readUInt8(RP_HASH_BYTES)
  if ((flags & USER_PRESENT) === 0) return refuse('somebody who touches the key')
  // Whoever finds a browser signed in often finds the key in it: the key itself asks for a PIN or a finger.
  if ((flags & USER_VERIFIED) === 0) return refuse('a PIN or a finger')
  if ((flags & IS_COPIED) !== 0 && (flags & MAY_BE_COPIED) === 0) return refuse('flags that fit together')
  return { flags, signCount: data.readUInt32BE(RP_HASH_BYTES + 1) }
}

function isSigned(algorithm: KeyAlgorithm, signed: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify(algorithm === -8 ? null : 'sha256', signed, key, signature)
  } catch {
    return false
  }
}

/** The key, if it is of the kind that its algorithm says: the same bytes must never count under another. */
function keyOf(spki: string, algorithm: KeyAlgorithm): KeyObject | undefined {
  const der = bytesOf(spki)
  if (der === undefined) return undefined
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
    const fits = {
      [-7]: key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1',
      [-8]: key.asymmetricKeyType === 'ed25519',
      [-257]: key.asymmetricKeyType === 'rsa' && modulusLength >= 2048 && modulusLength <= 4096,
    }
    return fits[algorithm] ? key : undefined
  } catch {
    return undefined
  }
}

/** Strict: one text for the same bytes, without padding. */
function bytesOf(text: string): Buffer | undefined {
  if (text.length === 0 || text.length > LIMITS.securityKeyTextLength) return undefined
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

function refuse(expected: string): Refused {
  return { refused: `It lacks ${expected}.` }
}
