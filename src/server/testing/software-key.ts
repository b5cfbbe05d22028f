import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import type { KeyAlgorithm, KeyAssertion, KeyChallenge, NewKey } from '../auth/webauthn.ts'

/** Deviations of an answer from a valid one. */
export interface KeyTwist {
  readonly client?: Readonly<Record<string, unknown>>
  readonly clientText?: string
  readonly flags?: number
  readonly rpId?: string
  readonly signCount?: number
  readonly id?: Buffer
  readonly more?: Buffer
  readonly algorithm?: number
  /** In place of the attestation "none". */
  readonly attestation?: { readonly fmt: string; readonly attStmt: Map<string, unknown> }
  /** Signed over this instead. */
  readonly signed?: Buffer
}

const GOOD = 0x05

function attested(
  authData: Buffer,
  { fmt, attStmt } = { fmt: 'none', attStmt: new Map() } as NonNullable<KeyTwist['attestation']>,
) {
  const object = new Map<string, unknown>([
    ['fmt', fmt],
    ['attStmt', attStmt],
    ['authData', Uint8Array.from(authData)],
  ])
  return Buffer.from(isoCBOR.encode(object as Parameters<typeof isoCBOR.encode>[0])).toString('base64url')
}

/** The COSE form of a public key, which names `named` as its algorithm. */
function cosePublicKey(key: KeyObject, algorithm: KeyAlgorithm, named: number): Uint8Array {
  const jwk = key.export({ format: 'jwk' })
  const part = (name: 'x' | 'y' | 'n' | 'e') => Uint8Array.from(Buffer.from(jwk[name] ?? '', 'base64url'))
  const parts: Readonly<Record<KeyAlgorithm, readonly [number, ...(number | Uint8Array)[]]>> = {
    [-7]: [2, 1, part('x'), part('y')],
    [-8]: [1, 6, part('x')],
    [-257]: [3, part('n'), part('e')],
  }
  const [type, ...rest] = parts[algorithm]
  const numbered = rest.map((one, at): [number, number | Uint8Array] => [-1 - at, one])
  return isoCBOR.encode(new Map<number, number | Uint8Array>([[1, type], [3, named], ...numbered]))
}

/** A security key in a few lines, as the bytes of WebAuthn describe one. */
export function softwareKey(algorithm: KeyAlgorithm = -7) {
  const { privateKey, publicKey } = {
    [-7]: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    [-8]: () => generateKeyPairSync('ed25519'),
    [-257]: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  }[algorithm]()
  const own = randomBytes(24)
  let count = 0

  const clientOf = (type: string, { challenge, origin }: Omit<KeyChallenge, 'rpId'>, twist: KeyTwist) =>
    Buffer.from(twist.clientText ?? JSON.stringify({ type, challenge, origin, crossOrigin: false, ...twist.client }))

  function dataOf(rpId: string, flags: number, signCount: number, more: Buffer): Buffer {
    const counted = Buffer.alloc(4)
    counted.writeUInt32BE(signCount)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), counted, more])
  }

  return {
    id: own.toString('base64url'),
    /** The public key as croft stored it before it kept COSE keys. */
    spki: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
    create(asked: KeyChallenge, twist: KeyTwist = {}): NewKey {
      const id = twist.id ?? own
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const cose = cosePublicKey(publicKey, algorithm, twist.algorithm ?? algorithm)
      const more = twist.more ?? Buffer.concat([Buffer.alloc(16), length, id, cose])
      const flags = twist.flags ?? GOOD | 0x40
      return {
        id: own.toString('base64url'),
        clientData: clientOf('webauthn.create', asked, twist).toString('base64url'),
        attestation: attested(dataOf(twist.rpId ?? asked.rpId, flags, twist.signCount ?? 0, more), twist.attestation),
      }
    },
    answer(asked: KeyChallenge, twist: KeyTwist = {}): KeyAssertion {
      count += 1
      const client = clientOf('webauthn.get', asked, twist)
      const more = twist.more ?? Buffer.alloc(0)
      const data = dataOf(twist.rpId ?? asked.rpId, twist.flags ?? GOOD, twist.signCount ?? count, more)
      const signed = twist.signed ?? Buffer.concat([data, createHash('sha256').update(client).digest()])
      return {
        id: own.toString('base64url'),
        clientData: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign(algorithm === -8 ? null : 'sha256', signed, privateKey).toString('base64url'),
      }
    },
  }
}
