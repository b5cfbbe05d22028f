import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../model/declaration.ts'
import { type Grant, NOTHING_GRANTED } from '../model/grant.ts'
import { outsideGrant } from './grants.ts'

const GRANT: Grant = {
  ...NOTHING_GRANTED,
  source: 'team',
  kinds: ['Machine'],
  names: ['team-*'],
  secrets: ['env:OURS'],
}

const places: readonly (readonly [what: string, spec: unknown, path: readonly (string | number)[]])[] = [
  ['in a field', { token: { env: 'THEIRS' } }, ['spec', 'token', 'env']],
  ['behind a field that is null', { a: null, token: { env: 'THEIRS' } }, ['spec', 'token', 'env']],
  ['in a list, behind one that is allowed', [{ env: 'OURS' }, { env: 'THEIRS' }], ['spec', 1, 'env']],
  ['behind text and numbers', { a: 'env', b: 3, c: [null, { env: 'THEIRS' }] }, ['spec', 'c', 1, 'env']],
  ['nowhere to be found', null, ['spec']],
]
for (const [what, spec, path] of places)
  test(`a secret that is not granted is shown where it is written: ${what}`, () => {
    const declaration = {
      kind: 'Machine',
      key: 'Machine/team-1',
      name: 'team-1',
      spec,
      policy: DEFAULT_POLICY,
    } as const
    const [found, ...more] = outsideGrant(declaration, GRANT, [{ env: 'THEIRS' }, { env: 'OURS' }])
    assert.deepEqual(found?.path, path)
    assert.deepEqual(more, [])
  })
