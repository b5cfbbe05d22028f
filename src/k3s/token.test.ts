import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readEvidence } from '../../test/evidence/read.ts'
import { ADMIN_SUBJECT, CA_FILES, TOKEN_CA_PATH } from './ca-files.ts'
import { caHash, formatToken, parseToken, tokenHash } from './token.ts'

interface Golden {
  readonly password: string
  readonly cases: readonly {
    readonly id: string
    readonly pem: string
    readonly hash: string
    readonly token: string
  }[]
  readonly storageKey: string
}

const NOW = Date.UTC(2026, 10, 15)

describe('the golden vectors', () => {
  const golden = readEvidence<Golden>('k3s/golden-token.json')

  test('are all there', () =>
    assert.deepEqual(
      golden.cases.map(({ id }) => id),
      ['A', 'B', 'C', 'D'],
    ))

  for (const { id, pem, hash, token } of golden.cases) {
    test(`${id}: the hash of the CA, and the token with it`, () => {
      assert.equal(caHash(Buffer.from(pem), NOW), hash)
      const credentials = { user: 'server', password: golden.password }
      assert.equal(formatToken({ caHash: hash, credentials }), token)
      assert.deepEqual(parseToken(`${token}\n`), { caHash: hash, credentials })
    })
  }

  test('bytes count: a lost newline changes the hash of a single certificate, not that of a chain', () => {
    for (const { id, pem, hash } of golden.cases) {
      const same = caHash(Buffer.from(pem.trimEnd()), NOW) === hash
      assert.equal(same, id === 'B' || id === 'D', id)
    }
  })

  test('a chain that is out of date is hashed as a file', () => {
    const chain = golden.cases.find(({ id }) => id === 'B')
    assert.ok(chain)
    assert.notEqual(caHash(Buffer.from(chain.pem), Date.UTC(2019, 0, 1)), chain.hash)
    assert.notEqual(caHash(Buffer.from(chain.pem), Date.UTC(2100, 0, 1)), chain.hash)
  })

  test('snapshots are filed under the hash of the password', () => {
    assert.equal(`/bootstrap/${tokenHash(golden.password)}`, golden.storageKey)
  })
})

describe('reading tokens', () => {
  const hash = 'a'.repeat(64)
  const cases: readonly [string, unknown][] = [
    ['', { problem: 'token must not be empty' }],
    [' \n', { problem: 'token must not be empty' }],
    ['K10::', { problem: 'invalid token format' }],
    ['K10::x', { problem: 'invalid token format' }],
    ['K10::x:', { problem: 'invalid token format' }],
    ['K10XX', { problem: 'invalid token format' }],
    ['K10XX::x:y', { problem: 'invalid token CA hash length' }],
    [`K10${hash}::node:p:q`, { caHash: hash, credentials: { user: 'node', password: 'p:q' } }],
    [
      `K10${hash}::abcdef.0123456789abcdef`,
      { caHash: hash, credentials: { id: 'abcdef', secret: '0123456789abcdef' } },
    ],
    ['abcdef.0123456789abcdef', { credentials: { id: 'abcdef', secret: '0123456789abcdef' } }],
    ['c0ffee', { credentials: { user: '', password: 'c0ffee' } }],
  ]
  for (const [text, expected] of cases) {
    test(JSON.stringify(text), () => assert.deepEqual(parseToken(text), expected))
  }
  test('a bootstrap token is written as it is read', () => {
    const token = { caHash: hash, credentials: { id: 'abcdef', secret: '0123456789abcdef' } }
    assert.deepEqual(parseToken(formatToken(token)), token)
  })
  test('a file without a certificate is an error', () => {
    assert.throws(() => caHash(Buffer.from('nothing'), NOW), /holds no certificate/)
  })
})

describe('CA files', () => {
  const all = CA_FILES.map((file) => file.path)
  test('five authorities with their keys, and the key of service accounts', () => {
    assert.equal(all.length, 11)
    assert.ok(all.includes(TOKEN_CA_PATH))
    assert.deepEqual(ADMIN_SUBJECT.organizations, ['system:masters'])
    for (const file of CA_FILES) assert.equal(file.mode, file.holds === 'certificates' ? 0o644 : 0o600, file.path)
  })
})
