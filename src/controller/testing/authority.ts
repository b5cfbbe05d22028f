import { createKeyPair, issueCertificate, privateKeyPem } from '../../lib/x509.ts'

const DAY_MS = 86_400_000

/** Makes a CA for one test, and a certificate for `localhost`, 127.0.0.1 and the names, signed by it. */
export function localCertificate(...names: readonly string[]): {
  readonly ca: string
  readonly cert: string
  readonly key: string
} {
  const notBefore = new Date(Date.now() - DAY_MS)
  const notAfter = new Date(Date.now() + DAY_MS)
  const root = createKeyPair()
  const issuer = { subject: { commonName: 'croft test' }, privateKey: root.privateKey }
  const authority = issueCertificate(
    { subject: issuer.subject, publicKey: root.publicKey, authority: true, notBefore, notAfter },
    issuer,
  )
  const leaf = createKeyPair()
  const { pem } = issueCertificate(
    {
      subject: { commonName: 'localhost' },
      publicKey: leaf.publicKey,
      notBefore,
      notAfter,
      usages: ['serverAuth'],
      altNames: ['localhost', '127.0.0.1', ...names],
    },
    issuer,
  )
  return { ca: authority.pem, cert: pem, key: privateKeyPem(leaf.privateKey) }
}
