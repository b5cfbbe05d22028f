import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secretReference, secretReferenceOf } from '../kinds/fields/ssh.ts'
import { readReference } from './secret-reference.ts'

const GOOD: readonly unknown[] = [
  { env: 'TOKEN' },
  { file: '/etc/croft/key' },
  { file: '~/.ssh/id_ed25519' },
  { sops: { file: 'secrets/pve.yaml', key: 'users.0.password' } },
  { vault: { path: 'home/x', key: 'token' } },
  { vault: { mount: 'kv', path: 'home/x', key: 'token' } },
  { onePassword: { vault: 'Home', item: 'pve', field: 'token' } },
  { secretRef: { name: 'a', key: 'b' } },
  { secretRef: { name: 'a', namespace: 'c', key: 'b' } },
]

const BAD: readonly unknown[] = [
  {},
  null,
  'TOKEN',
  ['env'],
  { env: '' },
  { env: 'A B' },
  { env: 3 },
  { file: 'relative' },
  { file: '/a/../b' },
  { sops: {} },
  { sops: { file: '../a', key: 'b' } },
  { sops: { file: 'a' } },
  { secretRef: {} },
  { secretRef: { name: 'a' } },
  { secretRef: { name: 'a', key: 'b', of: 'c' } },
  { vault: { key: 'token' } },
  { vault: { path: 'a/../b', key: 'token' } },
  { onePassword: { item: 'a', field: 'b' } },
  { env: 'A', file: '/b' },
  { toString: 'x' },
  { hasOwnProperty: {} },
]

test('a file that a merge named with its source is read as one of that source', () => {
  const written = { sops: { file: 'lab:secrets.yaml', key: 'token' } }
  assert.deepEqual(readReference(written), { reference: written })
  assert.ok('wrong' in readReference({ sops: { file: 'lab:../a', key: 'token' } }))
})

test('a reference is read alike in user data and in every other place', () => {
  for (const written of GOOD) {
    const read = readReference(written)
    assert.ok('reference' in read, JSON.stringify(written))
    assert.deepEqual(read.reference, secretReferenceOf(secretReference.parse(written)))
  }
  for (const written of BAD) {
    const read = readReference(written)
    assert.ok('wrong' in read && read.wrong.length > 5, JSON.stringify(written))
    assert.equal(secretReference.safeParse(written).success, false, JSON.stringify(written))
  }
})
