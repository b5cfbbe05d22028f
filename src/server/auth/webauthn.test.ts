import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LIMITS } from '../../lib/limits.ts'
import { type KeyTwist, softwareKey } from '../testing/software-key.ts'
import { ALGORITHMS, judgeAnswer, judgeNewKey, type KeyAssertion, type NewKey, type Registered } from './webauthn.ts'

const ASKED = { challenge: 'c2ltcGx5LWFza2Vk', origin: 'https://croft.lan', rpId: 'croft.lan' }
const INSIDE = 'https://evil.example'

function registered(key: ReturnType<typeof softwareKey>): Registered {
  const judged = judgeNewKey(key.create(ASKED), ASKED)
  assert.ok(!('refused' in judged), JSON.stringify(judged))
  return judged
}

/** Wrong in both: the sentence that says what is missing. */
const BOTH: readonly [string, KeyTwist, RegExp][] = [
  ['another challenge', { client: { challenge: 'YW5vdGhlcg' } }, /this challenge/],
  ['no challenge', { client: { challenge: undefined } }, /this challenge/],
  ['a challenge that is not text', { client: { challenge: [ASKED.challenge] } }, /this challenge/],
  ['another origin', { client: { origin: 'https://evil.example' } }, /origin/],
  ['an origin that begins alike', { client: { origin: 'https://croft.lan.evil.example' } }, /origin/],
  ['the origin without TLS', { client: { origin: 'http://croft.lan' } }, /origin/],
  ['another port', { client: { origin: 'https://croft.lan:8443' } }, /origin/],
  ['the type of neither', { client: { type: 'payment.get' } }, /the type/],
  ['a page inside another', { client: { crossOrigin: true } }, /inside another/],
  ['a page inside another, in another type', { client: { crossOrigin: 'false' } }, /inside another/],
  ['a page inside a named one', { client: { topOrigin: INSIDE } }, /inside another/],
  ['client data that is not JSON', { clientText: '{' }, /in JSON/],
  ['client data that is not an object', { clientText: 'null' }, /client data/],
  ['another page’s hash', { rpId: 'evil.example' }, /name of this page/],
  ['a copied key that may not be copied', { flags: 0x55 }, /fit together/],
]

describe('[S-42] a new security key', () => {
  for (const algorithm of ALGORITHMS)
    test(`of algorithm ${algorithm} is taken`, () => {
      assert.equal(registered(softwareKey(algorithm)).algorithm, algorithm)
    })

  const refused: readonly [string, KeyTwist, RegExp][] = [
    ...BOTH.filter(([name]) => !name.includes('copied')),
    ['the type of an answer', { client: { type: 'webauthn.get' } }, /webauthn\.create/],
    ['nobody at the key', { flags: 0x44 }, /touches the key/],
    ['nobody who proved himself', { flags: 0x41 }, /PIN/],
    ['no key in it', { flags: 0x05 }, /a key in the/],
    ['another id inside', { id: Buffer.from('another id') }, /the same id/],
    ['an empty id', { id: Buffer.alloc(0) }, /an id/],
    [
      'an id longer than the data',
      { more: Buffer.concat([Buffer.alloc(16), Buffer.from('03ff6162', 'hex')]) },
      /an id/,
    ],
    ['an id that is too long', { id: Buffer.alloc(LIMITS.securityKeyIdBytes + 1) }, /an id/],
    ['nothing after the fixed part', { more: Buffer.alloc(0) }, /an id/],
    ['an algorithm that nobody asked for', { algorithm: -65535 }, /known kind/],
    ['the algorithm of another kind', { algorithm: -257 }, /known kind/],
  ]
  for (const [name, twist, why] of refused)
    test(`is refused with ${name}`, () => {
      const judged = judgeNewKey(softwareKey().create(ASKED, twist), ASKED)
      assert.ok('refused' in judged)
      assert.match(judged.refused, why)
    })

  test('is refused with a public key that is too small, of another curve, private, or none', () => {
    const spki = (pair: ReturnType<typeof generateKeyPairSync>) =>
      (pair.publicKey as unknown as { export(how: object): Buffer }).export({ format: 'der', type: 'spki' })
    const small = spki(generateKeyPairSync('rsa', { modulusLength: 1024 }))
    const curve = spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }))
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const secret = privateKey.export({ format: 'der', type: 'pkcs8' })
    for (const [bytes, algorithm] of [
      [small, -257],
      [curve, -7],
      [secret, -7],
      [Buffer.from('x'), -7],
    ] as const) {
      const given = { ...softwareKey().create(ASKED), publicKey: bytes.toString('base64url'), algorithm }
      assert.ok('refused' in judgeNewKey(given, ASKED))
    }
  })
})

