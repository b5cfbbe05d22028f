import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import * as der from './der.ts'

export interface CertificateSubject {
  readonly commonName: string
  readonly organizations?: readonly string[]
}

/** The issuer: a CA's subject and key. */
export interface CertificateIssuer {
  readonly subject: CertificateSubject
  readonly privateKey: KeyObject
}

export interface CertificateRequest {
  readonly subject: CertificateSubject
  readonly publicKey: KeyObject
  /** Host names and addresses that it is good for. */
  readonly altNames?: readonly string[]
  /** Reports whether it may sign other certificates. */
  readonly authority?: boolean
  readonly usages?: readonly ('serverAuth' | 'clientAuth')[]
  readonly notBefore: Date
  readonly notAfter: Date
  readonly serial?: Uint8Array
}

export interface SignedCertificate {
  readonly pem: string
  readonly der: Uint8Array
  /** SHA-256 over the whole certificate, as `AA:BB:…`. */
  readonly fingerprint: string
}

/** A fresh key on the P-256 curve. */
export function createKeyPair(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** The older shape, `EC PRIVATE KEY`, which programs written in Go read from files. */
export function ecPrivateKeyPem(key: KeyObject): string {
  return key.export({ type: 'sec1', format: 'pem' }).toString()
}

/** A fresh RSA key as `RSA PRIVATE KEY`: what signs the tokens of service accounts. */
export function createRsaKeyPem(): string {
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString()
}

/** For a self-signed certificate the issuer is the subject with its own key. */
export function issueCertificate(request: CertificateRequest, issuer: CertificateIssuer): SignedCertificate {
  const algorithm = der.sequence(der.objectId('1.2.840.10045.4.3.2'))
  const body = der.sequence(
    der.tagged(0, der.integer(Buffer.of(2))),
    der.integer(request.serial ?? freshSerial()),
    algorithm,
    name(issuer.subject),
    der.sequence(der.time(request.notBefore), der.time(request.notAfter)),
    name(request.subject),
    spki(request.publicKey),
    der.tagged(3, der.sequence(...extensions(request, issuer))),
  )
  const whole = der.sequence(body, algorithm, der.bitString(sign('sha256', body, issuer.privateKey)))
  return { pem: pem(whole), der: whole, fingerprint: fingerprintOf(whole) }
}

export function fingerprintOf(certificate: Uint8Array): string {
  const hex = createHash('sha256').update(certificate).digest('hex').toUpperCase()
  return hex.replace(/(..)(?=.)/g, '$1:')
}

/** The first bit is kept clear, so that the number stays within twenty bytes and above zero. */
function freshSerial(): Uint8Array {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}

function name(subject: CertificateSubject): der.Der {
  const part = (oid: string, text: string) => der.setOf(der.sequence(der.objectId(oid), der.utf8String(text)))
  const organizations = (subject.organizations ?? []).map((text) => part('2.5.4.10', text))
  return der.sequence(...organizations, part('2.5.4.3', subject.commonName))
}

function extensions(request: CertificateRequest, issuer: CertificateIssuer): der.Der[] {
  const authority = request.authority === true
  const list = [
    extension('2.5.29.19', true, authority ? der.sequence(der.boolean(true)) : der.sequence()),
    // A CA signs certificates, lists and data; others sign data only.
    extension(
      '2.5.29.15',
      true,
      authority ? der.bitString(Buffer.of(0b1000_0110), 1) : der.bitString(Buffer.of(0b1000_0000), 7),
    ),
    extension('2.5.29.14', false, der.octetString(keyId(request.publicKey))),
    extension('2.5.29.35', false, der.sequence(der.tagged(0, keyId(createPublicKey(issuer.privateKey)), false))),
  ]
  if (request.usages !== undefined && request.usages.length > 0) {
    const ids = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' }
    list.push(extension('2.5.29.37', false, der.sequence(...request.usages.map((usage) => der.objectId(ids[usage])))))
  }
  if (request.altNames !== undefined && request.altNames.length > 0) {
    list.push(extension('2.5.29.17', false, der.sequence(...request.altNames.map(altName))))
  }
  return list
}

function extension(oid: string, critical: boolean, value: der.Der): der.Der {
  return der.sequence(der.objectId(oid), ...(critical ? [der.boolean(true)] : []), der.octetString(value))
}

function altName(text: string): der.Der {
  const kind = isIP(text)
  if (kind === 0) return der.tagged(2, Buffer.from(text, 'ascii'), false)
  return der.tagged(7, kind === 4 ? Buffer.from(text.split('.').map(Number)) : ipv6Bytes(text), false)
}

function ipv6Bytes(text: string): Buffer {
  const [head = '', tail] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const front = groups(head)
  const back = tail === undefined ? [] : groups(tail)
  const all = [...front, ...Array.from({ length: 8 - front.length - back.length }, () => '0'), ...back]
  return Buffer.concat(all.map((group) => Buffer.from(group.padStart(4, '0'), 'hex')))
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

/** The usual name of a key: SHA-1 over its bits, without the wrapping (the last 65 bytes for P-256). */
function keyId(key: KeyObject): Buffer {
  return createHash('sha1').update(spki(key).subarray(-65)).digest()
}

function pem(bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
