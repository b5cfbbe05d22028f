import { createPrivateKey, X509Certificate } from 'node:crypto'
import { CA_FILES } from '../../src/k3s/ca-files.ts'
import { caHash } from '../../src/k3s/token.ts'
import { createKeyPair, issueCertificate, privateKeyPem, type SignedCertificate } from '../../src/lib/x509.ts'
import type { Files } from '../guest/files.ts'
import { hexDigits } from '../world/chance.ts'
import type { World } from '../world/types.ts'

export const SERVER_TLS = '/var/lib/rancher/k3s/server/tls'

const YEAR_MS = 365 * 86_400_000
/** A simulated clock may run ahead of the true one, and real clients look at the true one. */
const MONTH_MS = 30 * 86_400_000

/** CA files on a disk, by path below server/tls. */
export function readAuthorities(files: Files): Map<string, string> {
  const found = new Map<string, string>()
  for (const { path } of CA_FILES) {
    const text = files.text(`${SERVER_TLS}/${path}`)
    if (text !== undefined) found.set(path, text)
  }
  return found
}

export function writeAuthorities(files: Files, authorities: ReadonlyMap<string, string>): void {
  for (const [path, text] of authorities) {
    if (files.text(`${SERVER_TLS}/${path}`) !== text) files.write(`${SERVER_TLS}/${path}`, text)
  }
}

/** Remakes every authority that lacks one of its two files, and overwrites the other, without a message. */
export function completeAuthorities(world: World, found: ReadonlyMap<string, string>): Map<string, string> {
  const files = new Map(found)
  const nowMs = world.clock.now()
  for (const { path, holds, authority } of CA_FILES) {
    if (holds === 'service-account-keys') {
      // Nothing in the simulation signs with it, and a real RSA key costs more than the rest of the start.
      if (!files.has(path))
        files.set(
          path,
          `-----BEGIN RSA PRIVATE KEY-----\n${hexDigits(world.random, 64)}\n-----END RSA PRIVATE KEY-----\n`,
        )
      continue
    }
    if (holds !== 'certificates') continue
    const key = `${authority}.key`
    if (files.has(path) && files.has(key)) continue
    const keys = createKeyPair()
    const name = authority.startsWith('etcd/') ? authority.replace('/', '-') : `k3s-${authority}`
    const subject = { commonName: `${name}@${Math.floor(nowMs / 1000)}` }
    const made = issueCertificate(
      {
        subject,
        publicKey: keys.publicKey,
        authority: true,
        notBefore: new Date(nowMs - MONTH_MS),
        notAfter: new Date(nowMs + 10 * YEAR_MS),
      },
      { subject, privateKey: keys.privateKey },
    )
    files.set(path, made.pem)
    files.set(key, privateKeyPem(keys.privateKey))
  }
  return files
}

const hashes = new Map<string, string>()

/** As in the token; the same files are asked about at every look. */
export function authorityHash(pem: string, nowMs: number): string {
  const known = hashes.get(pem)
  if (known !== undefined) return known
  const hash = caHash(Buffer.from(pem, 'latin1'), nowMs)
  if (hashes.size > 500) hashes.clear()
  hashes.set(pem, hash)
  return hash
}

export function certificatesIn(pem: string): readonly X509Certificate[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one),
  )
}

/** Does a key belong to the first certificate of a file? */
export function keyFits(certificatePem: string, keyPem: string): boolean {
  try {
    const [certificate] = certificatesIn(certificatePem)
    return certificate?.checkPrivateKey(createPrivateKey(keyPem)) === true
  } catch {
    return false
  }
}

/** Is a certificate signed, over others of the same bundle, by one that is trusted? Time counts. */
export function isTrusted(
  chain: readonly X509Certificate[],
  trusted: readonly X509Certificate[],
  nowMs: number,
): boolean {
  const [leaf, ...others] = chain
  if (leaf === undefined || !isCurrent(leaf, nowMs)) return false
  if (trusted.some((one) => one.raw.equals(leaf.raw))) return true
  const signs = (child: X509Certificate, parent: X509Certificate) =>
    parent.ca && child.issuer === parent.subject && isCurrent(parent, nowMs) && child.verify(parent.publicKey)
  if (trusted.some((one) => signs(leaf, one))) return true
  return others.some(
    (one, index) => signs(leaf, one) && isTrusted([one, ...others.toSpliced(index, 1)], trusted, nowMs),
  )
}

function isCurrent(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime()
}

/** A leaf that this authority vouches for. */
export function issueLeaf(
  files: ReadonlyMap<string, string>,
  authority: string,
  leaf: {
    readonly commonName: string
    readonly organizations?: readonly string[]
    readonly altNames?: readonly string[]
    readonly usages: readonly ('serverAuth' | 'clientAuth')[]
  },
  nowMs: number,
): { readonly certificate: SignedCertificate; readonly keyPem: string } {
  const [issuer] = certificatesIn(files.get(`${authority}.crt`) ?? '')
  if (issuer === undefined) throw new Error(`there is no ${authority}.crt`)
  const keys = createKeyPair()
  const { commonName, organizations, altNames, usages } = leaf
  const certificate = issueCertificate(
    {
      subject: { commonName, ...(organizations === undefined ? {} : { organizations }) },
      publicKey: keys.publicKey,
      ...(altNames === undefined ? {} : { altNames }),
      usages,
      notBefore: new Date(nowMs - MONTH_MS),
      notAfter: new Date(nowMs + YEAR_MS),
    },
    { subject: subjectOf(issuer), privateKey: createPrivateKey(files.get(`${authority}.key`) ?? '') },
  )
  return { certificate, keyPem: privateKeyPem(keys.privateKey) }
}

function subjectOf(certificate: X509Certificate): { commonName: string; organizations?: string[] } {
  const parts = certificate.subject.split('\n').map((line) => line.split('='))
  const organizations = parts.filter(([key]) => key === 'O').map(([, value]) => value ?? '')
  const commonName = parts.find(([key]) => key === 'CN')?.[1] ?? ''
  return { commonName, ...(organizations.length === 0 ? {} : { organizations }) }
}
