import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Definition, SettingSpec } from '../../../model/rest.ts'
import { rotation } from './secrets.ts'

const definition = (more: Partial<Definition> = {}) =>
  ({
    update: { method: 'PUT', path: '/x' },
    fields: { password: { type: 'secret' }, comment: { type: 'text' } },
    ...more,
  }) as unknown as Definition
const setting = (fields: object) => ({ fields }) as unknown as SettingSpec
const PASSWORD = setting({ password: 'x' })
const now = { known: { rotated: 'may' }, rotate: 'june' }

const CASES: readonly [string, Definition, SettingSpec, Parameters<typeof rotation>[2], boolean][] = [
  ['another word than the last time', definition(), PASSWORD, now, true],
  ['never sent for a word', definition(), PASSWORD, { known: undefined, rotate: 'june' }, true],
  ['the same word', definition(), PASSWORD, { known: { rotated: 'june' }, rotate: 'june' }, false],
  ['nobody asks', definition(), PASSWORD, { known: undefined, rotate: undefined }, false],
  ['no secret is declared', definition(), setting({ comment: 'x' }), now, false],
  [
    'a secret that can be given once only',
    definition({ fields: { password: { type: 'secret', fixed: true } } } as never),
    PASSWORD,
    now,
    false,
  ],
]
for (const [name, one, declared, remembered, due] of CASES)
  test(`a secret is sent again: ${name}`, () => assert.equal(rotation(one, declared, remembered).length > 0, due))

test('what cannot be changed at all is not sent again', () => {
  const { update: _, ...fixed } = definition()
  assert.deepEqual(rotation(fixed, PASSWORD, now), [])
})
