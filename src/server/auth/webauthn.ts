import { createPublicKey } from 'node:crypto'
import { LIMITS } from '../../lib/limits.ts'

/** ES256, EdDSA and RS256, as COSE numbers: what authenticators make. */
export const ALGORITHMS = [-7, -8, -257] as const
export type KeyAlgorithm = (typeof ALGORITHMS)[number]

/** COSE's number for the type of key that each algorithm uses: EC, octet pair, RSA. */
const KEY_TYPES = { [-7]: 2, [-8]: 1, [-257]: 3 } as const

/** The challenge, and the page that asked. */
export interface KeyChallenge {
  readonly challenge: string
  /** In the form of browsers: `https://croft.lan`. */
  readonly origin: string
  readonly rpId: string
}

/** A stored key. */
export interface Registered {
  /** A COSE key in base64url; SPKI in users files of earlier versions. */
  readonly publicKey: string
  readonly algorithm: KeyAlgorithm
  readonly signCount: number
}

/** A new key as the browser sends it; all in base64url. */
export interface NewKey {
  readonly id: string
  readonly clientData: string
  readonly attestation: string
}

/** A key's answer as the browser sends it; all in base64url. */
export interface KeyAssertion {
  readonly id: string
  readonly clientData: string
  readonly authenticatorData: string
  readonly signature: string
}

/** Why croft refuses a key, for the audit log. Contains no input of the browser. */
export interface Refused {
  readonly refused: string
}

/** Verifies a new key (WebAuthn, section 7.1), or returns why croft does not accept it. Never rejects. */
export async function judgeNewKey(given: NewKey, asked: KeyChallenge): Promise<Registered | Refused> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject, decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers')
  return judged(async () => {
    const { id, clientData: clientDataJSON, attestation: attestationObject } = given
    checkClientData(clientDataJSON)
    if (bytesOf(id).length > LIMITS.securityKeyIdBytes) throw new Error('the id is too long')
    // croft asks for no attestation. The library would fetch revocation lists from addresses in a certificate.
    const attested = decodeAttestationObject(bytesOf(attestationObject))
    const isSelfSigned = attested.get('fmt') === 'packed' && attested.get('attStmt').get('x5c') === undefined
    if (attested.get('fmt') !== 'none' && !isSelfSigned) throw new Error('an attestation that croft did not ask for')
    const { registrationInfo } = await verifyRegistrationResponse({
      ...expectedOf(asked),
      response: credential(id, { clientDataJSON, attestationObject }),
      supportedAlgorithmIDs: [...ALGORITHMS],
    })
    const { counter, publicKey, id: attestedId } = registrationInfo?.credential ?? {}
    if (publicKey === undefined || counter === undefined || attestedId !== id) throw new Error('the ids differ')
    const decoded = decodeCredentialPublicKey(publicKey)
    const algorithm = ALGORITHMS.find((one) => one === decoded.get(3))
    if (algorithm === undefined || KEY_TYPES[algorithm] !== decoded.get(1))
      throw new Error('not a key of its algorithm')
    return { publicKey: Buffer.from(publicKey).toString('base64url'), algorithm, signCount: counter }
  })
}

/** Verifies a key's answer (WebAuthn, section 7.2) and returns its new count, or why it does not count. Never rejects. */
export async function judgeAnswer(
  given: KeyAssertion,
  key: Registered,
  asked: KeyChallenge,
): Promise<{ readonly signCount: number } | Refused> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { isoCBOR } = await import('@simplewebauthn/server/helpers')
  return judged(async () => {
    const { id, clientData: clientDataJSON, authenticatorData, signature } = given
    checkClientData(clientDataJSON)
    for (const text of [authenticatorData, signature]) bytesOf(text)
    const stored = bytesOf(key.publicKey)
    // SPKI begins with 0x30, a COSE key with the header of a CBOR map.
    const publicKey = stored[0] === 0x30 ? isoCBOR.encode(coseOf(stored, key.algorithm)) : stored
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expectedOf(asked),
      response: credential(id, { clientDataJSON, authenticatorData, signature }),
      credential: { id, publicKey, counter: key.signCount },
    })
    if (!verified) throw new Error('the signature is wrong')
    return { signCount: authenticationInfo.newCounter }
  })
}

/** Translates the library's errors, which repeat the browser's input. */
async function judged<T>(judge: () => Promise<T>): Promise<T | Refused> {
  try {
    return await judge()
  } catch (error) {
    const lacksPin = error instanceof Error && /^User verification (?:was )?required/.test(error.message)
    return { refused: lacksPin ? 'It asked for no PIN and no finger.' : 'It does not answer what this page asked.' }
  }
}

function expectedOf({ challenge, origin, rpId }: KeyChallenge) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    // The key is often left in an open browser, so a touch alone does not count.
    requireUserVerification: true,
  }
}

function credential<T>(id: string, response: T) {
  return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} } as const
}

/** The library accepts a page inside another if the browser does not name the outer one. croft is never framed. */
function checkClientData(text: string): void {
  const data = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(text))) as Partial<
    Record<'crossOrigin' | 'topOrigin', unknown>
  >
  if (data.topOrigin !== undefined || (data.crossOrigin !== undefined && data.crossOrigin !== false))
    throw new Error('a page inside another')
}

/** The COSE form of an SPKI key (RFC 9053): numbers name the type, the algorithm and the parts of the key. */
function coseOf(spki: Buffer, algorithm: KeyAlgorithm): Map<number, number | Uint8Array> {
  const jwk = createPublicKey({ key: spki, format: 'der', type: 'spki' }).export({ format: 'jwk' })
  const part = (name: 'x' | 'y' | 'n' | 'e') => Uint8Array.from(Buffer.from(jwk[name] ?? '', 'base64url'))
  const parts: Readonly<Record<KeyAlgorithm, readonly (number | Uint8Array)[]>> = {
    [-7]: [1, part('x'), part('y')],
    [-8]: [6, part('x')],
    [-257]: [part('n'), part('e')],
  }
  const numbered = parts[algorithm].map((one, at): [number, number | Uint8Array] => [-1 - at, one])
  return new Map([[1, KEY_TYPES[algorithm]], [3, algorithm], ...numbered])
}

/** Decodes strict base64url: without padding, one text for the same bytes, bounded. */
function bytesOf(text: string): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(text, 'base64url')
  if (text === '' || text.length > LIMITS.securityKeyTextLength || bytes.toString('base64url') !== text)
    throw new Error('not base64url')
  return bytes
}
