import type { FactorsToShow } from '../src/server/api/schemas.ts'
import { api } from './api.ts'

// Converts between the API, which uses base64url, and the browser, which uses bytes.

/** Returns why this browser has no keys for this page; empty if it has. */
export function whyNoKeys(): string {
  if (/^[\d.]+$|^\[/.test(location.hostname))
    return 'Security keys are for a name: open this page under its name, or as localhost, instead of an address.'
  if (!('PublicKeyCredential' in window)) return 'This browser offers security keys only over HTTPS.'
  return ''
}

/** Makes a key with this browser and adds it. */
export async function addKey(name: string, invite: string): Promise<string> {
  const { challenge, rpId, user, algorithms, ids } = await api.beginKey(invite)
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: bytesOf(challenge),
      rp: { id: rpId, name: 'croft' },
      user: { id: bytesOf(user.id), name: user.name, displayName: user.name },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: ids.map(described),
      authenticatorSelection: { residentKey: 'discouraged', userVerification: 'required' },
      attestation: 'none',
    },
  })
  const { response, rawId } = credential(made)
  const created = response as AuthenticatorAttestationResponse
  const { message } = await api.addKey({
    name,
    id: textOf(rawId),
    clientData: textOf(created.clientDataJSON),
    attestation: textOf(created.attestationObject),
  })
  return message
}

/** Asks one of the person's keys. */
export async function showKey({ challenge, rpId, ids }: NonNullable<FactorsToShow['key']>): Promise<void> {
  const shown = await navigator.credentials.get({
    publicKey: {
      challenge: bytesOf(challenge),
      rpId,
      allowCredentials: ids.map(described),
      userVerification: 'required',
    },
  })
  const { response, rawId } = credential(shown)
  const answer = response as AuthenticatorAssertionResponse
  await api.showKey({
    id: textOf(rawId),
    clientData: textOf(answer.clientDataJSON),
    authenticatorData: textOf(answer.authenticatorData),
    signature: textOf(answer.signature),
  })
}

/** Replaces the browser's message, which is long and for programmers. */
export function whyNot(error: unknown): string {
  if (error instanceof DOMException && error.name === 'NotAllowedError') return 'No key answered, or you cancelled.'
  if (error instanceof DOMException && error.name === 'InvalidStateError') return 'This key has been added already.'
  return error instanceof Error ? error.message : 'It failed.'
}

function credential(made: Credential | null): PublicKeyCredential {
  if (made === null) throw new Error('The browser gave no key.')
  return made as PublicKeyCredential
}

function described(id: string): PublicKeyCredentialDescriptor {
  return { type: 'public-key', id: bytesOf(id) }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
}

function textOf(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
