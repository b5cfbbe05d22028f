import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { createKeyPair, issueCertificate } from './x509.ts'

const notBefore = new Date('2026-01-01T00:00:00Z')
const notAfter = new Date('2036-01-01T00:00:00Z')

test('a self-signed certificate is read back by Node with its names, times and fingerprint', () => {
  const keys = createKeyPair()
  const subject = { commonName: 'sim', organizations: ['croft'] }
  const altNames = ['localhost', '127.0.0.1', '::1', 'fd00::50']
  const made = issueCertificate(
    { subject, publicKey: keys.publicKey, altNames, usages: ['serverAuth'], notBefore, notAfter },
    { subject, privateKey: keys.privateKey },
  )
  const read = new X509Certificate(made.pem)
  assert.equal(read.subject, 'O=croft\nCN=sim')
  assert.equal(read.issuer, read.subject)
  assert.equal(read.fingerprint256, made.fingerprint)
  assert.equal(read.validFrom, 'Jan  1 00:00:00 2026 GMT')
  assert.equal(read.validTo, 'Jan  1 00:00:00 2036 GMT')
  assert.equal(read.ca, false)
  assert.ok(read.verify(keys.publicKey))
  assert.ok(read.checkPrivateKey(keys.privateKey))
  assert.equal(read.checkHost('localhost'), 'localhost')
  assert.equal(read.checkIP('127.0.0.1'), '127.0.0.1')
  assert.equal(read.checkIP('::1'), '::1')
  assert.ok(read.checkIP('fd00::50') !== undefined)
  assert.equal(read.checkHost('elsewhere'), undefined)
})

test('a leaf is issued by its authority and by no other', () => {
  const authorityKeys = createKeyPair()
  const otherKeys = createKeyPair()
  const leafKeys = createKeyPair()
  const authority = { commonName: 'k3s-server-ca' }
  const root = new X509Certificate(
    issueCertificate(
      {
        subject: authority,
        publicKey: authorityKeys.publicKey,
        authority: true,
        notBefore,
        notAfter: new Date('2056-01-01T00:00:00Z'),
      },
      { subject: authority, privateKey: authorityKeys.privateKey },
    ).pem,
  )
  const leaf = new X509Certificate(
    issueCertificate(
      {
        subject: { commonName: 'system:admin', organizations: ['system:masters'] },
        publicKey: leafKeys.publicKey,
        usages: ['clientAuth'],
        notBefore,
        notAfter,
      },
      { subject: authority, privateKey: authorityKeys.privateKey },
    ).pem,
  )
  assert.equal(root.ca, true)
  assert.equal(root.validTo, 'Jan  1 00:00:00 2056 GMT')
  assert.ok(leaf.checkIssued(root))
  assert.ok(leaf.verify(root.publicKey))
  assert.equal(leaf.verify(otherKeys.publicKey), false)
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.2'])
})

test('two certificates never share a serial number unless asked to', () => {
  const keys = createKeyPair()
  const subject = { commonName: 'a' }
  const serials = Array.from({ length: 50 }, () => {
    const made = issueCertificate(
      { subject, publicKey: keys.publicKey, notBefore, notAfter },
      { subject, privateKey: keys.privateKey },
    )
    return new X509Certificate(made.pem).serialNumber
  })
  assert.equal(new Set(serials).size, serials.length)
})
