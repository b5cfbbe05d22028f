import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LIMITS } from '../../lib/limits.ts'
import { type KeyTwist, softwareKey } from '../testing/software-key.ts'
import { ALGORITHMS, judgeAnswer, judgeNewKey, type KeyAssertion, type NewKey, type Registered } from './webauthn.ts'

const ASKED = { challenge: 'c2ltcGx5LWFza2Vk', origin: 'https://croft.lan', rpId: 'croft.lan' }
const INSIDE = 'https://evil.example'

async function registered(key: ReturnType<typeof softwareKey>): Promise<Registered> {
  const judged = await judgeNewKey(key.create(ASKED), ASKED)
  assert.ok(!('refused' in judged), JSON.stringify(judged))
  return judged
}

/** Wrong in both. */
const BOTH: readonly [string, KeyTwist][] = [
  ['another challenge', { client: { challenge: 'YW5vdGhlcg' } }],
  ['no challenge', { client: { challenge: undefined } }],
  ['a challenge that is not text', { client: { challenge: [ASKED.challenge] } }],
  ['another origin', { client: { origin: 'https://evil.example' } }],
  ['an origin that begins alike', { client: { origin: 'https://croft.lan.evil.example' } }],
  ['the origin without TLS', { client: { origin: 'http://croft.lan' } }],
  ['another port', { client: { origin: 'https://croft.lan:8443' } }],
  ['the type of neither', { client: { type: 'payment.get' } }],
  ['a page inside another', { client: { crossOrigin: true } }],
  ['a page inside another, in another type', { client: { crossOrigin: 'false' } }],
  ['a page inside a named one', { client: { topOrigin: INSIDE } }],
  ['client data that is not JSON', { clientText: '{' }],
  ['client data that is not an object', { clientText: 'null' }],
  ['another page’s hash', { rpId: 'evil.example' }],
  ['a copied key that may not be copied', { flags: 0x55 }],
]

describe('[S-42] a new security key', () => {
  for (const algorithm of ALGORITHMS)
    test(`of algorithm ${algorithm} is taken`, async () => {
      assert.equal((await registered(softwareKey(algorithm))).algorithm, algorithm)
    })

  const refused: readonly [string, KeyTwist][] = [
    ...BOTH.filter(([name]) => !name.includes('copied')),
    ['the type of an answer', { client: { type: 'webauthn.get' } }],
    ['nobody at the key', { flags: 0x44 }],
    ['nobody who proved himself', { flags: 0x41 }],
    ['no key in it', { flags: 0x05 }],
    ['another id inside', { id: Buffer.from('another id') }],
    ['an empty id', { id: Buffer.alloc(0) }],
    ['an id longer than the data', { more: Buffer.concat([Buffer.alloc(16), Buffer.from('03ff6162', 'hex')]) }],
    ['an id that is too long', { id: Buffer.alloc(LIMITS.securityKeyIdBytes + 1) }],
    ['nothing after the fixed part', { more: Buffer.alloc(0) }],
    ['an algorithm that nobody asked for', { algorithm: -65535 }],
    ['the algorithm of another kind', { algorithm: -257 }],
  ]
  for (const [name, twist] of refused)
    test(`is refused with ${name}`, async () => {
      const judged = await judgeNewKey(softwareKey().create(ASKED, twist), ASKED)
      assert.ok('refused' in judged)
      assert.equal(/PIN/.test(judged.refused), name.includes('proved'))
    })

  test('is refused with an attestation of its maker, whose certificate could name places to ask', async () => {
    const attestation = { fmt: 'packed', attStmt: new Map<string, unknown>([['x5c', [Uint8Array.of(1)]]]) }
    assert.ok('refused' in (await judgeNewKey(softwareKey().create(ASKED, { attestation }), ASKED)))
  })
})