describe('[S-42] the answer of a security key', () => {
  for (const algorithm of ALGORITHMS)
    test(`of algorithm ${algorithm} counts, and its count goes on`, () => {
      const key = softwareKey(algorithm)
      assert.deepEqual(judgeAnswer(key.answer(ASKED), registered(key), ASKED), { signCount: 1 })
    })

  const refused: readonly [string, KeyTwist, RegExp][] = [
    ...BOTH,
    ['the type of a new key', { client: { type: 'webauthn.create' } }, /webauthn\.get/],
    ['nobody at the key', { flags: 0x04 }, /touches the key/],
    ['nobody who proved himself', { flags: 0x01 }, /PIN/],
    ['a new key inside', { flags: 0x45 }, /not a new key/],
    ['something after the fixed part', { more: Buffer.from('x') }, /fixed part/],
    ['a signature over something else', { signed: Buffer.from('x') }, /a signature/],
  ]
  for (const [name, twist, why] of refused)
    test(`is refused with ${name}`, () => {
      const key = softwareKey()
      const judged = judgeAnswer(key.answer(ASKED, twist), registered(key), ASKED)
      assert.ok('refused' in judged)
      assert.match(judged.refused, why)
    })

  test('of another key is refused, and of the same key under another algorithm', () => {
    const [key, other] = [softwareKey(), softwareKey()]
    assert.ok('refused' in judgeAnswer(other.answer(ASKED), registered(key), ASKED))
    assert.ok('refused' in judgeAnswer(key.answer(ASKED), { ...registered(key), algorithm: -257 }, ASKED))
  })

  for (const [known, now, taken] of [
    [0, 0, true],
    [0, 1, true],
    [7, 8, true],
    [7, 7, false],
    [7, 6, false],
    [7, 0, false],
  ] as const)
    test(`with the count ${now} after ${known} is ${taken ? 'taken' : 'refused'}`, () => {
      const key = softwareKey()
      const judged = judgeAnswer(key.answer(ASKED, { signCount: now }), { ...registered(key), signCount: known }, ASKED)
      assert.equal('refused' in judged, !taken)
    })

  test('with extensions that nobody asked for counts: they are signed and not read', () => {
    const key = softwareKey()
    const answer = key.answer(ASKED, { flags: 0x85, more: Buffer.from('a0', 'hex') })
    assert.ok(!('refused' in judgeAnswer(answer, registered(key), ASKED)))
  })

  test('with any byte changed, any text not in strict base64url, or too long, is refused and never throws', () => {
    const key = softwareKey()
    const known = registered(key)
    const good = key.answer(ASKED)
    const made = key.create(ASKED)
    const fields = ['clientData', 'authenticatorData', 'signature'] as const
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.nat(), fc.integer({ min: 1, max: 255 }), (field, at, by) => {
        const bytes = Buffer.from(good[field], 'base64url')
        const index = at % bytes.length
        bytes[index] = (bytes[index] ?? 0) ^ by
        assert.ok('refused' in judgeAnswer({ ...good, [field]: bytes.toString('base64url') }, known, ASKED))
      }),
    )
    for (const field of fields)
      for (const text of ['', `${good[field]}=`, `${good[field]}\n`, ` ${good[field]}`, 'A'.repeat(5000), '+/+/', 'é'])
        assert.ok('refused' in judgeAnswer({ ...good, [field]: text } as KeyAssertion, known, ASKED), field)
    fc.assert(
      fc.property(fc.constantFrom('id', 'clientData', 'authenticatorData', 'publicKey'), fc.string(), (field, text) => {
        assert.ok('refused' in judgeNewKey({ ...made, [field]: text } as NewKey, ASKED))
      }),
    )
  })
})
