import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Estate } from '../../model/estate.ts'
import type { Resource } from '../../model/resource.ts'
import { Secret, type SecretReference } from '../../model/secret.ts'
import { keyIdOf, notePrints, printSecrets, readPrints, type SecretPrints, withPrints } from './secret-prints.ts'

const KEY = new Secret('k'.repeat(64))
const OTHER = new Secret('o'.repeat(64))
const resource = (key: string, env?: string, rotate?: string) =>
  ({
    key,
    desired: { type: 'vm', vm: env === undefined ? {} : { cloudInit: { password: { env } } } },
    policy: rotate === undefined ? {} : { rotate },
  }) as unknown as Resource
const estateOf = (...resources: Resource[]) => ({ resources, unreadable: [] }) as unknown as Estate
const from = (values: Readonly<Record<string, string>>) => async (reference: SecretReference) => {
  const value = 'env' in reference ? values[reference.env] : undefined
  if (value === undefined) throw new Error('not there')
  return new Secret(value)
}

describe('[S-18] what is remembered of secrets', () => {
  const estate = estateOf(resource('Vm/a', 'A'), resource('Vm/b', 'B', 'spring'), resource('Vm/plain'))
  const keys = new Set(estate.resources.map(({ key }) => key))
  const seen = (values: Readonly<Record<string, string>>, key = KEY) => printSecrets(estate, from(values), key)
  const rotates = (prints: SecretPrints) => withPrints(estate, prints).resources.map(({ policy }) => policy.rotate)

  test('is a keyed hash of one length, whatever the secret, and nothing without the key', async () => {
    const short = await seen({ A: 'a', B: 'a' })
    const long = await seen({ A: 'a'.repeat(5000), B: 'a' })
    assert.deepEqual([...short.keys()], ['Vm/a', 'Vm/b'])
    assert.equal(short.get('Vm/a')?.length, long.get('Vm/a')?.length)
    assert.notEqual(short.get('Vm/a'), (await seen({ A: 'a', B: 'a' }, OTHER)).get('Vm/a'))
  })

  test('first seen: nothing is sent; the same again: the same object; changed: sent once more, and back again too', async () => {
    const first = notePrints(undefined, await seen({ A: '1', B: '1' }), keys, keyIdOf(KEY))
    assert.equal(withPrints(estate, first), estate)
    assert.equal(notePrints(first, await seen({ A: '1', B: '1' }), keys, keyIdOf(KEY)), first)
    const second = notePrints(first, await seen({ A: '2', B: '1' }), keys, keyIdOf(KEY))
    const [a, b, plain] = rotates(second)
    assert.ok(a?.startsWith('~') && b === 'spring' && plain === undefined)
    const third = notePrints(second, await seen({ A: '1', B: '2' }), keys, keyIdOf(KEY))
    assert.ok(rotates(third)[0] !== a && rotates(third)[1]?.startsWith('spring~'))
    assert.deepEqual(readPrints(JSON.stringify(third)), third)
    assert.ok(!/"[12]"/.test(JSON.stringify(third)))
  })

  test('a new key changes nothing, and neither does a secret that cannot be opened for a while', async () => {
    const first = notePrints(undefined, await seen({ A: '1', B: '1' }), keys, keyIdOf(KEY))
    const changed = notePrints(first, await seen({ A: '2', B: '1' }), keys, keyIdOf(KEY))
    const anew = notePrints(changed, await seen({ A: '2', B: '1' }, OTHER), keys, keyIdOf(OTHER))
    assert.deepEqual(rotates(anew), rotates(changed))
    const away = notePrints(changed, await seen({ B: '1' }), keys, keyIdOf(KEY))
    assert.equal(away, changed)
    const gone = notePrints(changed, await seen({ B: '1' }), new Set(['Vm/b']), keyIdOf(KEY))
    assert.deepEqual(Object.keys(gone.of), ['Vm/b'])
  })
})