describe('[S-42] the answer of a security key', () => {
  for (const algorithm of ALGORITHMS)
    test(`of algorithm ${algorithm} counts, and its count goes on`, async () => {
      const key = softwareKey(algorithm)
      assert.deepEqual(await judgeAnswer(key.answer(ASKED), await registered(key), ASKED), { signCount: 1 })
    })

  const refused: readonly [string, KeyTwist][] = [
    ...BOTH,
    ['the type of a new key', { client: { type: 'webauthn.create' } }],
    ['nobody at the key', { flags: 0x04 }],
    ['nobody who proved himself', { flags: 0x01 }],
    ['a new key inside', { flags: 0x45 }],
    ['something after the fixed part', { more: Buffer.from('x') }],
    ['a signature over something else', { signed: Buffer.from('x') }],
  ]
  for (const [name, twist] of refused)
    test(`is refused with ${name}`, async () => {
      const key = softwareKey()
      const judged = await judgeAnswer(key.answer(ASKED, twist), await registered(key), ASKED)
      assert.ok('refused' in judged)
      assert.equal(/PIN/.test(judged.refused), name.includes('proved'))
    })

  test('of another key is refused, and of the same key under another algorithm', async () => {
    const [key, other] = [softwareKey(), softwareKey()]
    assert.ok('refused' in (await judgeAnswer(other.answer(ASKED), await registered(key), ASKED)))
    const old = { publicKey: key.spki, algorithm: -257, signCount: 0 } as const
    assert.ok('refused' in (await judgeAnswer(key.answer(ASKED), old, ASKED)))
  })

  for (const algorithm of ALGORITHMS)
    test(`of algorithm ${algorithm} counts for a key that an earlier version stored as SPKI, and for no other`, async () => {
      const [key, other] = [softwareKey(algorithm), softwareKey(algorithm)]
      const old = { publicKey: key.spki, algorithm, signCount: 0 }
      assert.deepEqual(await judgeAnswer(key.answer(ASKED), old, ASKED), { signCount: 1 })
      assert.ok('refused' in (await judgeAnswer(other.answer(ASKED), old, ASKED)))
    })

  for (const [known, now, taken] of [
    [0, 0, true],
    [0, 1, true],
    [7, 8, true],
    [7, 7, false],
    [7, 6, false],
    [7, 0, false],
  ] as const)
    test(`with the count ${now} after ${known} is ${taken ? 'taken' : 'refused'}`, async () => {
      const key = softwareKey()
      const stored = { ...(await registered(key)), signCount: known }
      const judged = await judgeAnswer(key.answer(ASKED, { signCount: now }), stored, ASKED)
      assert.equal('refused' in judged, !taken)
    })

  test('with extensions that nobody asked for counts: they are signed and not read', async () => {
    const key = softwareKey()
    const answer = key.answer(ASKED, { flags: 0x85, more: Buffer.from('a0', 'hex') })
    assert.ok(!('refused' in (await judgeAnswer(answer, await registered(key), ASKED))))
  })

  test('with any byte changed, any text not in strict base64url, or too long, is refused and never throws', async () => {
    // Ed25519: an ECDSA signature is DER, in which more than one text says the same.
    const key = softwareKey(-8)
    const known = await registered(key)
    const good = key.answer(ASKED)
    const made = key.create(ASKED)
    const fields = ['clientData', 'authenticatorData', 'signature'] as const
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...fields),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (field, at, by) => {
          const bytes = Buffer.from(good[field], 'base64url')
          const index = at % bytes.length
          bytes[index] = (bytes[index] ?? 0) ^ by
          assert.ok('refused' in (await judgeAnswer({ ...good, [field]: bytes.toString('base64url') }, known, ASKED)))
        },
      ),
    )
    for (const field of fields)
      for (const text of ['', `${good[field]}=`, `${good[field]}\n`, ` ${good[field]}`, 'A'.repeat(5000), '+/+/', 'é'])
        assert.ok('refused' in (await judgeAnswer({ ...good, [field]: text } as KeyAssertion, known, ASKED)), field)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('id', 'clientData', 'attestation'), fc.string(), async (field, text) => {
        assert.ok('refused' in (await judgeNewKey({ ...made, [field]: text } as NewKey, ASKED)))
      }),
    )
  })
})
